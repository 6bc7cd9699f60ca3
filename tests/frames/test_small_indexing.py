"""One task finds the same index as frames do, and gives up wherever anything is wrong."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.frames import small_indexing as small
from overlay_spark.frames.indexing import index_problem
from overlay_spark.frames.inputs import check_input
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests.frames import test_inputs as wrong
from tests.problems import sorted_rows

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


@pytest.mark.spark
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


@pytest.mark.spark
def test_index_small__of_many_items_is_in_many_rows(spark, workspace, problems, monkeypatch):
    monkeypatch.setattr(small, "ITEMS_A_ROW", 2)
    one, other = small.index_small(problems[0], workspace), index_problem(problems[0], workspace)
    for name in ("nodes", "topics", "link_costs"):
        columns = getattr(other, name).columns
        assert sorted_rows(getattr(one, name).select(columns)) == sorted_rows(getattr(other, name).select(columns))


@pytest.mark.spark
@pytest.mark.parametrize("case", wrong.FAULTS)
def test_index_small__gives_up_wherever_the_check_finds_anything(spark, workspace, case):
    assert small.index_small(wrong.problem(spark, **wrong.FAULTS[case][0]), workspace) is None


def rows_of(kind, *columns):
    """Rows that the task reads; the last columns may be left out."""
    types = {"kind": pa.int8(), "a": pa.string(), "b": pa.string(), "n": pa.int64(), "x": pa.float64()}
    given = [[kind] * len(columns[0]), *columns, *[[None] * len(columns[0])] * (4 - len(columns))]
    return pa.table([pa.array(c, t) for c, t in zip(given, types.values(), strict=True)], list(types))


def is_doubtful(*tables, kinds):
    batches = pa.concat_tables(tables).to_batches()
    [first, *_] = small.answer(batches, kinds, 1.0)
    return first.column("facts")[0].as_py() == []


IDS = st.sampled_from("abcd")
PAIRS = st.lists(st.tuples(IDS, IDS), max_size=8)


@given(wants=PAIRS.filter(len), links=st.lists(st.tuples(IDS, IDS, st.integers(1, 2)), min_size=1, max_size=8), nodes=st.none() | st.lists(IDS, min_size=1))  # fmt: skip
def test_rows_with_listed_costs__are_doubtful_where_any_row_is_wrong(wants, links, nodes):
    links = [(a, b, cost) for a, b, cost in links if a != b] or [("a", "b", 1)]
    tables = [rows_of(small.WANTED, *zip(*wants, strict=True))]
    tables.append(rows_of(small.LINK_COST, *zip(*[(a, b, cost, cost) for a, b, cost in links], strict=True)))
    kinds = [small.WANTED, small.LINK_COST]
    if nodes is not None:
        tables.append(rows_of(small.NODE, nodes))
        kinds.append(small.NODE)
    is_wrong = max(Counter(wants).values()) > 1 or is_repeated(links)
    is_wrong |= nodes is not None and (len(set(nodes)) < len(nodes) or not {v for v, _ in wants} <= set(nodes))
    sizes, ends = Counter(topic for _, topic in set(wants)), {end for a, b, _ in links for end in (a, b)}
    is_wrong |= any(sizes[topic] > 1 and node not in ends for node, topic in wants)
    assert is_doubtful(*tables, kinds=kinds) == is_wrong


@given(sites=st.lists(IDS, min_size=1, max_size=5), costs=st.lists(st.tuples(IDS, IDS, st.integers(1, 2)), min_size=1, max_size=12))  # fmt: skip
def test_rows_with_site_costs__are_doubtful_where_one_is_missing_or_given_twice(sites, costs):
    nodes = [f"n{i}" for i in range(len(sites))]
    tables = [rows_of(small.WANTED, nodes, ["x"] * len(nodes)), rows_of(small.NODE, nodes, sites)]
    tables.append(rows_of(small.SITE_COST, *zip(*[(a, b, cost, cost) for a, b, cost in costs], strict=True)))
    known = {frozenset((a, b)) for a, b, _ in costs}
    needed = {frozenset(p) for p in product(set(sites), repeat=2) if p[0] != p[1] or sites.count(p[0]) > 1}
    assert is_doubtful(*tables, kinds=[small.WANTED, small.NODE, small.SITE_COST]) == (
        is_repeated(costs) or not needed <= known
    )


def is_repeated(links):
    """Whether a pair is given more than once, but for once in each direction at the same cost."""
    by_pair = {}
    for a, b, cost in links:
        by_pair.setdefault(frozenset((a, b)), []).append((a, b, cost))
    return any(
        len(rows) > 2 or (len(rows) == 2 and (rows[0][:2] == rows[1][:2] or rows[0][2] != rows[1][2]))
        for rows in by_pair.values()
    )


@pytest.mark.parametrize("kind", [small.WANTED, small.LINK_COST, None])
def test_rows__are_doubtful_where_a_table_is_empty_or_a_row_breaks_a_rule(kind):
    tables = {
        small.WANTED: rows_of(small.WANTED, ["a", "b"], ["x", "x"]),
        small.LINK_COST: rows_of(small.LINK_COST, ["a"], ["b"], [1], [1.0]),
    }
    kinds = tuple(tables)
    assert not is_doubtful(*tables.values(), kinds=kinds)
    if kind is None:
        assert is_doubtful(*tables.values(), rows_of(small.BAD, ["c"], [None]), kinds=kinds)
    else:
        assert is_doubtful(*[rows for other, rows in tables.items() if other != kind], kinds=kinds)
