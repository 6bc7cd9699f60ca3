"""Exact greedy selection: the candidate of least rank first, contributions re-evaluated lazily.

A candidate on the head of the queue whose contribution is still what it was ranked by has the least rank of all.
"""

from __future__ import annotations

from overlay_spark.costs import Costs
from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.growing import Growing, contribution, join
from overlay_spark.kernels.link_costs import candidate
from overlay_spark.kernels.selection import (
    COST_PER_TOPIC,
    Band,
    Picks,
    Run,
    Selection,
    add_pick,
    drop_head,
    lower_head,
    new_picks,
    new_queue,
    new_run,
    next_band,
    open_bin,
    selected,
)


@kernel
def select_links(state: Growing, costs: Costs, rule: int, band: int) -> Selection:
    """Pick links by rising (rank, src, dst), each with a positive contribution, until none has one.

    The rule is COST or COST_PER_TOPIC. ``band`` candidates are held at a time; 0 chooses.
    """
    run, picks = new_run(state, costs, rule), new_picks(state)
    start = 0  # bins below this one are done
    while state.apart[0] > 0 and start < run.n_bins:
        held = next_band(run, picks, start, band)
        _drain(run, held, picks)
        start = held.end
    return selected(run, picks)


@kernel
def _drain(run: Run, band: Band, picks: Picks) -> None:
    """Work the bins of a band off, in order."""
    state, queue = run.state, new_queue(band)
    for b in range(band.start, band.end):
        open_bin(run, band, b, queue)
        while queue.size[0]:
            u, v, cost = candidate(run.costs, len(state.bits), queue.codes[0])
            joins = contribution(state, u, v)
            picks.numbers[1] += 1
            rank = 0.0
            if joins:
                rank = cost / joins if run.rule == COST_PER_TOPIC else float(cost)
            if joins and rank > queue.ranks[0]:
                lower_head(run, band, b + 1, queue, rank)
                continue
            drop_head(queue)
            if joins:
                add_pick(picks, u, v, cost, joins, join(state, u, v), rank)
                if state.apart[0] == 0:
                    return
