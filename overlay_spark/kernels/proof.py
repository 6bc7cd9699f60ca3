"""Prove that an overlay connects every topic, by walking it: nothing here is shared with what chooses links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel


@kernel
def unreached(
    n_topics: int,
    offsets: NDArray[np.int64],
    topics: NDArray[np.int32],
    src: NDArray[np.int32],
    dst: NDArray[np.int32],
) -> NDArray[np.int64]:
    """For each topic: how many of its nodes a walk over links between its nodes does not reach from its first one.

    Work: for each topic, its nodes and all their links.
    """
    n_nodes = len(offsets) - 1
    starts, neighbours = _around(n_nodes, src, dst)
    sizes = np.zeros(n_topics + 1, np.int64)
    for topic in topics:
        sizes[topic + 1] += 1
    ends = np.cumsum(sizes)
    wanting, filled = np.empty(len(topics), np.int32), ends[:-1].copy()
    for v in range(n_nodes):
        for at in range(offsets[v], offsets[v + 1]):
            wanting[filled[topics[at]]] = v
            filled[topics[at]] += 1
    left = np.zeros(n_topics, np.int64)
    wants, seen = np.full(n_nodes, -1, np.int32), np.full(n_nodes, -1, np.int32)
    waiting = np.empty(n_nodes, np.int32)
    for t in range(n_topics):
        if ends[t] == ends[t + 1]:
            continue
        for at in range(ends[t], ends[t + 1]):
            wants[wanting[at]] = t
        waiting[0] = wanting[ends[t]]
        seen[waiting[0]] = t
        done, n = 0, 1
        while done < n:
            v = waiting[done]
            done += 1
            for at in range(starts[v], starts[v + 1]):
                w = neighbours[at]
                if wants[w] == t and seen[w] != t:
                    seen[w] = t
                    waiting[n] = w
                    n += 1
        left[t] = ends[t + 1] - ends[t] - n
    return left


@kernel
def _around(
    n_nodes: int, src: NDArray[np.int32], dst: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(starts, neighbours): node v is linked to ``neighbours[starts[v]:starts[v + 1]]``."""
    degree = np.zeros(n_nodes + 1, np.int64)
    for i in range(len(src)):
        degree[src[i] + 1] += 1
        degree[dst[i] + 1] += 1
    starts = np.cumsum(degree)
    neighbours, filled = np.empty(2 * len(src), np.int32), starts[:-1].copy()
    for i in range(len(src)):
        neighbours[filled[src[i]]] = dst[i]
        filled[src[i]] += 1
        neighbours[filled[dst[i]]] = src[i]
        filled[dst[i]] += 1
    return starts, neighbours
