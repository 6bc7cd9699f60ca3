"""The core of all selection: candidates wait in the bins of a calendar queue, by rank, and are picked in its order.

Ranks only rise, because contributions only fall. So when a bin is opened, candidates the bitset bound has ruled out
meanwhile are dropped unseen, those that have risen beyond the bin move on to a later one, and the rest goes through a
small heap that stays in the cache: no sort of all candidates ever happens. A band of bins is held at a time, about a
twentieth of all candidates. Those of later bins are enumerated again when their turn comes, by then against nearly
finished topics, which rules most of them out: reading bitsets in order is cheaper than moving a candidate from bin to
bin each time its bound falls.

What a rank is, a number says: one branch that always goes the same way, instead of a copy of all this for each rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, Costs
from overlay_spark.kernels._jit import inlined, kernel, leaf
from overlay_spark.kernels.clock import Clock, earliest, new_clock, stopped_clock
from overlay_spark.kernels.growing import Growing, contribution_bound
from overlay_spark.kernels.heaps import heapify, pop_least, push, sift_down
from overlay_spark.kernels.link_costs import candidate, first_codes
from overlay_spark.kernels.waiting import (
    BANDS,
    LEAST_BAND,
    Waiting,
    band_places,
    bin_of,
    bins_of,
    leave,
    nobody_waits,
    wait,
)

COST = 0
"""The rank is the cost."""
COST_PER_TOPIC = 1
"""The rank is cost / contribution."""
TIGHT = 2
"""The rank is the time on the clock at which the candidate runs tight."""


class Run(NamedTuple):
    """What stays the same in one run: the growing overlay, the costs, the order of candidates, the rule of rank."""

    state: Growing
    costs: Costs
    first_codes: NDArray[np.int64]
    rule: int
    first_bin: int
    n_bins: int
    clock: Clock


class Band(NamedTuple):
    """The bins in [start, end), held together: bin b has ``codes[places[b]:places[b + 1]]``."""

    start: int
    end: int
    places: NDArray[np.int64]
    codes: NDArray[np.int64]


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

    ``numbers`` counts picks, evaluations, candidates and bands.
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


@kernel
def new_run(state: Growing, costs: Costs, rule: int) -> Run:
    """A run from an overlay that may have links already."""
    first_bin, n_bins = bins_of(len(state.main))
    clock = new_clock(state) if rule == TIGHT else stopped_clock()
    return Run(state, costs, first_codes(costs, len(state.bits)), rule, first_bin, n_bins, clock)


@kernel
def new_picks(state: Growing) -> Picks:
    """Room for as many picks as there are components to join."""
    room = state.apart[0]
    return Picks(np.empty((room, 5), np.int64), np.empty(room, np.float64), np.zeros(4, np.int64))


@kernel
def selected(run: Run, picks: Picks) -> Selection:
    """What was picked in a run."""
    n = picks.numbers[0]
    dual = run.clock.now[1] if run.rule == TIGHT else 0.0
    return Selection(
        picks.rows[:n].copy(), picks.ranks[:n].copy(), picks.numbers[1], picks.numbers[2], picks.numbers[3], dual
    )


@kernel
def next_band(run: Run, picks: Picks, start: int, room: int) -> Band:
    """The bins from ``start`` on that together have about ``room`` candidates (0 chooses), with their candidates."""
    counts = np.zeros(run.n_bins, np.int64)
    scan(run, start, run.n_bins, counts, np.empty(0, np.int64))
    if picks.numbers[3] == 0:
        picks.numbers[2] = counts.sum()
    picks.numbers[3] += 1
    if room == 0:
        room = max(LEAST_BAND, picks.numbers[2] // BANDS)
    places, end = band_places(counts, start, room)
    codes = np.empty(places[end], np.int64)
    scan(run, start, end, places[: run.n_bins].copy(), codes)
    return Band(start, end, places, codes)


@leaf
def scan(run: Run, start: int, end: int, places: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
    """Advance ``places[bin]`` for every live candidate of the bins in [start, end); write its code there if asked.

    A candidate whose bound ranks it below ``start`` ranks higher in truth, so it waits in the first bin.
    """
    n_nodes = len(run.state.bits)
    for u in range(n_nodes):
        low, high = run.first_codes[u], run.first_codes[u + 1]
        if run.costs.kind != LISTED:
            low += u + 1
        for code in range(low, high):
            v = np.int64(run.costs.dst[code]) if run.costs.kind == LISTED else code - run.first_codes[u]
            bound = contribution_bound(run.state, u, v)
            if bound:
                at = max(start, _bin_of_candidate(run, code, bound))
                if at < end:
                    if len(codes):
                        codes[places[at]] = code
                    places[at] += 1


@inlined
def least_rank(run: Run, u: int, v: int, cost: int, bound: int) -> float:
    """A rank the candidate cannot be below; ``bound`` is that of its contribution, above 0."""
    if run.rule == COST_PER_TOPIC:
        return cost / bound
    if run.rule == COST:
        return float(cost)
    return earliest(run.state, run.clock, u, v, cost, bound)


@inlined
def _bin_of_candidate(run: Run, code: int, bound: int) -> int:
    u, v, cost = candidate(run.costs, len(run.state.bits), code)
    return bin_of(least_rank(run, u, v, cost, bound)) - run.first_bin


@kernel
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
        u, v, cost = candidate(run.costs, len(run.state.bits), code)
        bound = contribution_bound(run.state, u, v)
        if bound:
            rank = least_rank(run, u, v, cost, bound)
            later = bin_of(rank) - run.first_bin
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
    b = bin_of(rank) - run.first_bin
    if b < opened:
        queue.ranks[0] = rank
        sift_down(queue.ranks, queue.codes, queue.size[0], 0)
    else:
        wait(queue.waiting, b, band.end, queue.codes[0])
        drop_head(queue)


@leaf
def put_back(run: Run, band: Band, opened: int, queue: Queue, rank: float, code: int) -> None:
    """Let a candidate that was taken off the heap wait for its rank, on the heap again or in a later bin."""
    b = bin_of(rank) - run.first_bin
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
