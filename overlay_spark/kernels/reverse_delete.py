"""Reverse delete, topic by topic: which links of an overlay are not needed, the newest asked first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.components import neighbour_rows, shared_counts, shared_positions


class _Graph(NamedTuple):
    """All sub-overlays as one graph over subscriptions: neighbours of position p are ``[starts[p], starts[p + 1])``.

    ``via`` is the link an edge belongs to; edges of links that are not ``alive`` are gone.
    """

    starts: NDArray[np.int64]
    neighbour: NDArray[np.int32]
    via: NDArray[np.int32]
    alive: NDArray[np.bool_]


class _Search(NamedTuple):
    """Room for searches from two sides: who was seen by which (signed number of the search), and both queues."""

    seen: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


@kernel
def needed_links(
    offsets: NDArray[np.int64], topics: NDArray[np.int32], src: NDArray[np.int32], dst: NDArray[np.int32], fixed: int
) -> NDArray[np.bool_]:
    """Whether each link stays when links are tried from the last to the first; the ``fixed`` first ones are not tried.

    A link goes if in every topic its ends share they stay connected without it: no other pair can be affected.
    """
    left, right = shared_positions(offsets, topics, src, dst)
    counts = shared_counts(offsets, topics, src, dst)
    ends = np.cumsum(counts)
    via = np.repeat(np.arange(len(counts)).astype(np.int32), counts)
    starts, neighbour, via = neighbour_rows(len(topics), left, right, via)
    graph = _Graph(starts, neighbour, via, np.ones(len(counts), np.bool_))
    search = _Search(np.zeros(len(topics), np.int32), np.empty(len(topics), np.int32), np.empty(len(topics), np.int32))
    searches = 0
    for link in range(len(src) - 1, fixed - 1, -1):
        graph.alive[link] = False
        for edge in range(ends[link] - counts[link], ends[link]):
            searches += 1
            if searches == 2**31 - 1:
                search.seen[:] = 0
                searches = 1
            if not _joined(graph, search, left[edge], right[edge], searches):
                graph.alive[link] = True
                break
    return graph.alive


@kernel
def _joined(graph: _Graph, search: _Search, a: int, b: int, number: int) -> bool:
    """Whether two positions of a topic are connected: the side that has reached fewer goes on, until they meet."""
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
def _step(graph: _Graph, seen: NDArray[np.int32], queue: NDArray[np.int32], at: int, n: int, mine: int) -> int:
    """Visit the neighbours of the position next in a side's queue; its new length, or -1 where the sides meet."""
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
