"""The nearest of a few centres, for many points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel


@kernel
def nearest(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int32]:
    """The number of each point's nearest centre, of several the least. Work: points x centres x dimensions."""
    found = np.zeros(len(points), np.int32)
    for i in range(len(points)):
        best = np.inf
        for c in range(len(centres)):
            far = 0.0
            for d in range(points.shape[1]):
                step = points[i, d] - centres[c, d]
                far += step * step
                if far >= best:
                    break
            if far < best:
                best = far
                found[i] = c
    return found
