"""Primal-dual selection on a clock: the candidate that runs tight first, found by lazy evaluation.

The clock is the sum of all raises of dual variables so far. A topic stops paying for a candidate at the time its ends
met in that topic, so a candidate runs tight at (cost - the times of topics met) / (number of topics not met). Meetings
only postpone that, so stale times are lower bounds and a queue of them is exact. When two nodes met in a topic needs
no table: each component's label hangs below the label that swallowed it, stamped with the clock, and the answer is the
largest stamp on the way between the two. Components are joined by size, so ways are short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, Costs
from overlay_spark.kernels._jit import kernel, leaf, popcount
from overlay_spark.kernels.components import Growing, contribution, contribution_bound, merge, position
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
    longer,
    longer_floats,
    nobody_waits,
    wait,
)

TIE = 1e-9
"""Candidates that run tight within this part of the least time tie; the lowest (src, dst) of them is picked."""


class Tight(NamedTuple):
    """Links in the order they were picked, each with the clock of its pick, and the value of the dual."""

    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    cost: NDArray[np.int64]
    contribution: NDArray[np.int64]
    clock: NDArray[np.float64]
    dual: float
    evaluations: int


class _Run(NamedTuple):
    """What stays the same in one run.

    ``up`` and ``stamp``: where a label hangs, and since when; infinite at roots. ``since``: when a position was settled
    in its topic's main component. Two settled at different times met when the later one was.
    """

    state: Growing
    costs: Costs
    first_codes: NDArray[np.int64]
    up: NDArray[np.int32]
    stamp: NDArray[np.float64]
    since: NDArray[np.float64]
    now: NDArray[np.float64]
    """Two numbers: the clock and the value of the dual."""
    first_bin: int


class _Picks(NamedTuple):
    """Rows (src, dst, cost, contribution) and their clocks; ``numbers`` counts rows and evaluations."""

    rows: NDArray[np.int64]
    clocks: NDArray[np.float64]
    numbers: NDArray[np.int64]


class _Heap(NamedTuple):
    """Candidates of opened bins by (time, code); ``size`` is one number."""

    times: NDArray[np.float64]
    codes: NDArray[np.int64]
    size: NDArray[np.int64]


@kernel
def select_tight_links(state: Growing, costs: Costs, band: int) -> Tight:
    """Pick links by rising (time of running tight, src, dst), until none contributes to any topic.

    ``band`` candidates are held at a time; 0 chooses.
    """
    n_nodes, n = len(state.bits), len(state.label)
    first_bin, n_bins = bins_of(len(state.main))
    codes_of = first_codes(costs, n_nodes)
    up, stamp, since = np.zeros(n, np.int32), np.full(n, np.inf), np.zeros(n, np.float64)
    run = _Run(state, costs, codes_of, up, stamp, since, np.zeros(2, np.float64), first_bin)
    picks = _Picks(np.empty((max(16, n_nodes), 4), np.int64), np.empty(max(16, n_nodes)), np.zeros(2, np.int64))
    start = 0  # bins below this one are done
    while state.apart[0] > 0 and start < n_bins:
        counts = np.zeros(n_bins, np.int64)
        _scan(run, start, n_bins, counts, np.empty(0, np.int64))
        if band == 0:
            band = max(LEAST_BAND, counts.sum() // BANDS)
        places, end = band_places(counts, start, band)
        codes = np.empty(places[end], np.int64)
        _scan(run, start, end, places[:n_bins].copy(), codes)
        picks = _drain(run, start, end, places, codes, picks)
        start = end
    found = picks.numbers[0]
    rows = picks.rows[:found].copy()
    clocks = picks.clocks[:found].copy()
    return Tight(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], clocks, run.now[1], picks.numbers[1])


@leaf
def _earliest(run: _Run, u: int, v: int, cost: int) -> float:
    """A time before which the candidate cannot run tight, from bitsets alone; -1 where it contributes nothing.

    It shares s topics, and at most m of them are not met. The others were met by now, so each has paid at most the
    clock; the rest of the cost, if any, is paid by m topics or fewer.
    """
    state, clock = run.state, run.now[0]
    shared, open_ = 0, 0
    for k in range(state.bits.shape[1]):
        word = state.bits[u, k] & state.bits[v, k]
        shared += popcount(word)
        open_ += popcount(word & ~(state.settled[u, k] & state.settled[v, k]))
    if open_ == 0:
        return -1.0
    rest = cost - shared * clock
    return max(cost / shared, clock + max(0.0, rest) / open_)


@leaf
def _tight_at(run: _Run, u: int, v: int, cost: int) -> float:
    """The clock at which the candidate runs tight as things stand; -1 where it contributes nothing."""
    state = run.state
    apart = contribution(state, u, v)
    if apart == 0:
        return -1.0
    paid = 0.0
    for k in range(state.bits.shape[1]):
        word = state.bits[u, k] & state.bits[v, k]
        settled = state.settled[u, k] & state.settled[v, k]
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            i, j = position(state, u, k, bit), position(state, v, k, bit)
            if settled & bit and run.since[i] != run.since[j]:
                paid += max(run.since[i], run.since[j])
            elif settled & bit or state.label[i] == state.label[j]:
                paid += _met_at(run.up, run.stamp, i, j)
    return (cost - paid) / apart


@leaf
def _met_at(up: NDArray[np.int32], stamp: NDArray[np.float64], i: int, j: int) -> float:
    """When two positions of one component came together: stamps rise on the way up, so the lower one climbs."""
    last = 0.0
    while i != j:
        if stamp[i] <= stamp[j]:
            last, i = stamp[i], up[i]
        else:
            last, j = stamp[j], up[j]
    return last


@kernel
def _scan(run: _Run, start: int, end: int, places: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
    """Advance ``places[bin]`` for every live candidate of the bins in [start, end); write its code there if asked."""
    n_nodes = len(run.state.bits)
    write = len(codes) > 0
    for u in range(n_nodes):
        low, high = run.first_codes[u], run.first_codes[u + 1]
        if run.costs.kind != LISTED:
            low += u + 1
        for code in range(low, high):
            v = np.int64(run.costs.dst[code]) if run.costs.kind == LISTED else code - run.first_codes[u]
            if contribution_bound(run.state, u, v):
                time = _earliest(run, u, v, candidate(run.costs, n_nodes, code)[2])
                at = max(start, bin_of(time) - run.first_bin)
                if at < end:
                    if write:
                        codes[places[at]] = code
                    places[at] += 1


@kernel
def _drain(
    run: _Run, start: int, end: int, places: NDArray[np.int64], codes: NDArray[np.int64], picks: _Picks
) -> _Picks:
    """Work the bins in [start, end) off; bin b holds ``codes[places[b]:places[b + 1]]`` and its chain.

    What is left near the end of the last bin, where the next band may hold a tie, is left to the next band.
    """
    waiting = nobody_waits(end)
    heap = _Heap(np.empty(64, np.float64), np.empty(64, np.int64), np.zeros(1, np.int64))
    ties = np.empty(64, np.int64)
    opened = start
    while run.state.apart[0] > 0:
        while heap.size[0] == 0 or bin_of(heap.times[0] * (1 + TIE)) - run.first_bin >= opened:
            if opened == end:
                return picks
            heap, waiting = _open(run, opened, end, codes[places[opened] : places[opened + 1]], heap, waiting)
            opened += 1
        code, stale = heap.codes[0], heap.times[0]
        time = _evaluate(run, code, picks)
        if time < 0:
            heap.size[0] = pop_least(heap.times, heap.codes, heap.size[0])
        elif time > stale:
            if bin_of(time) - run.first_bin < opened:
                heap.times[0] = time
                sift_down(heap.times, heap.codes, heap.size[0], 0)
            else:
                heap.size[0] = pop_least(heap.times, heap.codes, heap.size[0])
                waiting = wait(waiting, bin_of(time) - run.first_bin, end, code)
        else:  # the least of all: what ties with it is picked in the order of codes, as long as it ties
            latest = time * (1 + TIE)
            heap.size[0] = pop_least(heap.times, heap.codes, heap.size[0])
            ties[0] = code
            n = 1
            while heap.size[0] and heap.times[0] <= latest:
                code = heap.codes[0]
                heap.size[0] = pop_least(heap.times, heap.codes, heap.size[0])
                again = _evaluate(run, code, picks)
                if 0 <= again <= latest:
                    if n == len(ties):
                        ties = longer(ties)
                    ties[n] = code
                    n += 1
                elif again >= 0:
                    heap, waiting = _put_back(run, again, code, opened, end, heap, waiting)
            _advance(run, time)
            ties[:n].sort()
            for i in range(n):
                again = _evaluate(run, ties[i], picks) if i else time
                if 0 <= again <= latest:
                    picks = _pick(run, ties[i], picks)
                elif again >= 0:
                    heap, waiting = _put_back(run, again, ties[i], opened, end, heap, waiting)
    return picks


@kernel
def _open(
    run: _Run, b: int, end: int, codes: NDArray[np.int64], heap: _Heap, waiting: Waiting
) -> tuple[_Heap, Waiting]:
    """Put the candidates of bin b on the heap; those that have moved beyond it wait on."""
    n = heap.size[0]
    times, heaped = heap.times, heap.codes
    at, link = 0, waiting.head[b]
    while at < len(codes) or link >= 0:
        if at < len(codes):
            code = codes[at]
            at += 1
        else:
            code = waiting.code[link]
            link = leave(waiting, link)
        u, v, cost = candidate(run.costs, len(run.state.bits), code)
        time = _earliest(run, u, v, cost)
        if time >= 0:
            later = bin_of(time) - run.first_bin
            if later > b:
                waiting = wait(waiting, later, end, code)
            else:
                if n == len(times):
                    times, heaped = longer_floats(times), longer(heaped)
                times[n], heaped[n] = time, code
                n += 1
    heapify(times, heaped, n)
    heap.size[0] = n
    return _Heap(times, heaped, heap.size), waiting


@kernel
def _put_back(
    run: _Run, time: float, code: int, opened: int, end: int, heap: _Heap, waiting: Waiting
) -> tuple[_Heap, Waiting]:
    """Let a candidate that runs tight later wait for its time."""
    b = bin_of(time) - run.first_bin
    if b >= opened:
        return heap, wait(waiting, b, end, code)
    if heap.size[0] == len(heap.times):
        heap = _Heap(longer_floats(heap.times), longer(heap.codes), heap.size)
    heap.size[0] = push(heap.times, heap.codes, heap.size[0], time, code)
    return heap, waiting


@leaf
def _evaluate(run: _Run, code: int, picks: _Picks) -> float:
    u, v, cost = candidate(run.costs, len(run.state.bits), code)
    picks.numbers[1] += 1
    return _tight_at(run, u, v, cost)


@leaf
def _advance(run: _Run, time: float) -> None:
    """Let the clock go on to ``time``: all that is apart pays meanwhile."""
    raised = max(0.0, time - run.now[0])
    run.now[0] += raised
    run.now[1] += raised * run.state.apart[0]


@kernel
def _pick(run: _Run, code: int, picks: _Picks) -> _Picks:
    """Add a link, and stamp what it joins with the clock."""
    n = picks.numbers[0]
    if n == len(picks.rows):
        rows = np.empty((2 * n, 4), np.int64)
        rows[:n] = picks.rows
        picks = _Picks(rows, longer_floats(picks.clocks), picks.numbers)
    u, v, cost = candidate(run.costs, len(run.state.bits), code)
    row = picks.rows[n]
    row[0], row[1], row[2], row[3] = u, v, cost, _join(run, u, v)
    picks.clocks[n] = run.now[0]
    picks.numbers[0] += 1
    return picks


@kernel
def _join(run: _Run, u: int, v: int) -> int:
    """Join what link (u, v) joins; give back in how many topics."""
    state, joined = run.state, 0
    for k in range(state.bits.shape[1]):
        word = state.bits[u, k] & state.bits[v, k] & ~(state.settled[u, k] & state.settled[v, k])
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            a, b = state.label[position(state, u, k, bit)], state.label[position(state, v, k, bit)]
            if a != b:
                topic = 64 * k + popcount(bit - np.uint64(1))
                if state.main[topic] == a or state.main[topic] == b:
                    _settle_now(run, b if state.size[b] <= state.size[a] else a)
                main = state.main[topic]
                gone = merge(state, topic, k, bit, a, b)
                kept = b if gone == a else a
                if state.main[topic] == kept and main != kept:
                    _settle_now(run, kept)
                run.up[gone] = kept
                run.stamp[gone] = run.now[0]
                joined += 1
    return joined


@leaf
def _settle_now(run: _Run, label: int) -> None:
    """Note for a component's members that they are settled now."""
    at = label
    while True:
        run.since[at] = run.now[0]
        at = run.state.ring[at]
        if at == label:
            break
