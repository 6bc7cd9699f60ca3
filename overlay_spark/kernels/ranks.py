"""What a candidate's rank is: one number says which rule, one branch that always goes the same way applies it."""

from __future__ import annotations

from typing import NamedTuple

from overlay_spark.costs import Costs
from overlay_spark.kernels._jit import inlined
from overlay_spark.kernels.clock import Clock, earliest, new_clock, stopped_clock
from overlay_spark.kernels.growing import Growing
from overlay_spark.kernels.waiting import bin_of, bins_of

COST = 0
"""The rank is the cost."""
COST_PER_TOPIC = 1
"""The rank is cost / contribution."""
TIGHT = 2
"""The rank is the time on the clock at which the candidate runs tight."""


class Run(NamedTuple):
    """What stays the same in one run: the growing overlay, the costs, the rule of rank, and the bins of ranks."""

    state: Growing
    costs: Costs
    rule: int
    first_bin: int
    n_bins: int
    clock: Clock


def new_run(state: Growing, costs: Costs, rule: int) -> Run:
    """A run from an overlay that may have links already."""
    first_bin, n_bins = bins_of(len(state.main))
    clock = new_clock(state) if rule == TIGHT else stopped_clock()
    return Run(state, costs, rule, first_bin, n_bins, clock)


@inlined
def nodes_of(run: Run) -> int:
    """How many nodes there are."""
    return len(run.state.starts) - 1


@inlined
def least_rank(run: Run, u: int, v: int, cost: int, bound: int) -> float:
    """A rank the candidate cannot be below; ``bound`` is that of its contribution, above 0."""
    if run.rule == COST_PER_TOPIC:
        return cost / bound
    if run.rule == COST:
        return float(cost)
    return earliest(run.state, run.clock, u, v, cost, bound)


@inlined
def bin_in(run: Run, rank: float) -> int:
    """The bin of a rank, counted from the run's first."""
    return bin_of(rank) - run.first_bin
