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

from overlay_spark.costs import LISTED, Costs
from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.components import Growing, contribution, contribution_bound, join
from overlay_spark.kernels.heaps import heapify, pop_least, sift_down
from overlay_spark.kernels.link_costs import candidate, first_codes
from overlay_spark.kernels.waiting import (
    BANDS,
    LEAST_BAND,
    band_places,
    bin_of,
    bins_of,
    leave,
    longer,
    longer_floats,
    nobody_waits,
    wait,
)


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
    first_bin, n_bins = bins_of(len(state.main))
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
        places, end = band_places(counts, start, band)
        codes = np.empty(places[end], np.int64)
        _scan(run, start, end, places[:n_bins].copy(), codes)
        picks = _drain(run, start, end, places, codes, picks)
        bands += 1
        start = end
    rows = picks.rows[: picks.numbers[0]].copy()
    return Selection(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4], candidates, picks.numbers[1], bands)


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
                at = max(start, bin_of(_rank(run, cost, bound)) - run.first_bin)
                if at < end:
                    if write:
                        codes[places[at]] = code
                    places[at] += 1


@kernel
def _drain(
    run: _Run, start: int, end: int, places: NDArray[np.int64], codes: NDArray[np.int64], picks: _Picks
) -> _Picks:
    """Work the bins in [start, end) off, in order; bin b holds ``codes[places[b]:places[b + 1]]`` and its chain."""
    waiting = nobody_waits(end)
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
                link = leave(waiting, link)
            u, v, cost = candidate(run.costs, len(run.state.bits), code)
            bound = contribution_bound(run.state, u, v)
            if bound:
                rank = _rank(run, cost, bound)
                later = bin_of(rank) - run.first_bin
                if later > b:
                    waiting = wait(waiting, later, end, code)
                else:
                    if n == len(ranks):
                        ranks, heap = longer_floats(ranks), longer(heap)
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
            later = bin_of(now) - run.first_bin
            if joins and later <= b:  # risen within the bin
                ranks[0] = now
                sift_down(ranks, heap, n, 0)
            else:
                n = pop_least(ranks, heap, n)
                if joins:
                    waiting = wait(waiting, later, end, code)
    return picks


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
