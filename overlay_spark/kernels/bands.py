"""Bands: the candidates of the next few bins, held together, enumerated from the lists of who wants what.

For a node, go over its topics: where it is not settled count every member, where it is only members that are not. How
often a partner is counted is the bound on the contribution, of exactly the pairs in which it is above 0 - no bitset is
looked at, and the work shrinks with what is unsettled. Where a band should end is told by a sample of the nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import LISTED
from overlay_spark.kernels._jit import inlined, kernel, leaf
from overlay_spark.kernels.growing import Growing, contribution_bound
from overlay_spark.kernels.link_costs import candidate, cost_between
from overlay_spark.kernels.ranks import Run, bin_in, least_rank, nodes_of

BANDS = 20
LEAST_BAND, MOST_BAND = 1 << 16, 1 << 26
"""How many candidates a band has: a share of all there are, but not too few to be worth it nor too many to hold."""

SAMPLE = 1 << 22
"""About how many pairs of members a sample goes over."""
LEAST_SAMPLED = 200
"""How many nodes are sampled at least."""


class Band(NamedTuple):
    """The bins in [start, end), held together: bin b has ``codes[places[b]:places[b + 1]]``."""

    start: int
    end: int
    places: NDArray[np.int64]
    codes: NDArray[np.int64]


class Members(NamedTuple):
    """Who wants each topic, by rising node, and who of them is not settled in it.

    Topic t has ``node[starts[t]:starts[t + 1]]``, and ``unsettled`` from ``starts[t]`` to before ``ends[t]``; those
    before ``passed[t]`` and ``passed_unsettled[t]`` have had their turn. ``position`` is that of the subscription.
    """

    starts: NDArray[np.int64]
    node: NDArray[np.int32]
    position: NDArray[np.int32]
    unsettled: NDArray[np.int32]
    ends: NDArray[np.int64]
    passed: NDArray[np.int64]
    passed_unsettled: NDArray[np.int64]
    count: NDArray[np.int32]
    """By node: how many topics the pair with the node whose turn it is can still join; 0 between turns."""
    counted: NDArray[np.int32]
    """Room for the nodes that are counted in a turn."""


class Catch(NamedTuple):
    """Candidates caught so far: how many by bin, and where ``codes`` has room, which, and each one's bin.

    ``numbers``: how many there are, and the band's first bin and the one after its last.
    """

    counts: NDArray[np.int64]
    codes: NDArray[np.int64]
    bins: NDArray[np.int32]
    numbers: NDArray[np.int64]


def new_members(state: Growing) -> Members:
    """The lists of all topics."""
    n_topics, n_nodes = len(state.main), len(state.offsets) - 1
    position = np.argsort(state.topics, kind="stable").astype(np.int32)
    starts = np.searchsorted(state.topics[position], np.arange(n_topics + 1))
    node = np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(state.offsets))[position]
    ends, passed, passed_unsettled = np.zeros((3, n_topics), np.int64)
    count, counted = np.zeros((2, n_nodes), np.int32)
    return Members(starts, node, position, np.empty_like(node), ends, passed, passed_unsettled, count, counted)


def next_band(run: Run, members: Members, start: int, room: int) -> Band:
    """The bins from ``start`` on that together have about ``room`` candidates (0 chooses), with their candidates."""
    catch = _caught(run, members, start, room)
    n, end = catch.numbers[0], int(catch.numbers[2])
    places = np.zeros(run.n_bins + 1, np.int64)
    np.cumsum(catch.counts, out=places[1:])
    return Band(start, end, places, in_bins(places[:-1].copy(), catch.codes[:n], catch.bins[:n]))


def _caught(run: Run, members: Members, start: int, room: int) -> Catch:
    """The candidates of the band that begins at ``start``, in the order of their codes."""
    n_nodes = len(members.count)
    turns, row = (len(run.costs.src), 1) if run.costs.kind == LISTED else (n_nodes, n_nodes)  # most a turn may catch
    pairs = look(run, members)
    end, most = run.n_bins, pairs
    if pairs > (room or LEAST_BAND):
        every = max(1, min(pairs // SAMPLE, turns // LEAST_SAMPLED))
        counts = sampled(run, members, start, every)
        chosen = room or min(MOST_BAND, max(LEAST_BAND, int(counts.sum()) // BANDS))
        end, most = band_end(counts, start, chosen), 2 * chosen
        look(run, members)
    catch = new_catch(run, start, end, min(pairs, most) + 1)
    turn = 0
    while (turn := gather(run, members, catch, turn, 1)) < turns:
        catch = with_room(catch, row)  # there are more than the sample told
    return catch


def sampled(run: Run, members: Members, start: int, every: int) -> NDArray[np.int64]:
    """About how many candidates each bin from ``start`` on has, by one in ``every`` node (or listed link)."""
    catch = new_catch(run, start, run.n_bins, 0)
    gather(run, members, catch, 0, every)
    return catch.counts * every


def new_catch(run: Run, start: int, end: int, room: int) -> Catch:
    """Nothing is caught yet; without ``room``, candidates are only counted."""
    numbers = np.array([0, start, end])
    return Catch(np.zeros(run.n_bins, np.int64), np.empty(room, np.int64), np.empty(room, np.int32), numbers)


def band_end(counts: NDArray[np.int64], start: int, room: int) -> int:
    """The bin after the last that fits a band with those from ``start`` on.

    The first comes on top, because there wait all candidates whose bounds lie below it.
    """
    held = np.cumsum(counts[start:])
    return start + int(np.searchsorted(held, room + counts[start], side="right"))


def with_room(catch: Catch, row: int) -> Catch:
    """The same with room for ``row`` more: the last bins are left to the next band, or else the room grows."""
    room, (n, start, end) = len(catch.codes), catch.numbers.tolist()
    end = min(end, band_end(catch.counts, start, room // 2))
    kept = np.flatnonzero(catch.bins[:n] < end)
    n, counts = len(kept), catch.counts.copy()
    counts[end:] = 0
    room = room if n + row <= room // 4 * 3 else 2 * room + row
    codes, bins = np.empty(room, np.int64), np.empty(room, np.int32)
    codes[:n], bins[:n] = catch.codes[kept], catch.bins[kept]
    return Catch(counts, codes, bins, np.array([n, start, end]))


@kernel
def in_bins(places: NDArray[np.int64], codes: NDArray[np.int64], bins: NDArray[np.int32]) -> NDArray[np.int64]:
    """The codes sorted by bin, those of one bin in their order; ``places`` is where each bin begins, and moves on."""
    out = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        b = bins[i]
        out[places[b]] = codes[i]
        places[b] += 1
    return out


@leaf
def look(run: Run, members: Members) -> int:
    """Begin anew with all turns, unsettled as they are now; give back how many candidates there are at most."""
    state, pairs = run.state, 0
    if run.costs.kind == LISTED:
        return len(run.costs.src)
    for t in range(len(state.main)):
        first, n = members.starts[t], members.starts[t]
        for at in range(first, members.starts[t + 1]):
            if state.label[members.position[at]] != state.main[t]:
                members.unsettled[n] = members.node[at]
                n += 1
        members.ends[t] = n
        members.passed[t] = members.passed_unsettled[t] = first
        size, settled = members.starts[t + 1] - first, members.starts[t + 1] - n
        pairs += (size * (size - 1) - settled * (settled - 1)) // 2
    return pairs


@leaf
def gather(run: Run, members: Members, catch: Catch, turn: int, every: int) -> int:
    """Catch the candidates of one in ``every`` node from ``turn`` on, with the nodes after it; of listed links, those.

    Gives back the first turn there was no room for, else how many turns there are.
    """
    if run.costs.kind == LISTED:
        return _from_list(run, catch, turn, every)
    state = run.state
    for u in range(turn, nodes_of(run)):
        is_asked = every == 1 or _is_drawn(u, every)
        pairs = 0
        for at in range(state.offsets[u], state.offsets[u + 1]):
            t = state.topics[at]
            if state.label[at] == state.main[t]:
                pairs += members.ends[t] - members.passed_unsettled[t]
            else:
                pairs += members.starts[t + 1] - members.passed[t]
        if is_asked and not _has_room(catch, min(pairs, nodes_of(run) - u)):
            return u
        _take_turn(run, members, catch, u, is_asked, 2 * pairs > nodes_of(run) - u)
    return nodes_of(run)


@inlined
def _has_room(catch: Catch, candidates: int) -> bool:
    return len(catch.codes) == 0 or catch.numbers[0] + candidates <= len(catch.codes)


@inlined
def _is_drawn(number: int, every: int) -> bool:
    """Whether a number is in a sample of one in ``every``, in no step with any period of the numbers."""
    return ((number * 2654435769 & 0xFFFFFFFF) >> 8) % every == 0


@leaf
def _take_turn(run: Run, members: Members, catch: Catch, u: int, is_asked: bool, is_dense: bool) -> None:
    """Count u's partners and catch them; without being asked it is only passed."""
    state, n = run.state, 0
    for at in range(state.offsets[u], state.offsets[u + 1]):
        t = state.topics[at]
        members.passed[t] += 1
        is_settled = state.label[at] == state.main[t]
        if not is_settled:
            members.passed_unsettled[t] += 1
        if not is_asked:
            continue
        others, first, end = members.node, members.passed[t], members.starts[t + 1]
        if is_settled:
            others, first, end = members.unsettled, members.passed_unsettled[t], members.ends[t]
        if is_dense:
            for i in range(first, end):
                members.count[others[i]] += 1
            continue
        for i in range(first, end):
            v = others[i]
            if members.count[v] == 0:
                members.counted[n] = v
                n += 1
            members.count[v] += 1
    if not is_asked:
        return
    if is_dense:
        for v in range(u + 1, nodes_of(run)):
            if members.count[v]:
                _catch_pair(run, members, catch, u, v)
    else:
        for i in range(n):
            _catch_pair(run, members, catch, u, members.counted[i])


@inlined
def _catch_pair(run: Run, members: Members, catch: Catch, u: int, v: int) -> None:
    v = np.int64(v)
    bound = members.count[v]
    members.count[v] = 0
    cost = cost_between(run.costs, u, v)
    _catch(run, catch, u, v, cost, bound, u * nodes_of(run) + v)


@leaf
def _from_list(run: Run, catch: Catch, turn: int, every: int) -> int:
    for code in range(turn, len(run.costs.src)):
        if every > 1 and not _is_drawn(code, every):
            continue
        if not _has_room(catch, 1):
            return code
        u, v, cost = candidate(run.costs, nodes_of(run), code)
        bound = contribution_bound(run.state, u, v)
        if bound:
            _catch(run, catch, u, v, cost, bound, code)
    return len(run.costs.src)


@inlined
def _catch(run: Run, catch: Catch, u: int, v: int, cost: int, bound: int, code: int) -> None:
    """Note a candidate, if its bin is one of the band's.

    One whose bound ranks it below the band ranks higher in truth, so it waits in the first bin.
    """
    b = max(catch.numbers[1], bin_in(run, least_rank(run, u, v, cost, bound)))
    if b < catch.numbers[2]:
        catch.counts[b] += 1
        if len(catch.codes):
            n = catch.numbers[0]
            catch.codes[n], catch.bins[n] = code, b
            catch.numbers[0] = n + 1
