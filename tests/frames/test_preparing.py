"""The check and the index of a problem: at once in one task, or by frames beside one another."""

from __future__ import annotations

import pytest

from overlay_spark.errors import InputError
from overlay_spark.frames import preparing
from overlay_spark.frames.preparing import prepare
from overlay_spark.problems import ListedCosts, OverlayProblem
from overlay_spark.tables import catalog
from tests.problems import indexed, problem, silent

pytestmark = pytest.mark.spark

WANTS = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y"), ("b", "z")]


@pytest.fixture
def by_frames(monkeypatch):
    """As of problems with many rows."""
    monkeypatch.setattr(preparing, "MOST_ROWS", 0)


def test_prepare__takes_one_task_for_few_rows_with_nothing_wrong(spark, workspace, monkeypatch):
    monkeypatch.setattr(preparing, "check_input", None)
    monkeypatch.setattr(preparing, "index_problem", None)
    given = problem(spark, WANTS, [("a", "b", 1.0), ("b", "c", 1.0)])
    found = indexed(given, workspace)
    assert (found.raw.nodes, found.raw.topics, found.raw.subscriptions) == (3, 3, 6)
    assert not any(frame.is_cached for frame in given.frames)


def test_prepare__says_all_that_is_wrong_with_the_tables_and_what_is_beside_them(spark, workspace):
    rows, links = [("a", "x"), ("b", "x"), ("b", "x")], catalog.LINKS.rows(spark, [("a", "", 1.0)])
    for subscriptions in (rows, rows[:2]):
        given = problem(spark, subscriptions, [("a", "b", 1.0)])
        with pytest.raises(InputError) as caught:
            prepare(given, workspace, silent, catalog.LINKS.audit(links))
        told = str(caught.value)
        assert "column 'dst' has 1 row that is empty" in told
        assert ("more than once" in told) == (subscriptions is rows)


def test_prepare__reads_each_table_once_and_lets_it_go(spark, workspace, by_frames, tmp_path):
    """What is indexed no longer looks at the tables, and they are not held beside it."""
    for name, columns, rows in (
        ("subscriptions", "node_id string, topic_id string", WANTS),
        ("costs", "src string, dst string, cost double", [("a", "b", 1.0), ("b", "c", 1.0)]),
    ):
        spark.createDataFrame(rows, columns).coalesce(1).write.parquet(f"{tmp_path}/{name}")
    read = spark.read.parquet
    given = OverlayProblem(read(f"{tmp_path}/subscriptions"), ListedCosts(read(f"{tmp_path}/costs")))
    found = indexed(given, workspace)
    assert not any(frame.is_cached for frame in given.frames)
    assert all(frame.is_cached for frame in (found.nodes, found.topics, found.link_costs))
    assert found.members.count() == 6


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.usefixtures("by_frames")
def test_index__of_a_small_problem_has_few_partitions_whatever_the_sessions_default(spark, workspace, adaptive):
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    spark.conf.set("spark.sql.shuffle.partitions", "60")
    found = indexed(problem(spark, [("a", "x"), ("b", "x")], [("a", "b", 1.0)], "ab"), workspace)
    frames = (found.nodes, found.topics, found.members, found.link_costs)
    assert [frame.rdd.getNumPartitions() <= 2 for frame in frames] == [True] * 4


def test_prepare__does_not_multiply_the_links_of_a_node_that_is_given_many_times(
    spark, workspace, monkeypatch, by_frames
):
    """Before the check has refused it."""
    asked = []
    monkeypatch.setattr(preparing, "index_problem", lambda *given: asked.append(given))
    given = problem(spark, [("a", "x"), ("b", "x")], [("a", "b", 1.0)], ["a", "b", *["a"] * 20])
    with pytest.raises(InputError, match="whose \\(node_id\\) occurs more than once"):
        indexed(given, workspace)
    assert asked == []


@pytest.mark.parametrize("fault", ["the check", "the index"])
def test_prepare__tells_what_the_check_finds_before_what_became_of_the_index(
    spark, workspace, monkeypatch, by_frames, fault
):
    def fail(*_):
        raise RuntimeError("the index fell over")

    monkeypatch.setattr(preparing, "index_problem", fail)
    rows = [("a", "x"), ("b", "x"), ("b", "x")] if fault == "the check" else [("a", "x"), ("b", "x")]
    kind, says = (InputError, "more than once") if fault == "the check" else (RuntimeError, "fell over")
    with pytest.raises(kind, match=says):
        indexed(problem(spark, rows, [("a", "b", 1.0)]), workspace)
