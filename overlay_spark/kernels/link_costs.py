"""Candidates and their costs under each cost model, inside kernels.

A candidate has a code: its place in the list where links are listed, else ``u * n_nodes + v``. Codes ascend as
(src, dst) does, so that a tie between ranks is broken by the code alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, SITES, Costs
from overlay_spark.kernels._jit import inlined, kernel


@inlined
def candidate(costs: Costs, n_nodes: int, code: int) -> tuple[int, int, int]:
    """(src, dst, cost) of a candidate."""
    if costs.kind == LISTED:
        return np.int64(costs.src[code]), np.int64(costs.dst[code]), costs.values[code]
    u, v = code // n_nodes, code % n_nodes
    return u, v, cost_between(costs, u, v)


@inlined
def cost_between(costs: Costs, u: int, v: int) -> int:
    """The cost of a link that needs no list: every pair may link.

    By distance, each step is the one of :func:`overlay_spark.frames.pricing.distance_units`, in the same order.
    """
    if costs.kind == SITES:
        return costs.table[costs.sites[u], costs.sites[v]]
    squares = 0.0
    for i in range(costs.points.shape[1]):
        difference = costs.points[u, i] - costs.points[v, i]
        squares += difference * difference
    distance = np.sqrt(squares) + (costs.heights[u] + costs.heights[v])
    return max(np.int64(1), np.int64(np.floor(distance / costs.unit + 0.5)))


@kernel
def costs_of(costs: Costs, src: NDArray[np.int32], dst: NDArray[np.int32]) -> NDArray[np.int64]:
    """The cost of each link (src[i], dst[i]), ``src < dst``; every link must be allowed."""
    out = np.empty(len(src), np.int64)
    for i in range(len(src)):
        if costs.kind == LISTED:
            low = np.searchsorted(costs.src, src[i])
            high = np.searchsorted(costs.src, src[i], side="right")
            out[i] = costs.values[low + np.searchsorted(costs.dst[low:high], dst[i])]
        else:
            out[i] = cost_between(costs, src[i], dst[i])
    return out
