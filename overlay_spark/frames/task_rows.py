"""Arrays from the rows that a task reads: one problem, in numbers of its own where it is a group's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from overlay_spark.costs import Costs, listed_costs, point_costs, site_costs
from overlay_spark.frames.small_rows import in_number, items_of
from overlay_spark.instance import Instance, Links

NODE, LINK_COST, SITE_COST, LINK, TOPIC = range(5)
"""Kinds of rows a task reads, all of the same columns.

NODE        ``a`` the node, ``b`` its site, ``topics`` it wants, ascending, and their ``components`` where told,
            ``point`` and ``real`` its coordinates and height
LINK_COST   ``value`` of a link between ``a`` and ``b`` that may be used
SITE_COST   ``value`` of any link between sites ``a`` and ``b``
LINK        between ``a`` and ``b``, there already; ``value`` says in which order
TOPIC       ``a``, wanted outside the group too
"""

ROW = {
    "kind": "tinyint",
    "a": "int",
    "b": "int",
    "value": "bigint",
    "real": "double",
    "topics": "array<int>",
    "components": "array<int>",
    "point": "array<double>",
}


@dataclass(frozen=True)
class Task:
    """What a task works on: a problem as arrays, and the links that are there already, in pick order.

    Of each subscription, where told: the name of its component, and whether its topic is wanted ``beyond`` the group.
    ``nodes`` and ``topics`` are a group's in the whole's numbers.
    """

    instance: Instance
    links: Links
    components: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int32))
    beyond: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    nodes: NDArray[np.int32] | None = None
    topics: NDArray[np.int32] | None = None


class _Nodes(NamedTuple):
    """NODE rows in the order of their nodes; ``offsets`` say whose ``topics`` and ``components`` are whose."""

    node: NDArray[Any]
    site: NDArray[Any]
    height: NDArray[Any]
    offsets: NDArray[np.int64]
    topics: NDArray[Any]
    components: NDArray[Any]
    points: NDArray[np.float64]


def whole_task(rows: pa.Table, n_nodes: int, n_topics: int, unit: float) -> Task:
    """The whole problem from rows in any order; every node has one."""
    nodes, (src, dst, picks), costs = _nodes_of(rows), _pairs(rows, LINK), _pairs(rows, LINK_COST)
    assert len(nodes.node) == n_nodes
    instance = Instance(n_topics, nodes.offsets, nodes.topics, _costs(rows, nodes, costs, unit))
    order = np.argsort(picks)
    return Task(instance, instance.links_between(src[order], dst[order]))


def indexed_task(rows: pa.Table, priced_by: str, unit: float) -> Task:
    """The whole problem as one task indexed it; ``priced_by`` names the column that says what links cost."""
    nodes, n_topics = in_number(rows, "nodes", "node"), len(items_of(rows, "topics"))
    lists = nodes.field("topics")
    offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())]).astype(np.int64)
    if priced_by == "nodes":
        points = nodes.field("coordinates").flatten().to_numpy().reshape(len(nodes), -1)
        costs = point_costs(points, nodes.field("height").to_numpy(), unit)
    else:
        a, b, cost = (column.to_numpy() for column in items_of(rows, priced_by).flatten())
        costs = listed_costs(a, b, cost)
        if priced_by == "site_costs":
            table = np.zeros((a.max(initial=-1) + 1,) * 2, np.int64)
            table[a, b] = cost
            costs = site_costs(nodes.field("site").to_numpy(), table)
    instance = Instance(n_topics, offsets, lists.flatten().to_numpy().astype(np.int32), costs)
    return Task(instance, instance.links_between(np.empty(0), np.empty(0)))


def group_task(rows: pa.Table, unit: float) -> Task:
    """A group's problem from rows in any order, in numbers of its own; nodes that want nothing are left out."""
    nodes = _nodes_of(rows.filter(pc.greater(pc.list_value_length(rows.column("topics")), 0)))
    numbers = nodes.node.astype(np.int32)
    topics, own_topics = np.unique(nodes.topics, return_inverse=True)
    costs = _among(_pairs(rows, LINK_COST), numbers)
    instance = Instance(len(topics), nodes.offsets, own_topics.astype(np.int32), _costs(rows, nodes, costs, unit))
    beyond = np.isin(topics, _pairs(rows, TOPIC)[0])[own_topics]
    nothing = instance.links_between(np.empty(0), np.empty(0))
    return Task(instance, nothing, nodes.components, beyond, numbers, topics.astype(np.int32))


def _nodes_of(rows: pa.Table) -> _Nodes:
    given = rows.filter(pc.equal(rows.column("kind"), NODE)).sort_by("a").combine_chunks()
    lengths = pc.list_value_length(given.column("topics")).to_numpy()
    n_nodes = len(given)
    points = _flat(given, "point").astype(np.float64)
    return _Nodes(
        given.column("a").to_numpy(),
        given.column("b").to_numpy(),
        given.column("real").to_numpy(),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        _flat(given, "topics").astype(np.int32),
        _flat(given, "components"),
        points.reshape(n_nodes, -1) if n_nodes else np.empty((0, 0)),
    )


def _flat(rows: pa.Table, column: str) -> NDArray[Any]:
    """All elements of a column of lists, row by row."""
    flat: NDArray[Any] = pc.list_flatten(rows.column(column)).to_numpy()
    return flat


Pairs = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def _pairs(rows: pa.Table, kind: int) -> Pairs:
    """(a, b, value) of the rows of a kind."""
    given = rows.filter(pc.equal(rows.column("kind"), kind))
    return given.column("a").to_numpy(), given.column("b").to_numpy(), given.column("value").to_numpy()


def _among(pairs: Pairs, numbers: NDArray[Any]) -> Pairs:
    """Pairs between these, as their places."""
    a, b, value = pairs
    known = np.isin(a, numbers) & np.isin(b, numbers)
    return np.searchsorted(numbers, a[known]), np.searchsorted(numbers, b[known]), value[known]


def _costs(rows: pa.Table, nodes: _Nodes, listed: Pairs, unit: float) -> Costs:
    if nodes.points.shape[1]:
        return point_costs(nodes.points, nodes.height, unit)
    if len(nodes.site) and nodes.site[0] >= 0:
        sites, own_sites = np.unique(nodes.site, return_inverse=True)
        table = np.zeros((len(sites),) * 2, np.int64)
        a, b, value = _among(_pairs(rows, SITE_COST), sites)
        table[a, b] = value
        return site_costs(own_sites, table)
    return listed_costs(*listed)
