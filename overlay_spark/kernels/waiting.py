"""The calendar queue of candidates: bins by rank, a band of bins held at a time, chains of those that move on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import MAX_UNITS
from overlay_spark.kernels._jit import leaf

BIN_SHIFT = 43
"""Bits of a rank's binary form below its bin: 2^9 bins for every doubling of the rank."""


class Waiting(NamedTuple):
    """Candidates moved to later bins: chains in a pool, one chain a bin, one of places that are free again.

    ``free``: the first place of that chain, or -1, and how many places were ever used.
    """

    head: NDArray[np.int64]
    code: NDArray[np.int64]
    next: NDArray[np.int64]
    free: NDArray[np.int64]


def nobody_waits(end: int, room: int) -> Waiting:
    """No candidate waits in any of the bins before ``end``; at most ``room`` will at the same time."""
    return Waiting(np.full(end, -1, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.array([-1, 0]))


@leaf
def wait(waiting: Waiting, b: int, end: int, code: int) -> None:
    """Let a candidate wait in bin b; beyond the band it is dropped, because the next band finds it again."""
    if b >= end:
        return
    place = waiting.free[0]
    if place < 0:
        place = waiting.free[1]
        waiting.free[1] += 1
    else:
        waiting.free[0] = waiting.next[place]
    waiting.code[place] = code
    waiting.next[place] = waiting.head[b]
    waiting.head[b] = place


@leaf
def leave(waiting: Waiting, place: int) -> int:
    """Give the place of a candidate that no longer waits to others; the place of the next one in its bin, or -1."""
    following = waiting.next[place]
    waiting.next[place] = waiting.free[0]
    waiting.free[0] = place
    return following


@leaf
def bin_of(rank: float) -> int:
    """A whole number that rises with the rank: the leading bits of its binary form."""
    return np.float64(rank).view(np.int64) >> BIN_SHIFT


def bins_of(n_topics: int) -> tuple[int, int]:
    """(the first bin, how many) for costs per topic, of at most so many topics."""
    first = int(bin_of(1.0 / max(1, n_topics)))
    return first, int(bin_of(float(MAX_UNITS))) - first + 1
