"""Rows that wait as files: as they were, readable until they are cleared, and gone then."""

from __future__ import annotations

from functools import partial

import pytest

from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables.staging import Staging
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

COLUMNS = "id string, numbers array<int>, half double"
ROWS = [("a", [1, 2], 0.5), ("b", [], None), ("é", None, -0.0)]


def data_files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]


@pytest.mark.parametrize("end", ["", "/"])
def test_write__keeps_rows_as_they_are_now_with_their_schema(spark, tmp_path, end):
    source = f"{tmp_path}/source"
    spark.createDataFrame(ROWS, COLUMNS).coalesce(1).write.parquet(source)
    staging = Staging(spark, f"{tmp_path}/staged{end}")
    first = staging.write(spark.read.parquet(source))
    again = staging.write(first.select("id"))
    spark.createDataFrame(ROWS[:1], COLUMNS).coalesce(1).write.mode("overwrite").parquet(source)
    assert sorted_rows(first) == ROWS
    assert first.schema == spark.createDataFrame([], COLUMNS).schema
    assert sorted_rows(again) == [(row[0],) for row in ROWS]


def test_write__of_no_rows_keeps_their_columns(spark, tmp_path):
    nothing = Staging(spark, str(tmp_path)).write(spark.createDataFrame([], COLUMNS))
    assert (nothing.count(), nothing.columns) == (0, ["id", "numbers", "half"])


def test_write__of_frames_side_by_side_mixes_nothing_up(spark, tmp_path):
    staging = Staging(spark, str(tmp_path))
    frames = [spark.createDataFrame([(str(i), [i], 0.0)], COLUMNS) for i in range(4)]
    found = side_by_side([partial(staging.write, frame) for frame in frames])
    assert [sorted_rows(frame) for frame in found] == [[(str(i), [i], 0.0)] for i in range(4)]


def test_clear__takes_away_its_own_and_nothing_else(spark, tmp_path):
    beside = tmp_path / "overlay_links"
    beside.mkdir()
    ours, theirs = Staging(spark, str(tmp_path)), Staging(spark, str(tmp_path))
    ours.write(spark.range(3))
    kept = theirs.write(spark.range(4))
    ours.clear()
    assert len(list(tmp_path.iterdir())) == 2
    assert kept.count() == 4
    ours.clear()  # nothing is left to take away
    theirs.clear()
    assert list(tmp_path.iterdir()) == [beside]


def test_clear__empties_what_this_machine_cannot_delete(spark, tmp_path):
    """A store that is known by its address only, as object stores are."""
    staging = Staging(spark, f"file:{tmp_path}/store")
    staging.write(spark.range(50))
    staging.write(spark.range(60).selectExpr("id", "'text' AS word"))
    before = sum(path.stat().st_size for path in data_files(tmp_path))
    staging.clear()
    left = data_files(tmp_path)
    assert 0 < sum(path.stat().st_size for path in left) < before
    assert [spark.read.parquet(str(folder)).count() for folder in sorted((tmp_path / "store").glob("*/*"))] == [0, 0]


def test_clear__of_nothing_leaves_no_folder(spark, tmp_path):
    Staging(spark, str(tmp_path / "out")).clear()
    assert list(tmp_path.iterdir()) == []


def test_drop__deletes_one_frame_s_rows_and_keeps_the_others(spark, tmp_path):
    staging = Staging(spark, str(tmp_path))
    first, second = staging.write(spark.range(3)), staging.write(spark.range(4))
    staging.drop(first)
    assert [len(list(folder.iterdir())) for folder in tmp_path.iterdir()] == [1]
    assert second.count() == 4
    staging.drop(first)  # it is gone already
    staging.drop(spark.range(5))  # it never was here
    assert second.count() == 4
    staging.clear()
    assert list(tmp_path.iterdir()) == []
