"""Backups of nodes: others that together want all of a node's topics, in one or more layers (003 Alg. 11 and 12)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel


class Wants(NamedTuple):
    """Node v wants ``topics[offsets[v]:offsets[v + 1]]``; topic t is wanted by ``members[starts[t]:starts[t + 1]]``."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.int32]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]


class Backups(NamedTuple):
    """Node i of those asked for has ``nodes[starts[i]:starts[i + 1]]``, in the order chosen, each with its layer."""

    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    layers: NDArray[np.int32]


class _Room(NamedTuple):
    """What a search for backups notes of each node: whose backup it is, how many open topics it would cover, what is
    left of its weight and since which layer that counts."""

    backup_of: NDArray[np.int32]
    covers: NDArray[np.int32]
    rest: NDArray[np.int64]
    since: NDArray[np.int64]


@kernel
def build_backups(
    wants: Wants,
    nodes: NDArray[np.int32],
    old: Backups,
    weights: NDArray[np.int64],
    layers: int,
    greedy: bool,
    draws: NDArray[np.uint64],
) -> Backups:
    """The backups of each of these nodes, one after the other: ``layers`` disjoint covers of its topics.

    A node's weight is its degree and the number of nodes it is backup of: ``weights`` falls for the ``old`` backups of
    a node, which it gives up, and rises for the new ones. ``draws`` is the state of the generator that draws which
    topic is covered next; empty, it is the lowest. Greedy draws nothing. A topic that nobody else wants stays open.
    """
    n_nodes = len(wants.offsets) - 1
    room = _Room(
        np.full(n_nodes, -1, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
    )
    starts, most = np.zeros(len(nodes) + 1, np.int64), 0
    for v in nodes:
        most += layers * (wants.offsets[v + 1] - wants.offsets[v])
    chosen, layer_of = np.empty(most, np.int32), np.empty(most, np.int32)
    is_open = np.zeros(len(wants.starts), np.bool_)
    n, clock = 0, 0
    for i in range(len(nodes)):
        v = nodes[i]
        for at in range(old.starts[i], old.starts[i + 1]):
            weights[old.nodes[at]] -= 1
        room.backup_of[v] = v
        for layer in range(layers):
            clock += 1
            first = n
            if greedy:
                n = _cover_greedily(wants, v, weights, room, is_open, chosen, n)
            else:
                n = _cover_by_topic(wants, v, weights, room, clock, draws, chosen, n)
            for at in range(first, n):
                layer_of[at] = layer
                weights[chosen[at]] += 1
        starts[i + 1] = n
    return Backups(starts, chosen[:n].copy(), layer_of[:n].copy())


@kernel
def _cover_by_topic(
    wants: Wants,
    v: int,
    weights: NDArray[np.int64],
    room: _Room,
    clock: int,
    draws: NDArray[np.uint64],
    chosen: NDArray[np.int32],
    n: int,
) -> int:
    """One cover by the primal-dual method (003 Alg. 12): for a topic, whoever of those that want it has least weight
    left, above 0 if there is one; the others' weights fall by as much. How many backups there are then."""
    open_topics = wants.topics[wants.offsets[v] : wants.offsets[v + 1]].copy()
    n_open = len(open_topics)
    while n_open:
        pick = 0
        if len(draws):
            pick = np.int64(_next_number(draws) % np.uint64(n_open))
        t = open_topics[pick]
        best, least = -1, np.int64(0)
        for at in range(wants.starts[t], wants.starts[t + 1]):
            u = wants.members[at]
            if room.backup_of[u] == v:
                continue
            if room.since[u] != clock:
                room.since[u], room.rest[u] = clock, weights[u]
            rest = room.rest[u]
            if best < 0 or (rest > 0 and (least == 0 or rest < least)):
                best, least = u, rest
        if best < 0:
            n_open = _without(open_topics, n_open, open_topics[pick : pick + 1].copy())
            continue
        if least > 0:
            for at in range(wants.starts[t], wants.starts[t + 1]):
                u = wants.members[at]
                if room.backup_of[u] != v and room.rest[u] > 0:
                    room.rest[u] -= least
        room.backup_of[best] = v
        chosen[n] = best
        n += 1
        n_open = _without(open_topics, n_open, wants.topics[wants.offsets[best] : wants.offsets[best + 1]])
    return n


@kernel
def _without(open_topics: NDArray[np.int32], n_open: int, covered: NDArray[np.int32]) -> int:
    """Drop the covered ones from the first so many open topics, both ascending; how many are left."""
    kept, j = 0, 0
    for i in range(n_open):
        while j < len(covered) and covered[j] < open_topics[i]:
            j += 1
        if j == len(covered) or covered[j] != open_topics[i]:
            open_topics[kept] = open_topics[i]
            kept += 1
    return kept


@kernel
def _next_number(state: NDArray[np.uint64]) -> np.uint64:
    """The next of SplitMix64; as arrays of one number, which overflow without a word in plain Python too."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31)))[0]


@kernel
def _cover_greedily(
    wants: Wants,
    v: int,
    weights: NDArray[np.int64],
    room: _Room,
    is_open: NDArray[np.bool_],
    chosen: NDArray[np.int32],
    n: int,
) -> int:
    """One cover by greedy (003 Alg. 11): least weight per open topic it covers, of several the lowest node. How many
    backups there are then."""
    for at in range(wants.offsets[v], wants.offsets[v + 1]):
        t = wants.topics[at]
        is_open[t] = True
        for m in range(wants.starts[t], wants.starts[t + 1]):
            room.covers[wants.members[m]] += 1
    while True:
        best = -1
        for u in range(len(room.covers)):
            if (
                room.covers[u]
                and room.backup_of[u] != v
                and (best < 0 or weights[u] * room.covers[best] < weights[best] * room.covers[u])
            ):
                best = u
        if best < 0:
            break
        room.backup_of[best] = v
        chosen[n] = best
        n += 1
        _close(wants, best, room, is_open)
    _close(wants, v, room, is_open)
    return n


@kernel
def _close(wants: Wants, node: int, room: _Room, is_open: NDArray[np.bool_]) -> None:
    """The topics of a node are open no more."""
    for at in range(wants.offsets[node], wants.offsets[node + 1]):
        t = wants.topics[at]
        if is_open[t]:
            is_open[t] = False
            for m in range(wants.starts[t], wants.starts[t + 1]):
                room.covers[wants.members[m]] -= 1
