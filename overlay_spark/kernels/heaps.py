"""A binary heap of (rank, code) pairs over two arrays: the least rank first, then the least code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import leaf


@leaf
def sift_down(ranks: NDArray[np.float64], codes: NDArray[np.int64], n: int, at: int) -> None:
    """Let the pair at ``at`` sink to its place among the first ``n``."""
    rank, code = ranks[at], codes[at]
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        other = child + 1
        if other < n and (
            ranks[other] < ranks[child] or (ranks[other] == ranks[child] and codes[other] < codes[child])
        ):
            child = other
        if rank < ranks[child] or (rank == ranks[child] and code < codes[child]):
            break
        ranks[at], codes[at] = ranks[child], codes[child]
        at = child
    ranks[at], codes[at] = rank, code


@leaf
def heapify(ranks: NDArray[np.float64], codes: NDArray[np.int64], n: int) -> None:
    """Make a heap of the first ``n`` pairs."""
    for at in range(n // 2 - 1, -1, -1):
        sift_down(ranks, codes, n, at)


@leaf
def push(ranks: NDArray[np.float64], codes: NDArray[np.int64], n: int, rank: float, code: int) -> int:
    """Add a pair to a heap of ``n``, for which there must be room; give back how many there are now."""
    at = n
    while at:
        parent = (at - 1) // 2
        if ranks[parent] < rank or (ranks[parent] == rank and codes[parent] < code):
            break
        ranks[at], codes[at] = ranks[parent], codes[parent]
        at = parent
    ranks[at], codes[at] = rank, code
    return n + 1


@leaf
def pop_least(ranks: NDArray[np.float64], codes: NDArray[np.int64], n: int) -> int:
    """Move the least of the first ``n`` pairs behind the others; give back how many those are."""
    n -= 1
    ranks[0], ranks[n] = ranks[n], ranks[0]
    codes[0], codes[n] = codes[n], codes[0]
    if n > 1:
        sift_down(ranks, codes, n, 0)
    return n
