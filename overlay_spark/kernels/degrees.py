"""Greedy selection with an eye on degrees: for every node, the best link to a node after it.

A gain is what a link joins, or that per cost. Gains only fall, so one that was noted is never too low: the best link of
a node is looked at again when the node comes first, and its row is gone through only if that has fallen meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, Costs
from overlay_spark.kernels._jit import inlined, kernel, leaf
from overlay_spark.kernels.growing import Growing, contribution, contribution_bound, join, shared_topics
from overlay_spark.kernels.heaps import heapify, sift_down
from overlay_spark.kernels.link_costs import cost_between


class Rows(NamedTuple):
    """What is noted of links: ``joins[u, v]``, u < v, at least what a link joins; and what it costs, where that counts.

    ANY link counts, or LOW ones only, both of whose nodes are of less than the greatest degree: for either, the best
    link of u is that to ``best[kind, u]``, if any gains, and ``nodes[kind]`` are a heap, by rising ``ranks[kind]``:
    what was noted of a node's best link, below 0, so that the highest gain comes first.
    """

    joins: NDArray[np.int32]
    prices: NDArray[np.float64]
    best: NDArray[np.int64]
    ranks: NDArray[np.float64]
    nodes: NDArray[np.int64]
    degree: NDArray[np.int64]
    most: NDArray[np.int64]
    """One number: the greatest degree."""


ANY, LOW = 0, 1


@kernel
def select_links(
    state: Growing, costs: Costs, weighted: bool, k: float, degree: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Rows (src, dst, contribution) in pick order, until no link joins anything.

    Nodes have links already, as many as their ``degree`` says; ``most`` is the greatest degree there is, these nodes'
    or others'.

    Of the links that raise the greatest degree least the best is taken, unless the best of all is more than ``k`` times
    better; then that. Ties go to the least (src, dst). Work: nodes squared, and each time a row is gone through, nodes:
    some rows for each pick, most of them for each greatest degree there ever is. Memory: 4 bytes, and 8 where costs
    count, for each two nodes.
    """
    rows = _new_rows(state, costs, weighted, degree, most)
    picks = np.empty((state.apart[0], 3), np.int64)
    n = 0
    while state.apart[0]:
        low = _best_gain(state, rows, LOW, 0.0)
        higher = _best_gain(state, rows, ANY, low * k if low else 0.0)
        if not low and not higher:
            break
        kind = ANY if higher else LOW
        u = rows.nodes[kind, 0]
        v = rows.best[kind, u]
        picks[n, 0], picks[n, 1], picks[n, 2] = u, v, rows.joins[u, v]
        n += 1
        join(state, u, v)
        _count(rows, u, v)
    return picks[:n]


@kernel
def _new_rows(state: Growing, costs: Costs, weighted: bool, degree: NDArray[np.int64], most: int) -> Rows:
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
    best, nodes = np.empty((2, n_nodes), np.int64), np.empty((2, n_nodes), np.int64)
    rows = Rows(joins, prices, best, np.empty((2, n_nodes)), nodes, degree.copy(), np.full(1, most, np.int64))
    for u in range(n_nodes):
        nodes[ANY, u], rows.ranks[ANY, u] = u, -_find_best(state, rows, ANY, u)
    heapify(rows.ranks[ANY], nodes[ANY], n_nodes)
    _begin_low(rows)
    return rows


@leaf
def _gain(rows: Rows, u: int, v: int) -> float:
    if len(rows.prices) and rows.joins[u, v]:
        return rows.joins[u, v] / rows.prices[u, v]
    return float(rows.joins[u, v])


@leaf
def _is_low(rows: Rows, u: int) -> bool:
    return rows.degree[u] < rows.most[0]


@leaf
def _best_gain(state: Growing, rows: Rows, kind: int, above: float) -> float:
    """The gain of the best link of a kind, that of the node now first in the heap; 0 if it is not ``above``."""
    ranks, nodes = rows.ranks[kind], rows.nodes[kind]
    while -ranks[0] > above:
        u = nodes[0]
        v = rows.best[kind, u]
        if kind == ANY or (_is_low(rows, u) and _is_low(rows, v)):
            rows.joins[u, v] = contribution(state, u, v)
            if _gain(rows, u, v) == -ranks[0]:
                return -ranks[0]
        ranks[0] = -_find_best(state, rows, kind, u)
        sift_down(ranks, nodes, len(nodes), 0)
    return 0.0


@leaf
def _find_best(state: Growing, rows: Rows, kind: int, u: int) -> float:
    """Go through the row of a node for its best link; the gain of that."""
    gain, joins = 0.0, 0
    if kind == LOW and not _is_low(rows, u):
        return gain
    for v in range(u + 1, len(rows.degree)):
        # Most links end at the first test; where costs count, joining more is not yet gaining more.
        if rows.joins[u, v] > joins and (kind == ANY or _is_low(rows, v)) and _is_better(state, rows, u, v, gain):
            rows.best[kind, u], gain = v, _gain(rows, u, v)
            joins = 0 if len(rows.prices) else rows.joins[u, v]
    return gain


@inlined
def _is_better(state: Growing, rows: Rows, u: int, v: int, gain: float) -> bool:
    """Whether a link gains more than this: one that was noted to is looked at again, which nearly always ends with the
    bound. A call for each, with all its arrays, would take longer than the work itself.
    """
    if _gain(rows, u, v) > gain:
        rows.joins[u, v] = contribution_bound(state, u, v)
        if _gain(rows, u, v) > gain:
            rows.joins[u, v] = contribution(state, u, v)
    return _gain(rows, u, v) > gain


@leaf
def _count(rows: Rows, u: int, v: int) -> None:
    """Count a link; once the greatest degree is raised, all nodes of the former one are low again."""
    rows.degree[u] += 1
    rows.degree[v] += 1
    if max(rows.degree[u], rows.degree[v]) > rows.most[0]:
        rows.most[0] += 1
        _begin_low(rows)


@leaf
def _begin_low(rows: Rows) -> None:
    """Note of links of low nodes what is noted of any: they gain no more."""
    for u in range(len(rows.degree)):
        rows.best[LOW, u] = rows.best[ANY, u]
        rows.ranks[LOW, u], rows.nodes[LOW, u] = rows.ranks[ANY, u], rows.nodes[ANY, u]
