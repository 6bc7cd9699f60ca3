"""Primal-dual selection on a clock: the candidate that runs tight first, found by lazy evaluation.

Stale times are lower bounds (kernels/clock.py), so a queue of them is exact. Times are sums of many quotients, which
exact arithmetic would find equal and doubles do not: what runs tight at nearly the same time ties.
"""

from __future__ import annotations

import numpy as np

from overlay_spark.costs import Costs
from overlay_spark.kernels._jit import kernel, leaf
from overlay_spark.kernels.bands import Band, new_members, next_band
from overlay_spark.kernels.clock import advance, join_now, tight_at
from overlay_spark.kernels.growing import Growing
from overlay_spark.kernels.link_costs import candidate
from overlay_spark.kernels.ranks import TIGHT, Run, new_run, nodes_of
from overlay_spark.kernels.selection import (
    Picks,
    Queue,
    Selection,
    add_band,
    add_pick,
    drop_head,
    lower_head,
    new_picks,
    new_queue,
    open_bin,
    put_back,
    selected,
)
from overlay_spark.kernels.waiting import bin_of

TIE = 1e-9
"""Candidates that run tight within this part of the least time tie; the lowest (src, dst) of them is picked."""


def select_tight_links(state: Growing, costs: Costs, band: int) -> Selection:
    """Pick links by rising (time of running tight, src, dst), until none contributes to any topic.

    Links that are there already have joined at time 0. ``band`` candidates are held at a time; 0 chooses.
    """
    run, picks, members = new_run(state, costs, TIGHT), new_picks(state), new_members(state)
    start = 0  # bins below this one are done
    while state.apart[0] > 0 and start < run.n_bins:
        held = next_band(run, members, start, band)
        add_band(picks, held)
        _drain(run, held, new_queue(held), picks)
        start = held.end
    return selected(run, picks)


@kernel
def _drain(run: Run, band: Band, queue: Queue, picks: Picks) -> None:
    """Work the bins of a band off, in order.

    What is left near the end of the last bin, where the next band may hold a tie, is left to the next band.
    """
    ties = np.empty(64, np.int64)
    opened = band.start
    while run.state.apart[0] > 0:
        while queue.size[0] == 0 or bin_of(queue.ranks[0] * (1 + TIE)) - run.first_bin >= opened:
            if opened == band.end:
                return
            open_bin(run, band, opened, queue)
            opened += 1
        code, stale = queue.codes[0], queue.ranks[0]
        time = _evaluate(run, code, picks)
        if time > stale:
            lower_head(run, band, opened, queue, time)
            continue
        drop_head(queue)
        if time < 0:
            continue
        latest = time * (1 + TIE)  # the least of all: what ties is picked in the order of codes, as long as it ties
        ties[0] = code
        n = 1
        while queue.size[0] and queue.ranks[0] <= latest:
            code = queue.codes[0]
            drop_head(queue)
            again = _evaluate(run, code, picks)
            if 0 <= again <= latest:
                if n == len(ties):
                    ties = np.append(ties, ties)
                ties[n] = code
                n += 1
            elif again >= 0:
                put_back(run, band, opened, queue, again, code)
        advance(run.state, run.clock, time)
        ties[:n].sort()
        for i in range(n):
            again = _evaluate(run, ties[i], picks) if i else time
            if 0 <= again <= latest:
                _pick(run, ties[i], picks)
            elif again >= 0:
                put_back(run, band, opened, queue, again, ties[i])


@leaf
def _evaluate(run: Run, code: int, picks: Picks) -> float:
    u, v, cost = candidate(run.costs, nodes_of(run), code)
    picks.numbers[1] += 1
    return tight_at(run.state, run.clock, u, v, cost)


@leaf
def _pick(run: Run, code: int, picks: Picks) -> None:
    """Add a link, and stamp what it joins with the clock."""
    u, v, cost = candidate(run.costs, nodes_of(run), code)
    apart = run.state.apart[0]
    lowest = join_now(run.state, run.clock, u, v)
    add_pick(picks, u, v, cost, apart - run.state.apart[0], lowest, run.clock.now[0])
