"""Numbers looked up among ascending ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def places_among(ascending: NDArray[Any], asked: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each number asked for among ascending ones, the first of several; -1 of those that are not there.

    For a few million numbers this is many times as quick as numpy's sets, which hash each of them.
    """
    if not len(ascending):
        return np.full(len(asked), -1, np.int64)
    at = np.minimum(np.searchsorted(ascending, asked), len(ascending) - 1)
    return np.where(ascending[at] == asked, at, -1)
