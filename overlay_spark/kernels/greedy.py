"""Exact greedy selection: the candidate of least rank first, contributions re-evaluated lazily.

Ranks only rise, because contributions only fall. So candidates wait in the bins of a calendar queue, by rank. When a
bin is opened, candidates the bitset bound has ruled out meanwhile are dropped unseen, those that have risen beyond
the bin move on to a later one, and the rest goes through a small heap that stays in the cache: no sort of all
candidates ever happens. A band of bins is held at a time, about a twentieth of all candidates. Those of later bins are
enumerated again when their turn comes, by then against nearly finished topics, which rules most of them out: reading
bitsets in order is cheaper than moving a candidate from bin to bin each time its bound falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, MAX_UNITS, Costs
from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.components import Growing, contribution, contribution_bound, join
from overlay_spark.kernels.heaps import heapify, pop_least, sift_down
from overlay_spark.kernels.link_costs import candidate, first_codes

BIN_SHIFT = 43
"""Bits of a rank's binary form below its bin: 2^9 bins for every doubling of the rank."""


BANDS = 20
LEAST_BAND = 1 << 16
"""Measured at 2 and 45 million candidates: fewer or more bands are slower."""


class Selection(NamedTuple):
    """Links in the order they were picked, and what it took to find them."""

    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    cost: NDArray[np.int64]
    contribution: NDArray[np.int64]
    lowest_topic: NDArray[np.int64]
    candidates: int
    evaluations: int
    bands: int


class _Run(NamedTuple):
    """What stays the same in one run: the growing overlay, the costs, the order of candidates."""

    state: Growing
    costs: Costs
    first_codes: NDArray[np.int64]
    by_contribution: bool
    first_bin: int


class _Waiting(NamedTuple):
    """Candidates moved to later bins: chains in a pool, one chain a bin, one of free places."""

    head: NDArray[np.int64]
    code: NDArray[np.int64]
    next: NDArray[np.int64]
    free: NDArray[np.int64]


class _Picks(NamedTuple):
    """Rows (src, dst, cost, contribution, lowest topic); ``numbers`` counts rows and evaluations."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]


@kernel
def select_links(state: Growing, costs: Costs, by_contribution: bool, band: int) -> Selection:
    """Pick links by rising (rank, src, dst), each with a positive contribution, until none has one.

    The rank is cost / contribution, or the cost alone. ``band`` candidates are held at a time; 0 chooses.
    """
    n_nodes = len(state.bits)
    first_bin = _bin(1.0 / max(1, len(state.main)))
    n_bins = _bin(float(MAX_UNITS)) - first_bin + 1
    run = _Run(state, costs, first_codes(costs, n_nodes), by_contribution, first_bin)
    picks = _Picks(np.empty((max(16, n_nodes), 5), np.int64), np.zeros(2, np.int64))
    bands, candidates = 0, 0
    start = 0  # bins below this one are done
    while state.apart[0] > 0 and start < n_bins:
        counts = np.zeros(n_bins, np.int64)
        _scan(run, start, n_bins, counts, np.empty(0, np.int64))
        if bands == 0:
            candidates = counts.sum()
            band = band if band else max(LEAST_BAND, candidates // BANDS)
        places = np.zeros(n_bins + 1, np.int64)
        end = start
        while end < n_bins and (end == start or places[end] + counts[end] <= band):
            places[end + 1] = places[end] + counts[end]
            end += 1
        codes = np.empty(places[end], np.int64)
        _scan(run, start, end, places[:n_bins].copy(), codes)
        picks = _drain(run, start, end, places, codes, picks)
        bands += 1
        start = end
    rows = picks.rows[: picks.numbers[0]].copy()
    return Selection(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4], candidates, picks.numbers[1], bands)


@kernel
def _bin(rank: float) -> int:
    """A whole number that rises with the rank: the leading bits of its binary form."""
    return np.float64(rank).view(np.int64) >> BIN_SHIFT


@kernel
def _rank(run: _Run, cost: int, topics: int) -> float:
    return cost / topics if run.by_contribution else float(cost)


@kernel
def _scan(run: _Run, start: int, end: int, places: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
    """Advance ``places[bin]`` for every live candidate of the bins in [start, end); write its code there if asked.

    A candidate whose bound ranks it below ``start`` ranks higher in truth, so it waits in the first bin.
    """
    n_nodes = len(run.state.bits)
    write = len(codes) > 0
    for u in range(n_nodes):
        low, high = run.first_codes[u], run.first_codes[u + 1]
        if run.costs.kind != LISTED:
            low += u + 1
        for code in range(low, high):
            v = np.int64(run.costs.dst[code]) if run.costs.kind == LISTED else code - run.first_codes[u]
            bound = contribution_bound(run.state, u, v)
            if bound:
                cost = candidate(run.costs, n_nodes, code)[2]
                at = max(start, _bin(_rank(run, cost, bound)) - run.first_bin)
                if at < end:
                    if write:
                        codes[places[at]] = code
                    places[at] += 1


@kernel
def _drain(
    run: _Run, start: int, end: int, places: NDArray[np.int64], codes: NDArray[np.int64], picks: _Picks
) -> _Picks:
    """Work the bins in [start, end) off, in order; bin b holds ``codes[places[b]:places[b + 1]]`` and its chain."""
    waiting = _Waiting(np.full(end, -1, np.int64), np.empty(64, np.int64), np.arange(1, 65), np.zeros(1, np.int64))
    waiting.next[-1] = -1
    ranks, heap = np.empty(64, np.float64), np.empty(64, np.int64)
    for b in range(start, end):
        n = 0
        at, link = places[b], waiting.head[b]
        while at < places[b + 1] or link >= 0:
            if at < places[b + 1]:
                code = codes[at]
                at += 1
            else:
                code = waiting.code[link]
                following = waiting.next[link]
                waiting.next[link] = waiting.free[0]
                waiting.free[0] = link
                link = following
            u, v, cost = candidate(run.costs, len(run.state.bits), code)
            bound = contribution_bound(run.state, u, v)
            if bound:
                rank = _rank(run, cost, bound)
                later = _bin(rank) - run.first_bin
                if later > b:
                    waiting = _wait(waiting, later, end, code)
                else:
                    if n == len(ranks):
                        ranks, heap = _longer_floats(ranks), _longer(heap)
                    ranks[n], heap[n] = rank, code
                    n += 1
        heapify(ranks, heap, n)
        while n:
            rank, code = ranks[0], heap[0]
            u, v, cost = candidate(run.costs, len(run.state.bits), code)
            joins = contribution(run.state, u, v)
            picks.numbers[1] += 1
            now = _rank(run, cost, joins) if joins else rank
            if joins and now == rank:
                picks = _pick(run.state, picks, u, v, cost, joins)
                if run.state.apart[0] == 0:
                    return picks
                joins = 0
            later = _bin(now) - run.first_bin
            if joins and later <= b:  # risen within the bin
                ranks[0] = now
                sift_down(ranks, heap, n, 0)
            else:
                n = pop_least(ranks, heap, n)
                if joins:
                    waiting = _wait(waiting, later, end, code)
    return picks


@kernel
def _wait(waiting: _Waiting, b: int, end: int, code: int) -> _Waiting:
    """Let a candidate wait in bin b; beyond the band it is dropped, because the next band finds it again."""
    if b >= end:
        return waiting
    place = waiting.free[0]
    if place < 0:
        n = len(waiting.code)
        waiting = _Waiting(waiting.head, _longer(waiting.code), _longer(waiting.next), waiting.free)
        for i in range(n, 2 * n):
            waiting.next[i] = i + 1
        waiting.next[2 * n - 1] = -1
        place = n
    waiting.free[0] = waiting.next[place]
    waiting.code[place] = code
    waiting.next[place] = waiting.head[b]
    waiting.head[b] = place
    return waiting


@kernel
def _pick(state: Growing, picks: _Picks, u: int, v: int, cost: int, joins: int) -> _Picks:
    n = picks.numbers[0]
    if n == len(picks.rows):
        rows = np.empty((2 * n, 5), np.int64)
        rows[:n] = picks.rows
        picks = _Picks(rows, picks.numbers)
    row = picks.rows[n]
    row[0], row[1], row[2], row[3], row[4] = u, v, cost, joins, join(state, u, v)
    picks.numbers[0] += 1
    return picks


@kernel
def _longer(array: NDArray[np.int64]) -> NDArray[np.int64]:
    longer = np.empty(2 * len(array), np.int64)
    longer[: len(array)] = array
    return longer


@kernel
def _longer_floats(array: NDArray[np.float64]) -> NDArray[np.float64]:
    longer = np.empty(2 * len(array), np.float64)
    longer[: len(array)] = array
    return longer
