"""Prove that an overlay connects every topic, by walking it: nothing here is shared with what chooses links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel


@kernel
def walked(
    n_topics: int,
    offsets: NDArray[np.int64],
    topics: NDArray[np.int32],
    src: NDArray[np.int32],
    dst: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(unreached, used): how many of its nodes a walk over links between them does not reach from a topic's first one;
    and whether each link is between nodes of any topic.

    Work: for each topic, its nodes and all their links.
    """
    n_nodes = len(offsets) - 1
    starts, neighbours, via = _around(n_nodes, src, dst)
    sizes = np.zeros(n_topics + 1, np.int64)
    for topic in topics:
        sizes[topic + 1] += 1
    ends = np.cumsum(sizes)
    wanting, filled = np.empty(len(topics), np.int32), ends[:-1].copy()
    for v in range(n_nodes):
        for at in range(offsets[v], offsets[v + 1]):
            wanting[filled[topics[at]]] = v
            filled[topics[at]] += 1
    unreached, used = np.zeros(n_topics, np.int64), np.zeros(len(src), np.bool_)
    wants, seen = np.full(n_nodes, -1, np.int32), np.full(n_nodes, -1, np.int32)
    waiting = np.empty(n_nodes, np.int32)
    for t in range(n_topics):
        for at in range(ends[t], ends[t + 1]):
            wants[wanting[at]] = t
        done, n = 0, 0
        for first in range(ends[t], ends[t + 1]):
            if seen[wanting[first]] == t:
                continue
            if first > ends[t]:  # a walk that starts anew, for the links used there
                unreached[t] = max(unreached[t], ends[t + 1] - ends[t] - n)
            seen[wanting[first]] = t
            waiting[n] = wanting[first]
            n += 1
            while done < n:
                v = waiting[done]
                done += 1
                for at in range(starts[v], starts[v + 1]):
                    w = neighbours[at]
                    if wants[w] != t:
                        continue
                    if not used[via[at]]:
                        used[via[at]] = True
                    if seen[w] != t:
                        seen[w] = t
                        waiting[n] = w
                        n += 1
    return unreached, used


@kernel
def _around(
    n_nodes: int, src: NDArray[np.int32], dst: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """(starts, neighbours, via): node v is linked to ``neighbours[starts[v]:starts[v + 1]]``, by these links."""
    degree = np.zeros(n_nodes + 1, np.int64)
    for i in range(len(src)):
        degree[src[i] + 1] += 1
        degree[dst[i] + 1] += 1
    starts = np.cumsum(degree)
    neighbours, via = np.empty(2 * len(src), np.int32), np.empty(2 * len(src), np.int32)
    filled = starts[:-1].copy()
    for i in range(len(src)):
        for v, w in ((src[i], dst[i]), (dst[i], src[i])):
            neighbours[filled[v]], via[filled[v]] = w, i
            filled[v] += 1
    return starts, neighbours, via
