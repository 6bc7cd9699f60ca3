"""Sub-overlays of a finished overlay, as one graph over subscriptions: edges, rows of neighbours, components.

Positions of subscriptions are 32-bit numbers: most of what is done with them waits for memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel


@kernel
def find_root(parent: NDArray[Any], x: int) -> int:
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def joined_labels(parent: NDArray[Any], left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """The least vertex of each vertex's component, where ``parent`` names those of before in the same way and the edges
    (left[i], right[i]) are new. Changes ``parent``."""
    for i in range(len(left)):
        a, b = find_root(parent, left[i]), find_root(parent, right[i])
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b
    for x in range(len(parent)):
        parent[x] = parent[parent[x]]  # parents are lesser, hence already final
    return parent


@kernel
def connected_labels(n: int, left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int32]:
    """The least vertex of each vertex's component, in the graph of edges (left[i], right[i]) over 0..n-1."""
    return joined_labels(np.arange(n).astype(np.int32), left, right)


@kernel
def places_by_topic(n_topics: int, topics: NDArray[np.int32]) -> NDArray[np.int32]:
    """The place of each subscription when they are sorted by topic, those of one topic in their order."""
    first = np.zeros(n_topics + 1, np.int64)
    for topic in topics:
        first[topic + 1] += 1
    first = np.cumsum(first)
    places = np.empty(len(topics), np.int32)
    for at in range(len(topics)):
        places[at] = first[topics[at]]
        first[topics[at]] += 1
    return places


@kernel
def stars(
    starts: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The graphs of edges (left[j], right[j]) over 0..n-1, each brought down to stars: (starts, leaves, roots).

    Graph i has the edges from ``starts[i]``, and the leaves from the starts given back. A component's least vertex is
    its root, all its others are leaves of it: every leaf is there once, and never are there more leaves than edges.
    """
    parent, leaves = np.arange(n), np.empty(len(left), np.int64)
    roots, leaf_starts = np.empty(len(left), np.int64), np.zeros(len(starts), np.int64)
    at = 0
    for i in range(len(starts) - 1):
        first = at
        for j in range(starts[i], starts[i + 1]):
            a, b = find_root(parent, left[j]), find_root(parent, right[j])
            if a != b:
                leaves[at] = max(a, b)  # a root no more
                parent[leaves[at]] = min(a, b)
                at += 1
        for j in range(first, at):
            roots[j] = find_root(parent, leaves[j])
        for j in range(first, at):
            parent[leaves[j]] = leaves[j]
        leaf_starts[i + 1] = at
    return leaf_starts, leaves[:at], roots[:at]


@kernel
def shared_edges(
    offsets: NDArray[np.int64], topics: NDArray[np.int32], src: NDArray[np.int32], dst: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """(counts, left, right): how many topics both ends of each link want; and for each of these, link after link, the
    two subscriptions it joins."""
    counts, longest, at = np.empty(len(src), np.int32), max(1, _longest_row(offsets)), 0
    out = np.empty((longest, 2), np.int64)
    left, right = np.empty(4 * len(src) + longest, np.int32), np.empty(4 * len(src) + longest, np.int32)
    for i in range(len(src)):
        if at + longest > len(left):
            left, right = _longer(left, at), _longer(right, at)
        counts[i] = _shared(offsets, topics, src[i], dst[i], out)
        for j in range(counts[i]):
            left[at + j] = out[j, 0]
            right[at + j] = out[j, 1]
        at += counts[i]
    return counts, left[:at].copy(), right[:at].copy()


@kernel
def _longer(numbers: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """The first ``n`` numbers, with as much room again as there was."""
    more = np.empty(2 * len(numbers), np.int32)
    more[:n] = numbers[:n]
    return more


@kernel
def _longest_row(offsets: NDArray[np.int64]) -> int:
    longest = 0
    for v in range(len(offsets) - 1):
        longest = max(longest, offsets[v + 1] - offsets[v])
    return longest


@kernel
def _shared(offsets: NDArray[np.int64], topics: NDArray[np.int32], u: int, v: int, out: NDArray[np.int64]) -> int:
    """Count the topics u and v share; note their positions where ``out`` has room."""
    i, j, count = offsets[u], offsets[v], 0
    while i < offsets[u + 1] and j < offsets[v + 1]:
        if topics[i] == topics[j]:
            if count < len(out):
                out[count, 0] = i
                out[count, 1] = j
            count += 1
            i += 1
            j += 1
        elif topics[i] < topics[j]:
            i += 1
        else:
            j += 1
    return count


@kernel
def shared_counts(
    offsets: NDArray[np.int64], topics: NDArray[np.int32], src: NDArray[np.int32], dst: NDArray[np.int32]
) -> NDArray[np.int32]:
    """How many topics the ends of each link share."""
    counts = np.empty(len(src), np.int32)
    nowhere = np.empty((0, 2), np.int64)
    for i in range(len(src)):
        counts[i] = _shared(offsets, topics, src[i], dst[i], nowhere)
    return counts


@kernel
def neighbour_rows(
    n: int, left: NDArray[Any], right: NDArray[Any], said: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Both directions of every edge (left[i], right[i]) as compressed sparse rows: (offsets, neighbours, what is said).

    ``said[i]`` is a number that goes with the edge: its length, or the link it belongs to.
    """
    offsets = np.zeros(n + 1, np.int64)
    for i in range(len(left)):
        offsets[left[i] + 1] += 1
        offsets[right[i] + 1] += 1
    for v in range(n):
        offsets[v + 1] += offsets[v]
    cursor = offsets[:-1].copy()
    neighbours, out = np.empty(offsets[n], np.int32), np.empty(offsets[n], said.dtype)
    for i in range(len(left)):
        for a, b in ((left[i], right[i]), (right[i], left[i])):
            neighbours[cursor[a]], out[cursor[a]] = b, said[i]
            cursor[a] += 1
    return offsets, neighbours, out
