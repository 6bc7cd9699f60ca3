"""Stars: one node after the other is linked to all that share a topic with it which is not served yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel, leaf
from overlay_spark.kernels.members import members_by_topic

NEIGHBOURS, WEIGHTED, DENSITY = range(3)
"""What a centre has most of: nodes around it, nodes counted once for each topic, or the latter per node around it."""


@kernel
def centres(n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.int32], rule: int) -> NDArray[np.int32]:
    """The centres of stars that serve all topics, in the order chosen; of several the least.

    Only topics that are not served yet count, and a node counts itself. Work: for each centre, the members of all
    topics of the nodes whose numbers it changes.
    """
    n_nodes = len(offsets) - 1
    starts, members = members_by_topic(n_topics, offsets, topics)
    served = np.empty(n_topics, np.bool_)
    waiting = 0
    for t in range(n_topics):
        served[t] = starts[t + 1] == starts[t]
        waiting += not served[t]
    around, sums = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    seen, changed = np.full(n_nodes, -1, np.int32), np.ones(n_nodes, np.bool_)
    chosen = np.empty(min(n_nodes, waiting), np.int32)
    n = 0
    while waiting:
        best = -1
        for v in range(n_nodes):
            if changed[v]:
                _look_around(v, offsets, topics, starts, members, served, seen, around, sums)
                changed[v] = False
            if around[v] and (best < 0 or _is_better(rule, around[v], sums[v], around[best], sums[best])):
                best = v
        chosen[n] = best
        n += 1
        for at in range(offsets[best], offsets[best + 1]):
            t = topics[at]
            if not served[t]:
                served[t] = True
                waiting -= 1
                for m in range(starts[t], starts[t + 1]):
                    changed[members[m]] = True
        for v in range(n_nodes):
            seen[v] = -1
    return chosen[:n].copy()


@leaf
def _look_around(
    v: int,
    offsets: NDArray[np.int64],
    topics: NDArray[np.int32],
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    served: NDArray[np.bool_],
    seen: NDArray[np.int32],
    around: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Count the nodes around a node, once, and once for each topic."""
    around[v] = sums[v] = 0
    for at in range(offsets[v], offsets[v + 1]):
        t = topics[at]
        if served[t]:
            continue
        sums[v] += starts[t + 1] - starts[t]
        for m in range(starts[t], starts[t + 1]):
            if seen[members[m]] != v:
                seen[members[m]] = v
                around[v] += 1


@leaf
def _is_better(rule: int, around: int, sums: int, best_around: int, best_sums: int) -> bool:
    if rule == NEIGHBOURS:
        return around > best_around
    if rule == WEIGHTED:
        return sums > best_sums
    return sums * best_around > best_sums * around


@kernel
def star_links(
    n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.int32], chosen: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Rows (src, dst): links of each centre to all others with a topic of its that no centre before it has, by node.

    Two centres are linked at most once: what the first has is served when the second's turn comes.
    """
    n_nodes = len(offsets) - 1
    served, is_new = np.zeros(n_topics, np.bool_), np.zeros(n_topics, np.bool_)
    found = np.empty((len(chosen) * n_nodes, 2), np.int64)
    n = 0
    for i in range(len(chosen)):
        centre = chosen[i]
        for at in range(offsets[centre], offsets[centre + 1]):
            is_new[topics[at]] = not served[topics[at]]
        for v in range(n_nodes):
            if v == centre:
                continue
            for at in range(offsets[v], offsets[v + 1]):
                if is_new[topics[at]]:
                    found[n, 0], found[n, 1] = min(v, centre), max(v, centre)
                    n += 1
                    break
        for at in range(offsets[centre], offsets[centre + 1]):
            is_new[topics[at]] = False
            served[topics[at]] = True
    return found[:n].copy()
