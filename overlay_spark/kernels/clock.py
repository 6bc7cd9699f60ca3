"""The clock of the primal-dual rule: when two nodes met in a topic, and when a candidate runs tight.

The clock is the sum of all raises of dual variables so far. A topic stops paying for a candidate at the time its ends
met in that topic, so a candidate runs tight at (cost - the times of topics met) / (number of topics not met). Meetings
only postpone that. When two nodes met in a topic needs no table: each component's label hangs below the label that
swallowed it, stamped with the clock, and the answer is the largest stamp on the way between the two. Components are
joined by size, so ways are short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import leaf
from overlay_spark.kernels.growing import (
    Growing,
    merge,
    position,
    reach,
    shared_topics,
    unsettled_in,
)


class Clock(NamedTuple):
    """The time, and since when components of a growing overlay have been together.

    ``up`` and ``stamp``: where a label hangs, and since when; infinite at roots. ``since``: when a position was settled
    in its topic's main component. Two settled at different times met when the later one was.
    """

    up: NDArray[np.int32]
    stamp: NDArray[np.float64]
    since: NDArray[np.float64]
    now: NDArray[np.float64]
    """Two numbers: the clock and the value of the dual."""


def new_clock(state: Growing) -> Clock:
    """The clock at 0, when whatever is together has met."""
    n = len(state.label)
    stamp = np.where(state.label == np.arange(n), np.inf, 0.0)
    return Clock(state.label.copy(), stamp, np.zeros(n), np.zeros(2))


def stopped_clock() -> Clock:
    """For rules that ask for no time."""
    return Clock(np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0))


@leaf
def advance(state: Growing, clock: Clock, time: float) -> None:
    """Let the clock go on to ``time``: all that is apart pays meanwhile."""
    raised = max(0.0, time - clock.now[0])
    clock.now[0] += raised
    clock.now[1] += raised * state.apart[0]


@leaf
def earliest(state: Growing, clock: Clock, u: int, v: int, cost: int, bound: int) -> float:
    """A time before which the candidate cannot run tight, without labels; ``bound`` is that of its contribution.

    Of the topics it shares, at most ``bound`` are not met. The others were met by now, so each has paid at most the
    clock; the rest of the cost, if any, is paid by ``bound`` topics or fewer.
    """
    now = clock.now[0]
    if now == 0:  # nobody has paid, and at least ``bound`` topics are shared
        return cost / bound
    shared = shared_topics(state, u, v)
    rest = cost - shared * now
    return max(cost / shared, now + max(0.0, rest) / bound)


@leaf
def tight_at(state: Growing, clock: Clock, u: int, v: int, cost: int) -> float:
    """The clock at which the candidate runs tight as things stand; -1 where it contributes nothing."""
    paid, apart = 0.0, 0
    j, j_end = state.starts[v], state.starts[v + 1]
    for i in range(state.starts[u], state.starts[u + 1]):
        j = reach(state.word, state.word[i], j, j_end)
        if j == j_end:
            break
        if state.word[i] != state.word[j]:
            continue
        word = state.bits[i] & state.bits[j]
        settled = state.settled[i] & state.settled[j]
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            a, b = position(state.first[i], state.bits[i], bit), position(state.first[j], state.bits[j], bit)
            if settled & bit and clock.since[a] != clock.since[b]:
                paid += max(clock.since[a], clock.since[b])
            elif settled & bit or state.label[a] == state.label[b]:
                paid += _met_at(clock.up, clock.stamp, a, b)
            else:
                apart += 1
    return (cost - paid) / apart if apart else -1.0


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


@leaf
def join_now(state: Growing, clock: Clock, u: int, v: int) -> int:
    """Add link (u, v), and stamp what it joins with the clock; give back the lowest topic it joins, -1 if none."""
    lowest = -1
    j, j_end = state.starts[v], state.starts[v + 1]
    for i in range(state.starts[u], state.starts[u + 1]):
        j = reach(state.word, state.word[i], j, j_end)
        if j == j_end:
            break
        if state.word[i] != state.word[j]:
            continue
        word = unsettled_in(state, i, j)
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            at = position(state.first[i], state.bits[i], bit)
            topic, a, b = state.topics[at], state.label[at], state.label[position(state.first[j], state.bits[j], bit)]
            if a != b:
                if state.main[topic] == a or state.main[topic] == b:
                    _settle_now(state, clock, b if state.size[b] <= state.size[a] else a)
                main = state.main[topic]
                gone = merge(state, topic, bit, a, b)
                kept = b if gone == a else a
                if state.main[topic] == kept and main != kept:
                    _settle_now(state, clock, kept)
                clock.up[gone] = kept
                clock.stamp[gone] = clock.now[0]
                if lowest < 0:
                    lowest = topic
    return lowest


@leaf
def _settle_now(state: Growing, clock: Clock, label: int) -> None:
    """Note for a component's members that they are settled now."""
    at = label
    while True:
        clock.since[at] = clock.now[0]
        at = state.ring[at]
        if at == label:
            break
