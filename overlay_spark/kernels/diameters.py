"""Exact diameters of small sparse graphs, by few searches instead of one from every node.

Take the middle of a long cheapest path as the root. Two nodes at most d from the root are at most 2d apart, so
searches from the nodes farthest from the root raise the lower bound until it meets twice the distance of the next
one (iFUB; Crescenzi, Grossi, Habib, Lanzi, Marino 2013, for distances that are sums of whole numbers).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.components import neighbour_rows
from overlay_spark.kernels.heaps import pop_least, push


@kernel
def distances(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int32], lengths: NDArray[np.int64], source: int
) -> NDArray[np.int64]:
    """The length of a shortest path from the source to every node, -1 where there is none (Dijkstra); its number of
    links where there are no ``lengths``."""
    n = len(offsets) - 1
    found = np.full(n, -1, np.int64)
    if len(lengths) < len(neighbours):
        return _hops(offsets, neighbours, source, found)
    keys, nodes = np.empty(len(neighbours) + 1, np.float64), np.empty(len(neighbours) + 1, np.int64)
    keys[0], nodes[0] = 0.0, source
    size = 1
    while size:
        length, u = np.int64(keys[0]), nodes[0]
        size = pop_least(keys, nodes, size)
        if found[u] >= 0:
            continue
        found[u] = length
        for i in range(offsets[u], offsets[u + 1]):
            if found[neighbours[i]] < 0:
                size = push(keys, nodes, size, float(length + lengths[i]), neighbours[i])
    return found


@kernel
def _hops(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int32], source: int, found: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Layer by layer: no heap is needed."""
    reached = np.empty(len(offsets) - 1, np.int64)
    reached[0], found[source] = source, 0
    size, at = 1, 0
    while at < size:
        u = reached[at]
        at += 1
        for i in range(offsets[u], offsets[u + 1]):
            v = neighbours[i]
            if found[v] < 0:
                found[v] = found[u] + 1
                reached[size] = v
                size += 1
    return found


@kernel
def diameter(offsets: NDArray[np.int64], neighbours: NDArray[np.int32], lengths: NDArray[np.int64]) -> int:
    """The greatest distance between two nodes of a connected graph, as :func:`distances` measures it."""
    n = len(offsets) - 1
    if n < 2:
        return 0
    end = np.argmax(distances(offsets, neighbours, lengths, 0))
    from_end = distances(offsets, neighbours, lengths, end)
    other = np.argmax(from_end)
    from_other = distances(offsets, neighbours, lengths, other)
    root = np.argmin(np.maximum(from_end, from_other))
    from_root = distances(offsets, neighbours, lengths, root)
    best = max(from_end[other], from_root.max())
    order = np.argsort(-from_root)
    for v in order:
        if best >= 2 * from_root[v]:
            break
        best = max(best, distances(offsets, neighbours, lengths, v).max())
    return best


@kernel
def topic_shapes(
    starts: NDArray[np.int64],
    edge_starts: NDArray[np.int64],
    left: NDArray[Any],
    right: NDArray[Any],
    costs: NDArray[np.int64],
    labels: NDArray[Any],
    most_nodes: int,
) -> NDArray[np.int64]:
    """Rows (nodes, links, components, diameter, weighted diameter), one a topic; -1 for what is not measured.

    Topic i has the positions from ``starts[i]`` and the edges from ``edge_starts[i]``; ``labels`` as by
    :func:`connected_labels`. Diameters are measured where a topic is connected and has at most ``most_nodes`` nodes.
    """
    n_topics = len(starts) - 1
    shapes = np.full((n_topics, 5), -1, np.int64)
    for i in range(n_topics):
        low, high, first, last = starts[i], starts[i + 1], edge_starts[i], edge_starts[i + 1]
        components = 0
        for position in range(low, high):
            components += labels[position] == position
        shapes[i, 0], shapes[i, 1], shapes[i, 2] = high - low, last - first, components
        if components == 1 and high - low <= most_nodes:
            offsets, neighbours, lengths = neighbour_rows(
                high - low, left[first:last] - low, right[first:last] - low, costs[first:last]
            )
            shapes[i, 3] = diameter(offsets, neighbours, lengths[:0])
            shapes[i, 4] = diameter(offsets, neighbours, lengths)
    return shapes
