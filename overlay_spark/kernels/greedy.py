"""Exact greedy selection: the candidate of least rank first, contributions re-evaluated lazily.

A candidate on the head of the queue whose contribution is still what it was ranked by has the least rank of all.
"""

from __future__ import annotations

from overlay_spark.costs import Costs
from overlay_spark.kernels._jit import leaf
from overlay_spark.kernels.bands import Band, new_members, next_band
from overlay_spark.kernels.growing import Growing, contribution, join
from overlay_spark.kernels.link_costs import candidate
from overlay_spark.kernels.ranks import COST_PER_TOPIC, Run, new_run, nodes_of
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
    selected,
)


def select_links(state: Growing, costs: Costs, rule: int, band: int) -> Selection:
    """Pick links by rising (rank, src, dst), each with a positive contribution, until none has one.

    The rule is COST or COST_PER_TOPIC. ``band`` candidates are held at a time; 0 chooses.
    """
    run, picks, members = new_run(state, costs, rule), new_picks(state), new_members(state)
    start = 0  # bins below this one are done
    while state.apart[0] > 0 and start < run.n_bins:
        held = next_band(run, members, start, band)
        add_band(picks, held)
        _drain(run, held, new_queue(held), picks)
        start = held.end
    return selected(run, picks)


@leaf
def _drain(run: Run, band: Band, queue: Queue, picks: Picks) -> None:
    """Work the bins of a band off, in order."""
    state = run.state
    for b in range(band.start, band.end):
        open_bin(run, band, b, queue)
        while queue.size[0]:
            u, v, cost = candidate(run.costs, nodes_of(run), queue.codes[0])
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
