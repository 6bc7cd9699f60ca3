"""Links tried one by one: which of an overlay are not needed, and what each holds together, topic by topic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.components import neighbour_rows


class Graph(NamedTuple):
    """All sub-overlays as one graph over subscriptions: neighbours of place p are ``[starts[p], starts[p + 1])``.

    Places are positions, or any other numbers of subscriptions; a topic's should lie together.

    ``via`` is the link an edge belongs to; edges of links that are not ``alive`` are gone. Link i has the edges
    ``[ends[i] - counts[i], ends[i])`` of ``left`` and ``right``.
    """

    starts: NDArray[np.int64]
    neighbour: NDArray[np.int32]
    via: NDArray[np.int32]
    alive: NDArray[np.bool_]
    ends: NDArray[np.int64]
    counts: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


class _Search(NamedTuple):
    """Room for searches from two sides: who was seen by which (signed number of the search), and both queues."""

    seen: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


def new_graph(n: int, counts: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]) -> Graph:
    """The graph over places 0..n-1 in which link i has the next ``counts[i]`` edges; all are alive."""
    via = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    rows = neighbour_rows(n, left, right, via)
    return Graph(*rows, np.ones(len(counts), np.bool_), np.cumsum(counts, dtype=np.int64), counts, left, right)


@kernel
def drop_needless(graph: Graph, tried: NDArray[np.int64]) -> None:
    """Try these links in their order: one is alive no more if in every topic its ends share they stay connected without
    it, for no other pair can be affected."""
    search = _new_search(len(graph.starts) - 1)
    searches = 0
    for link in tried:
        graph.alive[link] = False
        for edge in range(graph.ends[link] - graph.counts[link], graph.ends[link]):
            searches = _next_search(search, searches)
            if not _joined(graph, search, graph.left[edge], graph.right[edge], searches):
                graph.alive[link] = True
                break


@kernel
def held_topics(graph: Graph, asked: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each link asked about: in how many topics its ends would come apart without it, all others being there."""
    search = _new_search(len(graph.starts) - 1)
    held, searches = np.zeros(len(asked), np.int32), 0
    for i in range(len(asked)):
        link = asked[i]
        graph.alive[link] = False
        for edge in range(graph.ends[link] - graph.counts[link], graph.ends[link]):
            searches = _next_search(search, searches)
            held[i] += not _joined(graph, search, graph.left[edge], graph.right[edge], searches)
        graph.alive[link] = True
    return held


@kernel
def held_by_all(graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(held, pairs): the same for every link, in one walk over all sub-overlays, as edges are counted that lie on no
    cycle; and how many pairs of subscriptions, of the smaller side with any, could take over in these topics."""
    n = len(graph.starts) - 1
    held, pairs = np.zeros(len(graph.alive), np.int32), np.zeros(len(graph.alive), np.int64)
    order, low = np.zeros(n, np.int32), np.empty(n, np.int32)  # when each was reached, and the first it leads back to
    at, path, link = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
    found, below = np.empty(n, np.int32), np.empty(n, np.int32)
    reached = 0
    for root in range(n):
        if order[root]:
            continue
        before, n_found = reached, 0
        reached += 1
        order[root] = low[root] = reached
        at[root] = graph.starts[root]
        path[0], link[0], depth = root, -1, 1
        while depth:
            p = path[depth - 1]
            if at[p] < graph.starts[p + 1]:
                q, via = graph.neighbour[at[p]], graph.via[at[p]]
                at[p] += 1
                if via == link[depth - 1] or not graph.alive[via]:
                    continue
                if order[q]:
                    low[p] = min(low[p], order[q])
                    continue
                reached += 1
                order[q] = low[q] = reached
                at[q] = graph.starts[q]
                path[depth], link[depth] = q, via
                depth += 1
                continue
            depth -= 1
            if depth:
                above = path[depth - 1]
                low[above] = min(low[above], low[p])
                if low[p] > order[above]:
                    found[n_found], below[n_found] = link[depth], reached - order[p] + 1
                    n_found += 1
        size = reached - before
        for i in range(n_found):
            held[found[i]] += 1
            pairs[found[i]] += size * min(below[i], size - below[i])
    return held, pairs


@kernel
def _new_search(n: int) -> _Search:
    return _Search(np.zeros(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32))


@kernel
def _next_search(search: _Search, searches: int) -> int:
    """The number of the next search."""
    if searches == 2**31 - 2:
        search.seen[:] = 0
        return 1
    return searches + 1


@kernel
def _joined(graph: Graph, search: _Search, a: int, b: int, number: int) -> bool:
    """Whether two places of a topic are connected: the side that has reached fewer goes on, until they meet."""
    search.left[0], search.right[0] = a, b
    search.seen[a], search.seen[b] = number, -number
    n_left, n_right, at_left, at_right = 1, 1, 0, 0
    while at_left < n_left and at_right < n_right:
        if n_left <= n_right:
            n_left = _step(graph, search.seen, search.left, at_left, n_left, number)
            at_left += 1
            if n_left < 0:
                return True
        else:
            n_right = _step(graph, search.seen, search.right, at_right, n_right, -number)
            at_right += 1
            if n_right < 0:
                return True
    return False


@kernel
def _step(graph: Graph, seen: NDArray[np.int32], queue: NDArray[np.int32], at: int, n: int, mine: int) -> int:
    """Visit the neighbours of the place next in a side's queue; its new length, or -1 where the sides meet."""
    p = queue[at]
    for i in range(graph.starts[p], graph.starts[p + 1]):
        if graph.alive[graph.via[i]]:
            q = graph.neighbour[i]
            if seen[q] == -mine:
                return -1
            if seen[q] != mine:
                seen[q] = mine
                queue[n] = q
                n += 1
    return n
