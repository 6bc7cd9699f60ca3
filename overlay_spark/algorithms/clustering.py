"""Near things together, in groups of bounded weight. All of it depends on the order of the rows only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]
"""The group of each row."""

ROUNDS = 5
"""Rounds of k-means; it starts from cells of equal weight, and what it finds is split and merged afterwards."""
MOST_ONE_BY_ONE = 2000
"""Small cells are merged one by one, each looking at all others, up to so many."""


def bisected(points: NDArray[np.float64], weights: NDArray[Any], most: float, most_rows: int = 1 << 62) -> Labels:
    """Groups of near rows, numbered from 0, each of at most ``most`` weight and ``most_rows`` rows, or of one row.

    Whatever is too heavy is cut at half its weight, across the dimension in which it is widest; of rows at one place
    those that come first part from the others.
    """
    labels = np.zeros(len(points), np.int64)
    waiting, n = [np.arange(len(points))] if len(points) else [], 0
    while waiting:
        rows = waiting.pop()
        if len(rows) <= 1 or (weights[rows].sum() <= most and len(rows) <= most_rows):
            labels[rows] = n
            n += 1
            continue
        inside = points[rows]
        across = inside[:, int(np.argmax(np.ptp(inside, axis=0)))] if points.shape[1] else np.zeros(len(rows))
        rows = rows[np.argsort(across, kind="stable")]
        half = weights[rows].cumsum()
        cut = int(np.clip(np.searchsorted(half, half[-1] / 2, side="right"), 1, len(rows) - 1))
        waiting += [np.sort(rows[cut:]), np.sort(rows[:cut])]
    return labels


def pieces_of(n_rows: int, most: int) -> int:
    """Into how many groups :func:`bisected` cuts so many rows of weight 1."""
    return 1 if n_rows <= max(1, most) else pieces_of(n_rows // 2, most) + pieces_of(n_rows - n_rows // 2, most)


def centres_of(points: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """From half of ``k`` to ``k`` centres by k-means (Lloyd 1982), from the means of a bisection."""
    from overlay_spark.kernels.nearest import nearest

    if not len(points):
        return points
    labels = bisected(points, np.ones(len(points)), 1 if k >= len(points) else 2 * len(points) / k)
    centres = _means(points, labels)
    for _ in range(ROUNDS):
        centres = _means(points, nearest(points, centres))
    return centres


def _means(points: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of each group that has points."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sums: NDArray[np.float64] = np.add.reduceat(points[order], starts, axis=0)
    return sums / np.diff(starts, append=len(labels))[:, None]


def merged(vectors: NDArray[np.float64], sizes: NDArray[Any], least: int, most: int) -> Labels:
    """Cells of at least ``least`` nodes stay; each smaller one, the smallest first, goes to the nearest that has room.

    Where none has room for it, up to ``most`` nodes, it stays. Of very many small cells near ones are put together
    first. Groups are numbered in the order of their first cells.
    """
    labels = np.arange(len(sizes))
    small = np.flatnonzero(sizes < least)
    if len(small) > MOST_ONE_BY_ONE:
        together = bisected(vectors[small], sizes[small], min(2 * least, most))
        labels[small] = len(sizes) + together
        labels = by_first(labels)
    totals, middles = np.bincount(labels, sizes), _means(vectors, labels)
    into = np.arange(len(totals))
    for group in np.argsort(totals, kind="stable")[: int((totals < least).sum())]:
        has_room = (totals + totals[group] <= most) & (totals > 0)
        has_room[group] = False
        if totals[group] < least and has_room.any():  # it may have grown meanwhile
            apart = ((middles - middles[group]) ** 2).sum(axis=1)
            into[group] = int(np.argmin(np.where(has_room, apart, np.inf)))
            totals[into[group]] += totals[group]
            totals[group] = 0
    return by_first(_followed(into)[labels])


def _followed(into: NDArray[Any]) -> Labels:
    """Where each group ended up."""
    ends = into
    while (ends != into[ends]).any():
        ends = into[ends]
    return ends


def by_first(labels: NDArray[Any]) -> Labels:
    """The same groups, numbered from 0 in the order of their first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
