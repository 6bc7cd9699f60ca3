"""Minimum spanning forests: which of many ranked links a greedy run over one topic after the other would keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.components import find_root


def forest(
    rank: NDArray[np.float64], src: NDArray[Any], dst: NDArray[Any], left: NDArray[Any], right: NDArray[Any]
) -> NDArray[np.int64]:
    """The edges of the minimum spanning forest under (rank, src, dst), by that order.

    Edge i joins the vertices ``left[i]`` and ``right[i]``, any whole numbers. Topics share no vertex, so that their
    forests are one forest.
    """
    order = np.lexsort((dst, src, rank))
    vertices, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    a, b = places[: len(left)], places[len(left) :]
    return order[_kept(order, a, b, len(vertices))]


@kernel
def _kept(
    order: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64], n_vertices: int
) -> NDArray[np.bool_]:
    """Kruskal: which edges, taken in this order, join two pieces."""
    parent, kept = np.arange(n_vertices), np.zeros(len(order), np.bool_)
    for i in range(len(order)):
        a, b = find_root(parent, left[order[i]]), find_root(parent, right[order[i]])
        if a != b:
            parent[max(a, b)] = min(a, b)
            kept[i] = True
    return kept
