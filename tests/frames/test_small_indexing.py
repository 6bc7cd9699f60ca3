"""One task finds the same index as frames do, and gives up wherever anything is wrong."""

from __future__ import annotations

from itertools import combinations

import pytest

from overlay_spark.errors import InputError
from overlay_spark.frames import small_indexing as small
from overlay_spark.frames import small_rows
from overlay_spark.frames.indexing import index_problem
from overlay_spark.frames.inputs import check_input
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests.frames import test_inputs as wrong
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

WANTS = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("é", "y"), ("b", "z"), ("lonely", "w")]
LISTED = [("b", "a", 0.5), ("a", "b", 0.5), ("c", "b", 2.0), ("é", "a", 7.0), ("c", "nobody", 1.0), ("no", "one", 1.0)]
NODES = [("é", "s", None, 2.0), ("a", None, [1.0, 2.0], None), ("b", "t", [0.5, 0.0], 1.0), ("c", "t"), ("idle", "u"), ("lonely", "u")]  # fmt: skip
SITED = [("é", "s"), ("a", "t"), ("b", "t"), ("c", "ö"), ("idle", "u"), ("lonely", "ö")]
BETWEEN = [(*pair, 1.0 + i) for i, pair in enumerate(combinations(["ö", "u", "t", "s"], 2))]
WITHIN = [("t", "t", 0.5), ("ö", "ö", 0.25), ("u", "u", 9.0), ("t", "ö", 2.0), ("unused", "s", 3.0)]
PLACED = [("é", "s", [1.0, 2.0], 2.0), ("a", None, [0.0, 1.0]), ("b", None, [0.5, 0.0], 0.0), ("c", None, [3.0, 3.0]), ("idle", None, [9.0, 9.0]), ("lonely", None, [5.0, 5.0])]  # fmt: skip


@pytest.fixture
def problems(spark):
    subscriptions = catalog.SUBSCRIPTIONS.rows(spark, WANTS)

    def nodes(rows):
        return catalog.NODES.rows(spark, [(*row, *[None] * (4 - len(row))) for row in rows])

    listed = ListedCosts(catalog.LINK_COSTS.rows(spark, LISTED))
    sites = SiteCosts(catalog.SITE_COSTS.rows(spark, [*BETWEEN, *WITHIN]))
    return [
        OverlayProblem(subscriptions, listed, unit=0.25),
        OverlayProblem(subscriptions, listed, nodes(NODES)),
        OverlayProblem(subscriptions, sites, nodes(SITED), unit=0.5),
        OverlayProblem(subscriptions, CoordinateCosts(), nodes(PLACED)),
    ]


def test_index_small__finds_what_frames_find(spark, workspace, problems):
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    for problem in problems:
        counted, one, other = (
            check_input(problem),
            small.index_small(problem, workspace),
            index_problem(problem, workspace),
        )
        assert one.raw == counted
        for name in ("nodes", "topics", "members", "link_costs", "site_costs"):
            ours, theirs = getattr(one, name), getattr(other, name)
            assert (ours is None) == (theirs is None)
            if ours is not None:
                columns = sorted(theirs.columns)
                assert dict(ours.dtypes) == dict(theirs.dtypes)
                assert sorted_rows(ours.select(columns)) == sorted_rows(theirs.select(columns))
        for name in ("n_nodes", "n_topics", "n_subscriptions", "n_listed", "n_site_pairs", "n_topic_pairs", "largest_topic", "unit"):  # fmt: skip
            assert getattr(one, name) == getattr(other, name), name


def test_index_small__of_many_items_is_in_many_rows(spark, workspace, problems, monkeypatch):
    monkeypatch.setattr(small_rows, "ITEMS_A_ROW", 2)
    one, other = small.index_small(problems[0], workspace), index_problem(problems[0], workspace)
    for name in ("nodes", "topics", "link_costs"):
        columns = getattr(other, name).columns
        assert sorted_rows(getattr(one, name).select(columns)) == sorted_rows(getattr(other, name).select(columns))


@pytest.mark.parametrize("case", wrong.FAULTS)
def test_index_small__gives_up_wherever_the_check_finds_anything(spark, workspace, case):
    assert small.index_small(wrong.problem(spark, **wrong.FAULTS[case][0]), workspace) is None


def test_index_small__says_which_file_cannot_be_read(spark, workspace, problems, tmp_path):
    """Nothing was held beforehand, as in a session without a cache."""
    path = tmp_path / "s.parquet"
    problems[0].subscriptions.coalesce(1).write.parquet(str(path))
    table = spark.read.parquet(str(path))
    [file] = path.glob("*.parquet")
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(InputError, match=r"An input file cannot be read: \[FAILED_READ_FILE.*s\.parquet"):
        small.index_small(OverlayProblem(table, problems[0].costs), workspace)
