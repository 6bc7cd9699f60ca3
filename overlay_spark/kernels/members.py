"""Who wants each topic, from what each node wants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel


@kernel
def members_by_topic(
    n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(starts, members): topic t is wanted by ``members[starts[t]:starts[t + 1]]``, ascending. One pass each way."""
    starts = np.zeros(n_topics + 1, np.int64)
    for topic in topics:
        starts[topic + 1] += 1
    for t in range(n_topics):
        starts[t + 1] += starts[t]
    members, cursor = np.empty(len(topics), np.int32), starts[:-1].copy()
    for v in range(len(offsets) - 1):
        for at in range(offsets[v], offsets[v + 1]):
            members[cursor[topics[at]]] = v
            cursor[topics[at]] += 1
    return starts, members
