"""Greedy selection with an eye on degrees: for every node, the best link to a node after it.

A gain is what a link joins, or that per cost. Gains only fall, so one that was noted is never too low: the best of a
node is looked at again when its turn comes, and its row is gone through only if it has fallen meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, Costs
from overlay_spark.kernels._jit import kernel, leaf
from overlay_spark.kernels.growing import Growing, contribution, join, shared_topics
from overlay_spark.kernels.link_costs import cost_between


class Rows(NamedTuple):
    """What is noted of links: ``joins[u, v]``, u < v, at least what a link joins; and what it costs, where that counts.

    ``best[0, u]`` is the v of the best link of u to any node, ``best[1, u]`` that to a node of less than the greatest
    degree, where u is one; -1 for none. ``gain`` is what was noted of it.
    """

    joins: NDArray[np.int32]
    prices: NDArray[np.float64]
    best: NDArray[np.int64]
    gain: NDArray[np.float64]
    degree: NDArray[np.int64]
    most: NDArray[np.int64]
    """One number: the greatest degree."""


ANY, LOW = 0, 1


@kernel
def select_links(
    state: Growing, costs: Costs, weighted: bool, k: float, src: NDArray[np.int32], dst: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Rows (src, dst, contribution) in pick order, until no link joins anything; links (src, dst) are there already.

    Of the links that raise the greatest degree least the best is taken, unless the best of all is more than ``k`` times
    better; then that. Ties go to the least (src, dst). Work: nodes squared for each greatest degree there ever is, and
    nodes for each pick, but for rows gone through. Memory: 4 bytes, and 8 where costs count, for each two nodes.
    """
    rows = _new_rows(state, costs, weighted, src, dst)
    n_nodes = len(rows.degree)
    picks = np.empty((state.apart[0], 3), np.int64)
    n = 0
    for kind in (ANY, LOW):
        for u in range(n_nodes):
            _find_best(state, rows, kind, u)
    while n < len(picks):
        any_u, low_u = _best_node(state, rows, ANY), _best_node(state, rows, LOW)
        if any_u < 0:
            break
        kind, u = (LOW, low_u) if low_u >= 0 else (ANY, any_u)
        if rows.gain[kind, u] * k < rows.gain[ANY, any_u]:
            kind, u = ANY, any_u
        v = rows.best[kind, u]
        picks[n] = u, v, contribution(state, u, v)
        n += 1
        join(state, u, v)
        rows.joins[u, v] = 0
        _count(state, rows, u, v)
    return picks[:n]


@kernel
def _new_rows(state: Growing, costs: Costs, weighted: bool, src: NDArray[np.int32], dst: NDArray[np.int32]) -> Rows:
    n_nodes = len(state.starts) - 1
    joins = np.zeros((n_nodes, n_nodes), np.int32)
    n_priced = n_nodes if weighted else 0
    prices = np.zeros((n_priced, n_priced))
    if costs.kind == LISTED:
        for i in range(len(costs.src)):
            u, v = costs.src[i], costs.dst[i]
            joins[u, v] = shared_topics(state, u, v)
            if weighted:
                prices[u, v] = costs.values[i]
    else:
        for u in range(n_nodes):
            for v in range(u + 1, n_nodes):
                joins[u, v] = shared_topics(state, u, v)
                if weighted and joins[u, v]:
                    prices[u, v] = cost_between(costs, u, v)
    degree = np.zeros(n_nodes, np.int64)
    for i in range(len(src)):
        degree[src[i]] += 1
        degree[dst[i]] += 1
        joins[src[i], dst[i]] = 0
    most = np.zeros(1, np.int64)
    for u in range(n_nodes):
        most[0] = max(most[0], degree[u])
    return Rows(joins, prices, np.full((2, n_nodes), -1, np.int64), np.zeros((2, n_nodes)), degree, most)


@leaf
def _gain(rows: Rows, u: int, v: int) -> float:
    if len(rows.prices) and rows.joins[u, v]:
        return rows.joins[u, v] / rows.prices[u, v]
    return float(rows.joins[u, v])


@leaf
def _find_best(state: Growing, rows: Rows, kind: int, u: int) -> None:
    """Go through the row of a node; what is noted better than the best so far is looked at again."""
    best, gain = -1, 0.0
    if kind == ANY or rows.degree[u] < rows.most[0]:
        for v in range(u + 1, len(rows.degree)):
            if rows.joins[u, v] and (kind == ANY or rows.degree[v] < rows.most[0]) and _gain(rows, u, v) > gain:
                rows.joins[u, v] = contribution(state, u, v)
                now = _gain(rows, u, v)
                if now > gain:
                    best, gain = v, now
    rows.best[kind, u], rows.gain[kind, u] = best, gain


@leaf
def _best_node(state: Growing, rows: Rows, kind: int) -> int:
    """The node whose best link is the best of all, of several the least; -1 where none joins anything."""
    while True:
        found, gain = -1, 0.0
        for u in range(len(rows.degree)):
            if rows.gain[kind, u] > gain:
                found, gain = u, rows.gain[kind, u]
        if found < 0:
            return -1
        v = rows.best[kind, found]
        if kind == ANY or (rows.degree[found] < rows.most[0] and rows.degree[v] < rows.most[0]):
            rows.joins[found, v] = min(rows.joins[found, v], contribution(state, found, v))
            if _gain(rows, found, v) == gain:
                return found
        _find_best(state, rows, kind, found)


@leaf
def _count(state: Growing, rows: Rows, u: int, v: int) -> None:
    """Count a link; once the greatest degree is raised, all nodes of the former one are low again."""
    rows.degree[u] += 1
    rows.degree[v] += 1
    if max(rows.degree[u], rows.degree[v]) > rows.most[0]:
        rows.most[0] += 1
        for w in range(len(rows.degree)):
            _find_best(state, rows, LOW, w)
