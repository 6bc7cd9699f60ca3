"""The core of all selection: candidates wait in the bins of a calendar queue, by rank, and are picked in its order.

Ranks only rise, because contributions only fall. So when a bin is opened, candidates the bitset bound has ruled out
meanwhile are dropped unseen, those that have risen beyond the bin move on to a later one, and the rest goes through a
small heap that stays in the cache: no sort of all candidates ever happens. A band of bins is held at a time (bands.py).
Candidates of later bins are enumerated again when their turn comes, by then against nearly finished topics, which rules
most of them out: that is cheaper than moving a candidate from bin to bin each time its bound falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import leaf
from overlay_spark.kernels.bands import Band
from overlay_spark.kernels.growing import Growing, contribution_bound
from overlay_spark.kernels.heaps import heapify, pop_least, push, sift_down
from overlay_spark.kernels.link_costs import candidate
from overlay_spark.kernels.ranks import TIGHT, Run, bin_in, least_rank, nodes_of
from overlay_spark.kernels.waiting import Waiting, leave, nobody_waits, wait


class Queue(NamedTuple):
    """The candidates of a band: a heap of those in opened bins, by (rank, code), and those that wait for later bins.

    ``size`` is one number: how many are on the heap. There is room for all of the band, in memory never touched before
    it is needed, so that no array ever grows.
    """

    ranks: NDArray[np.float64]
    codes: NDArray[np.int64]
    size: NDArray[np.int64]
    waiting: Waiting


class Picks(NamedTuple):
    """Rows (src, dst, cost, contribution, lowest topic joined), and the rank of each when it was picked.

    ``numbers`` counts picks, evaluations, candidates of all bands, and bands.
    """

    rows: NDArray[np.int64]
    ranks: NDArray[np.float64]
    numbers: NDArray[np.int64]


class Selection(NamedTuple):
    """Links in the order they were picked, as in :class:`Picks`, and what it took to find them."""

    rows: NDArray[np.int64]
    ranks: NDArray[np.float64]
    evaluations: int
    candidates: int
    bands: int
    dual: float
    """The value of the dual, where the rule is TIGHT."""


def new_picks(state: Growing) -> Picks:
    """Room for as many picks as there are components to join."""
    room = state.apart[0]
    return Picks(np.empty((room, 5), np.int64), np.empty(room, np.float64), np.zeros(4, np.int64))


def add_band(picks: Picks, band: Band) -> None:
    """Note a band."""
    picks.numbers[2] += len(band.codes)
    picks.numbers[3] += 1


def selected(run: Run, picks: Picks) -> Selection:
    """What was picked in a run."""
    n, evaluations, candidates, bands = picks.numbers.tolist()
    dual = float(run.clock.now[1]) if run.rule == TIGHT else 0.0
    return Selection(picks.rows[:n].copy(), picks.ranks[:n].copy(), evaluations, candidates, bands, dual)


def new_queue(band: Band) -> Queue:
    """All candidates of the band are still in its bins."""
    room = len(band.codes)
    waiting = nobody_waits(band.end, room)
    return Queue(np.empty(room, np.float64), np.empty(room, np.int64), np.zeros(1, np.int64), waiting)


@leaf
def open_bin(run: Run, band: Band, b: int, queue: Queue) -> None:
    """Put the candidates of bin b on the heap; those that have moved beyond it wait on."""
    n = queue.size[0]
    at, link = band.places[b], queue.waiting.head[b]
    while at < band.places[b + 1] or link >= 0:
        if at < band.places[b + 1]:
            code = band.codes[at]
            at += 1
        else:
            code = queue.waiting.code[link]
            link = leave(queue.waiting, link)
        u, v, cost = candidate(run.costs, nodes_of(run), code)
        bound = contribution_bound(run.state, u, v)
        if bound:
            rank = least_rank(run, u, v, cost, bound)
            later = bin_in(run, rank)
            if later > b:
                wait(queue.waiting, later, band.end, code)
            else:
                queue.ranks[n], queue.codes[n] = rank, code
                n += 1
    heapify(queue.ranks, queue.codes, n)
    queue.size[0] = n


@leaf
def drop_head(queue: Queue) -> None:
    """Take the candidate of least rank off the heap."""
    queue.size[0] = pop_least(queue.ranks, queue.codes, queue.size[0])


@leaf
def lower_head(run: Run, band: Band, opened: int, queue: Queue, rank: float) -> None:
    """Give the first of the heap its present rank: it sinks there if its bin is one below ``opened``, else it waits."""
    b = bin_in(run, rank)
    if b < opened:
        queue.ranks[0] = rank
        sift_down(queue.ranks, queue.codes, queue.size[0], 0)
    else:
        wait(queue.waiting, b, band.end, queue.codes[0])
        drop_head(queue)


@leaf
def put_back(run: Run, band: Band, opened: int, queue: Queue, rank: float, code: int) -> None:
    """Let a candidate that was taken off the heap wait for its rank, on the heap again or in a later bin."""
    b = bin_in(run, rank)
    if b < opened:
        queue.size[0] = push(queue.ranks, queue.codes, queue.size[0], rank, code)
    else:
        wait(queue.waiting, b, band.end, code)


@leaf
def add_pick(picks: Picks, u: int, v: int, cost: int, joins: int, lowest: int, rank: float) -> None:
    """Note a pick."""
    n = picks.numbers[0]
    row = picks.rows[n]
    row[0], row[1], row[2], row[3], row[4] = u, v, cost, joins, lowest
    picks.ranks[n] = rank
    picks.numbers[0] += 1
