"""Intermediate rows: computed once, cut from their inputs, and let go, whatever the session offers."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from overlay_spark.errors import GuardError
from overlay_spark.frames.workspace import LEAST_PARTS, ROWS_A_PART, Workspace, copies
from overlay_spark.options import WorkspaceOptions
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark


@pytest.fixture
def counting(spark, tmp_path):
    """A frame of ten rows that leaves a file each time its one task runs."""
    runs = tmp_path / "runs"
    runs.mkdir()

    def work(batches):
        import uuid

        (runs / uuid.uuid4().hex).touch()
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"x": batch.column(0)})

    return spark.range(0, 10, 1, 1).mapInArrow(work, "x bigint"), lambda: len(list(runs.iterdir()))


def test_settle__computes_once(workspace, counting):
    frame, runs = counting
    settled = workspace.settle(frame)
    assert runs() == 1
    assert sorted_rows(settled) == [(i,) for i in range(10)]
    assert settled.where("x > 4").count() == 5
    workspace.close()
    assert settled.count() == 10
    assert runs() == 1


def test_copies__are_two_where_another_executor_can_keep_one(spark, monkeypatch):
    assert copies(spark) == StorageLevel.MEMORY_AND_DISK
    for master in ("spark://host:7077", "yarn", "local-cluster[2,1,1024]", None):
        elsewhere = SimpleNamespace(conf=SimpleNamespace(get=lambda *_, master=master: master))
        assert copies(elsewhere) == StorageLevel.MEMORY_AND_DISK_2

    def refuse(*_):
        raise AnalysisException("[CONFIG_NOT_AVAILABLE] spark.master")

    assert copies(SimpleNamespace(conf=SimpleNamespace(get=refuse))) == StorageLevel.MEMORY_AND_DISK_2


def test_hold__computes_once_while_held_and_again_when_dropped(workspace, counting):
    frame, runs = counting
    held = workspace.hold(frame)
    assert (held.count(), held.count(), runs()) == (10, 10, 1)
    workspace.drop(held)
    assert (held.count(), runs()) == (10, 2)


def test_drop__of_what_is_not_held_leaves_it_alone(spark, workspace):
    theirs = spark.range(3).persist()
    workspace.drop(theirs)
    assert theirs.is_cached
    theirs.unpersist()


@pytest.mark.parametrize("staged", [False, True])
def test_settle__where_neither_cache_nor_checkpoints_are_to_be_had(spark, tmp_path, counting, refusing, staged):
    frame, runs = counting
    folder = tmp_path / "out"
    workspace = Workspace(spark, WorkspaceOptions(staging=str(folder) if staged else None))
    settled, again = workspace.settle(workspace.hold(frame)), workspace.settle(spark.range(2))
    assert sorted(refusing) == ["localCheckpoint", "persist"]  # after the first refusal no other was tried
    assert sorted_rows(settled) == [(i,) for i in range(10)]
    assert (settled.schema, settled.count(), again.count(), runs()) == (frame.schema, 10, 2, 1)
    assert len(list(folder.glob("*/*"))) == (2 if staged else 0)
    workspace.close()
    assert list(folder.glob("*")) == []


def test_settle__hands_over_no_more_rows_than_the_driver_is_to_take(spark, refusing):
    workspace = Workspace(spark, WorkspaceOptions(handover_rows=3))
    assert workspace.settle(spark.range(3)).count() == 3
    with pytest.raises(GuardError, match=r"more than 3 rows .* Set workspace\.staging to a folder"):
        workspace.settle(spark.range(4))


def test_workspace__is_closed_by_an_error_only(spark):
    with Workspace(spark, WorkspaceOptions()) as workspace:
        kept = workspace.hold(spark.range(3))
    assert kept.is_cached
    workspace.close()
    lost = spark.range(4)

    def fail() -> None:
        with Workspace(spark, WorkspaceOptions()) as failing:
            failing.hold(lost)
            raise GuardError("too large")

    with pytest.raises(GuardError):
        fail()
    assert not lost.is_cached
    assert not spark.range(4).storageLevel.useMemory


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_expect__keeps_small_problems_in_few_partitions_whatever_the_sessions_default(spark, workspace, adaptive):
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    spark.conf.set("spark.sql.shuffle.partitions", "60")
    counted = spark.range(1000).groupBy((F.col("id") % 50).alias("x")).count()
    before = workspace.hold(counted)
    assert before.count() == 50
    assert before.rdd.getNumPartitions() == 60  # adaptive execution does not spare what is cached
    workspace.drop(before)
    workspace.expect(1000)
    assert workspace.settle(counted).rdd.getNumPartitions() <= 2
    held = workspace.hold(counted)
    assert held.count() == 50
    assert held.rdd.getNumPartitions() == 2
    workspace.expect(1_000_000)
    assert workspace.hold(counted).rdd.getNumPartitions() == 20


def test_drop__takes_what_was_staged_away_before_all_others(spark, tmp_path, refusing):
    workspace = Workspace(spark, WorkspaceOptions(staging=str(tmp_path)))
    first, second = workspace.settle(spark.range(3)), workspace.settle(spark.range(4))
    workspace.drop(first)
    assert len(list(tmp_path.glob("*/*"))) == 1
    assert second.count() == 4
    workspace.close()
    assert list(tmp_path.iterdir()) == []


def test_settle__of_told_rows_has_as_many_partitions_as_they_are_worth(spark):
    workspace = Workspace(spark, WorkspaceOptions())
    workspace.expect(10)
    many = spark.range(0, 1000, 1, 40)

    def parts(frame):
        return frame.select(F.spark_partition_id()).distinct().count()

    assert parts(workspace.settle(many)) == LEAST_PARTS
    assert parts(workspace.settle(many, 7 * ROWS_A_PART)) == 7
    assert parts(workspace.settle(many, 10**9)) == 40
