"""The index from rows as arrays: doubtful exactly where a naive look finds anything wrong."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.frames import small_rows as small


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
