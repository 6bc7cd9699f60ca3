"""Link costs as arrays: what a cost is, for any pair of nodes, without a table of all pairs.

One tuple serves all cost models, so that a kernel is compiled once; ``kind`` says which fields are in use:

LISTED  ``src``, ``dst``, ``values``: one entry a link, ``src < dst``, sorted by (src, dst). Other pairs may not link.
SITES   ``sites``: the site of each node; ``table``: cost between two sites (the diagonal: within a site).
POINTS  ``points``: a row of coordinates a node; ``heights``: the way from each node to the network its point lies in;
        ``unit``. The cost is max(1, floor(distance / unit + 0.5)), the distance Euclidean plus both heights.

Costs are whole numbers (int64), counted in ``unit``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LISTED = 0
SITES = 1
POINTS = 2

MAX_UNITS = 1 << 40
"""The largest cost inside: quotients of two such numbers by contributions stay distinct, and sums fit 64 bits."""


class Costs(NamedTuple):
    """A cost model over arrays; made by one of the functions below."""

    kind: int
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    values: NDArray[np.int64]
    sites: NDArray[np.int32]
    table: NDArray[np.int64]
    points: NDArray[np.float64]
    heights: NDArray[np.float64]
    unit: float


def _costs(kind: int, unit: float = 1.0, **fields: NDArray[Any]) -> Costs:
    empty: dict[str, NDArray[Any]] = {
        "src": np.empty(0, np.int32),
        "dst": np.empty(0, np.int32),
        "values": np.empty(0, np.int64),
        "sites": np.empty(0, np.int32),
        "table": np.empty((0, 0), np.int64),
        "points": np.empty((0, 0), np.float64),
        "heights": np.empty(0, np.float64),
    }
    return Costs(kind=kind, unit=unit, **{**empty, **fields})


def listed_costs(src: NDArray[Any], dst: NDArray[Any], values: NDArray[Any]) -> Costs:
    """Costs of listed links; each pair once, in either orientation and any order."""
    low, high = np.minimum(src, dst).astype(np.int32), np.maximum(src, dst).astype(np.int32)
    order = np.lexsort((high, low))
    return _costs(LISTED, src=low[order], dst=high[order], values=np.asarray(values, np.int64)[order])


def site_costs(sites: NDArray[Any], table: NDArray[Any]) -> Costs:
    """Costs between the sites of two nodes; ``table`` is symmetric, its diagonal the cost within a site."""
    return _costs(SITES, sites=np.ascontiguousarray(sites, np.int32), table=np.ascontiguousarray(table, np.int64))


def matrix_costs(matrix: NDArray[Any]) -> Costs:
    """Costs of a small problem as one symmetric matrix: every node is a site of its own."""
    return site_costs(np.arange(len(matrix)), matrix)


def point_costs(points: NDArray[Any], heights: NDArray[Any], unit: float) -> Costs:
    """Costs by distance: a row of ``points`` and one of ``heights`` a node."""
    return _costs(
        POINTS,
        unit,
        points=np.ascontiguousarray(points, np.float64),
        heights=np.ascontiguousarray(heights, np.float64),
    )


def uniform(costs: Costs) -> Costs:
    """The same links may be used, at cost 1 each."""
    if costs.kind == LISTED:
        return costs._replace(values=np.ones_like(costs.values))
    n_nodes = len(costs.sites) if costs.kind == SITES else len(costs.points)
    return site_costs(np.zeros(n_nodes), np.ones((1, 1)))


def costs_among(costs: Costs, nodes: NDArray[Any]) -> Costs:
    """The costs between these nodes, ascending, numbered anew."""
    if costs.kind == SITES:
        return costs._replace(sites=costs.sites[nodes])
    if costs.kind == POINTS:
        return costs._replace(points=costs.points[nodes], heights=costs.heights[nodes])
    known = np.isin(costs.src, nodes) & np.isin(costs.dst, nodes)
    src, dst = (np.searchsorted(nodes, ends[known]).astype(np.int32) for ends in (costs.src, costs.dst))
    return costs._replace(src=src, dst=dst, values=costs.values[known])


def cost_row(costs: Costs, u: int) -> NDArray[np.int64]:
    """What a link from node u to each node costs, where every pair may link; for checks and small problems."""
    if costs.kind == SITES:
        to_sites: NDArray[np.int64] = costs.table[costs.sites[u], costs.sites]
        return to_sites
    squares = np.zeros(len(costs.points))
    for x in costs.points.T:
        squares += (x - x[u]) * (x - x[u])
    distance = np.sqrt(squares) + (costs.heights[u] + costs.heights)
    return np.maximum(1, to_units(distance, costs.unit))


def to_units(cost: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    """Costs in the user's unit as whole numbers; the same expression as :func:`overlay_spark.frames.pricing.units`."""
    return np.floor(cost / unit + 0.5).astype(np.int64)


def from_units_factor(unit: float) -> tuple[float, bool]:
    """How units become costs again: (divisor, True) where 1/unit is a whole number, else (factor, False).

    Dividing by a whole number rounds once, so a cost of 0.1 comes back as 0.1 and not as 0.09999999999999999.
    """
    inverse = round(1 / unit)
    if inverse >= 1 and abs(inverse * unit - 1) < 1e-12:
        return float(inverse), True
    return unit, False


def from_units(units: Any, unit: float) -> Any:
    """Whole numbers (one, or an array of them) as costs in the user's unit."""
    factor, divide = from_units_factor(unit)
    return units / factor if divide else units * factor
