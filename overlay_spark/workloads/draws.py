"""Random numbers by position: the same for a (seed, stream, row, column) wherever and in whatever order it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)


def uniforms(seed: int, stream: int, rows: NDArray[Any], n_columns: int) -> NDArray[np.float64]:
    """Numbers in (0, 1), one row for each number in ``rows``. A stream keeps one use of the seed from another."""
    with np.errstate(over="ignore"):
        start = _mix(_mix(np.asarray([seed], np.uint64) + _STEP) + np.uint64(stream))
        by_row = _mix(start + np.asarray(rows, np.uint64)[:, None] * _STEP)
        words = _mix(by_row + np.arange(1, n_columns + 1, dtype=np.uint64)[None, :] * _STEP)
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea, Flood 2014): every bit of x moves every bit of the result."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
