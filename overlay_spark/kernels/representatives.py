"""Representatives of a part: few nodes that together want all of its topics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.members import members_by_topic


@kernel
def cover(
    n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.int64], copies: int, weights: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Nodes until every topic is wanted by ``copies`` of them, or by all who want it: first the node with most topics
    still in need per unit of its weight, of several the least. Work: nodes x chosen nodes, and subscriptions."""
    n_nodes = len(offsets) - 1
    starts, members = members_by_topic(n_topics, offsets, topics)
    need = np.minimum(np.diff(starts), copies)
    helps = np.diff(offsets)
    chosen = np.empty(n_nodes, np.int32)
    n = 0
    while True:
        best, most = -1, 0.0
        for v in range(n_nodes):
            if helps[v] > 0 and helps[v] / weights[v] > most:
                best, most = v, helps[v] / weights[v]
        if best < 0:
            return chosen[:n].copy()
        chosen[n] = best
        n += 1
        helps[best] = -1
        for at in range(offsets[best], offsets[best + 1]):
            t = topics[at]
            if need[t] > 0:
                need[t] -= 1
                if need[t] == 0:
                    for m in range(starts[t], starts[t + 1]):
                        if helps[members[m]] > 0:
                            helps[members[m]] -= 1
