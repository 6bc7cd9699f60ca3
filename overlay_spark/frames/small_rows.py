"""The index of a small problem from its rows, as arrays; of rows that may be wrong in any way, nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from overlay_spark.costs import MAX_UNITS
from overlay_spark.frames.ids import in_order, numbered, places_of

MOST_ROWS = 2_000_000
"""Of all tables together, and of an overlay's links. With more, many tasks beside one another are quicker."""

BAD, WANTED, NODE, DIMENSION, LINK_COST, SITE_COST = range(6)
"""Kinds of rows the task reads, all of the same columns.

BAD         breaks a rule of its table
WANTED      node ``a`` wants topic ``b``
NODE        ``a`` at site ``b``; ``x`` its height
DIMENSION   ``x`` of node ``a`` in dimension ``n``
LINK_COST   ``x``, in units ``n``: what a link between ``a`` and ``b`` costs
SITE_COST   ``x``, in units ``n``: what any link between sites ``a`` and ``b`` costs
"""
ROW = {"kind": "tinyint", "a": "string", "b": "string", "n": "bigint", "x": "double"}
NODES = pa.struct(
    [
        ("node", pa.int32()),
        ("node_id", pa.string()),
        ("site", pa.int32()),
        ("label", pa.string()),
        ("coordinates", pa.list_(pa.float64())),
        ("height", pa.float64()),
        ("topics", pa.list_(pa.int32())),
    ]
)
TOPICS = pa.struct([("topic", pa.int32()), ("topic_id", pa.string()), ("size", pa.int64())])
LINK_COSTS = pa.struct([("src", pa.int32()), ("dst", pa.int32()), ("cost", pa.int64())])
SITE_COSTS = pa.struct([("site_a", pa.int32()), ("site_b", pa.int32()), ("cost", pa.int64())])
ITEMS = {"nodes": NODES, "topics": TOPICS, "link_costs": LINK_COSTS, "site_costs": SITE_COSTS}
FACTS = pa.list_(pa.int64())
"""What :class:`Facts` says; null but in the first row of an answer, and there too where the problem was given up."""
ANSWER = pa.schema([("facts", FACTS), *((name, pa.list_(items)) for name, items in ITEMS.items())])
ITEMS_A_ROW = 50_000


class Facts(NamedTuple):
    """Sizes of the index, then what was counted in the rows themselves."""

    nodes: int
    topics: int
    subscriptions: int
    listed: int
    site_pairs: int
    topic_pairs: int
    largest: int
    raw_nodes: int
    raw_topics: int
    raw_subscriptions: int


class Doubtful(Exception):
    """Raised where anything may be wrong."""


def answer(batches: list[pa.RecordBatch], kinds: tuple[int, ...], unit: float) -> Iterator[pa.RecordBatch]:
    """Rows of ``ANSWER``; one whose facts are empty where anything may be wrong."""
    try:
        require(len(batches) > 0)
        facts, found = indexed_rows(pa.Table.from_batches(batches), kinds, unit)
    except Doubtful:
        yield pa.RecordBatch.from_pylist([{"facts": []}], schema=ANSWER)
        return
    yield from in_pieces(facts, {name: found.get(name, pa.array([], type)) for name, type in ITEMS.items()}, ANSWER)


def in_pieces(
    told: Sequence[int | None], items: dict[str, pa.StructArray], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Rows of a schema: in the first column what is ``told``, in the first row alone; in the others some items each."""
    for start in range(0, max(map(len, items.values())), ITEMS_A_ROW):
        row = [pa.array([None if start else list(told)], schema[0].type)]
        for some in items.values():
            part = some[start : start + ITEMS_A_ROW]
            row.append(pa.ListArray.from_arrays([0, len(part)], part))
        yield pa.RecordBatch.from_arrays(row, schema=schema)


def indexed_rows(rows: pa.Table, kinds: tuple[int, ...], unit: float) -> tuple[Facts, dict[str, pa.StructArray]]:
    """The index of right rows, as arrays of the items of ``ANSWER``; :class:`Doubtful` of others.

    ``kinds`` are those that there must be.
    """
    kind = rows.column("kind").to_numpy()
    there = np.unique(kind)
    require(BAD not in there and np.isin(kinds, there).all())
    by_kind = {int(k): rows.filter(pa.array(kind == k)).drop_columns("kind").combine_chunks() for k in there}
    wanted = by_kind[WANTED]
    (nodes, subscribed), (topics, topic_ids) = numbered(wanted.column("a")), numbered(wanted.column("b"))
    given = by_kind.get(NODE)
    node_ids = subscribed if given is None else in_order(given.column("a"))
    if given is not None:
        places = places_of(node_ids, subscribed)
        require(len(node_ids) == len(given) and (places >= 0).all())
        nodes = places[nodes]
    keys = np.sort(nodes * len(topic_ids) + topics)
    require((np.diff(keys) > 0).all())
    offsets = np.searchsorted(keys, np.arange(len(node_ids) + 1) * len(topic_ids))
    sizes = np.bincount(topics, minlength=len(topic_ids))
    described = _described(by_kind, node_ids, SITE_COST in kinds, DIMENSION in kinds, unit)
    found = {"topics": struct_of(TOPICS, np.arange(len(topic_ids)), topic_ids, sizes)}
    n_listed = n_site_pairs = 0
    if LINK_COST in kinds:
        found["link_costs"] = _listed(by_kind[LINK_COST], node_ids, subscribed, nodes, sizes[topics] > 1)
        n_listed = len(found["link_costs"])
    elif SITE_COST in kinds:
        found["site_costs"] = _site_costs(by_kind[SITE_COST], described[1].drop_null())
        n_site_pairs = len(found["site_costs"])
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(keys % len(topic_ids), pa.int32()))
    found["nodes"] = struct_of(NODES, np.arange(len(node_ids)), node_ids, *described, lists)
    facts = Facts(
        nodes=len(node_ids),
        topics=len(topic_ids),
        subscriptions=len(keys),
        listed=n_listed,
        site_pairs=n_site_pairs,
        topic_pairs=int((sizes * (sizes - 1) // 2).sum()),
        largest=int(sizes.max()),
        raw_nodes=pc.count_distinct(wanted.column("a")).as_py() if given is None else len(given),
        raw_topics=pc.count_distinct(wanted.column("b")).as_py(),
        raw_subscriptions=len(wanted),
    )
    return facts, found


def items_of(rows: pa.Table, name: str) -> pa.StructArray:
    """The items of all rows of an answer."""
    return rows.column(name).combine_chunks().flatten()


def in_number(rows: pa.Table, name: str, number: str) -> pa.StructArray:
    """The same in the order of their numbers, which are all from 0 on."""
    items = items_of(rows, name)
    numbers = items.field(number).to_numpy()
    order = np.argsort(numbers)
    require((numbers[order] == np.arange(len(items))).all())
    return items.take(pa.array(order))


def require(is_right: bool | np.bool_) -> None:
    """Else all is given up."""
    if not is_right:
        raise Doubtful


def struct_of(type: pa.StructType, *columns: Any) -> pa.StructArray:
    """Items of a type from their columns."""
    arrays = [
        (c if isinstance(c, pa.Array) else pa.array(c)).cast(field.type) for c, field in zip(columns, type, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(type))


def _described(
    rows: dict[int, pa.Table], node_ids: pa.Array, by_site: bool, by_distance: bool, unit: float
) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
    """(the number of its site, its site, its coordinates, its height) of each node."""
    n, given = len(node_ids), rows.get(NODE)
    if given is None:
        nothing = (pa.nulls(n, type) for type in (pa.int32(), pa.string(), pa.list_(pa.float64())))
        return (*nothing, pa.array(np.zeros(n)))
    given = given.take(pa.array(np.argsort(places_of(node_ids, given.column("a")))))
    labels, height = given.column("b").combine_chunks(), given.column("x").to_numpy()
    sites = pa.array(places_of(in_order(labels), labels), pa.int32()) if by_site else pa.nulls(n, pa.int32())
    points = rows.get(DIMENSION)
    if points is None:
        return sites, labels, pa.nulls(n, pa.list_(pa.float64())), pa.array(height)
    node, dimension, x = places_of(node_ids, points.column("a")), *(points.column(c).to_numpy() for c in "nx")
    order = np.lexsort((dimension, node))
    counts = np.bincount(node, minlength=n)
    if by_distance:
        require((counts == counts[0]).all() and _are_near(x[order].reshape(n, -1), height, unit))
    starts = np.concatenate([[0], np.cumsum(counts)])
    lists = pa.ListArray.from_arrays(
        pa.array(starts, pa.int32(), mask=np.append(counts == 0, False)), pa.array(x[order])
    )
    return sites, labels, lists, pa.array(height)


def _are_near(points: NDArray[np.float64], height: NDArray[np.float64], unit: float) -> bool:
    """Whether no distance comes anywhere near the most units that a cost may have."""
    farthest = np.sqrt((np.ptp(points, axis=0) ** 2).sum()) + 2 * height.max()
    return bool(farthest / unit < 0.99 * MAX_UNITS)


def _pairs(rows: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of both ends of each row, whose pairs are each given once, or once in each direction at one cost."""
    n = len(rows)
    ends, ids = numbered(pa.concat_arrays([rows.column(c).combine_chunks() for c in "ab"]))
    a, b = ends[:n], ends[n:]
    keys, x = np.minimum(a, b) * len(ids) + np.maximum(a, b), rows.column("x").to_numpy()
    order = np.lexsort((a, keys))
    again = np.diff(keys[order]) == 0
    require(not (again[1:] & again[:-1]).any())
    first, second = order[:-1][again], order[1:][again]
    require(((a[first] != a[second]) & (x[first] == x[second])).all())
    return a, b


def _listed(
    rows: pa.Table,
    node_ids: pa.Array,
    subscribed: pa.Array,
    nodes: NDArray[np.int64],
    is_shared: NDArray[np.bool_],
) -> pa.StructArray:
    """Listed links between known nodes, each once; a node that shares a topic with others stands in one."""
    _pairs(rows)
    a, b = (places_of(node_ids, rows.column(name)) for name in "ab")
    listed = pa.concat_arrays([rows.column(c).combine_chunks() for c in "ab"]).unique()
    alone = places_of(node_ids, subscribed.filter(pc.invert(pc.is_in(subscribed, listed))))
    require(not np.isin(nodes[is_shared], alone).any())
    known = (a >= 0) & (b >= 0)
    return struct_of(LINK_COSTS, *_each_once(a[known], b[known], rows.column("n").to_numpy()[known], len(node_ids)))


def _each_once(
    a: NDArray[np.int64], b: NDArray[np.int64], cost: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    keys, first = np.unique(np.minimum(a, b) * n + np.maximum(a, b), return_index=True)
    return keys // n, keys % n, cost[first]


def _site_costs(rows: pa.Table, labels: pa.Array) -> pa.StructArray:
    """Costs between used sites, in both directions; there is one for any two, and for one that has two nodes."""
    _pairs(rows)
    sites = in_order(labels)
    n = len(sites)
    require(len(labels) > 0 and n * (n - 1) // 2 <= len(rows))
    used = np.bincount(places_of(sites, labels), minlength=n)
    a, b = (places_of(sites, rows.column(name)) for name in "ab")
    known = (a >= 0) & (b >= 0)
    low, high, cost = _each_once(a[known], b[known], rows.column("n").to_numpy()[known], n)
    within = low == high
    require(np.isin(np.flatnonzero(used > 1), low[within]).all() and (~within).sum() == n * (n - 1) // 2)
    both = (np.concatenate([low, high[~within]]), np.concatenate([high, low[~within]]))
    return struct_of(SITE_COSTS, *both, np.concatenate([cost, cost[~within]]))
