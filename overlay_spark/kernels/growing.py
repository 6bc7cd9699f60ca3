"""Topic-connected components of an overlay while it is being built: labels, rings and bitsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel, leaf, popcount


class Growing(NamedTuple):
    """The topic-connected components of an overlay that only grows.

    A subscription's position in the sparse rows is its name. ``label`` names the component of a position by one of
    its members; members form a ring through ``ring``, so that the smaller of two components is relabelled and the
    rings are spliced without any list. ``bits[v]`` are the topics of v, ``settled[v]`` those in which v already sits
    in the topic's ``main`` component, its largest: two nodes settled in a topic can gain nothing from it.
    """

    bits: NDArray[np.uint64]
    settled: NDArray[np.uint64]
    before: NDArray[np.int32]
    """``before[v, k]``: the position of v's first topic of word k."""
    label: NDArray[np.int32]
    ring: NDArray[np.int32]
    size: NDArray[np.int32]
    node: NDArray[np.int32]
    main: NDArray[np.int32]
    """The label of each topic's largest component, -1 before there is one of two nodes."""
    apart: NDArray[np.int64]
    """One number: how many components there are still to join, over all topics."""


@kernel
def new_growing(n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.int32]) -> Growing:
    """The overlay without links: every subscription is a component of its own."""
    n_nodes, n = len(offsets) - 1, len(topics)
    n_words = max(1, (n_topics + 63) // 64)
    bits = np.zeros((n_nodes, n_words), np.uint64)
    before = np.zeros((n_nodes, n_words), np.int32)
    node = np.empty(n, np.int32)
    sizes = np.zeros(n_topics, np.int64)
    for v in range(n_nodes):
        at = offsets[v]
        for k in range(n_words):
            before[v, k] = at
            while at < offsets[v + 1] and topics[at] >> 6 == k:
                bits[v, k] |= np.uint64(1) << np.uint64(topics[at] & 63)
                node[at] = v
                sizes[topics[at]] += 1
                at += 1
    apart = np.zeros(1, np.int64)
    for t in range(n_topics):
        apart[0] += max(0, sizes[t] - 1)
    return Growing(
        bits,
        np.zeros((n_nodes, n_words), np.uint64),
        before,
        np.arange(n).astype(np.int32),
        np.arange(n).astype(np.int32),
        np.ones(n, np.int32),
        node,
        np.full(n_topics, -1, np.int32),
        apart,
    )


@leaf
def contribution_bound(state: Growing, u: int, v: int) -> int:
    """At least the contribution of link (u, v), from bitsets alone; once 0, the contribution stays 0 for ever."""
    bound = 0
    for k in range(state.bits.shape[1]):
        bound += popcount(state.bits[u, k] & state.bits[v, k] & ~(state.settled[u, k] & state.settled[v, k]))
    return bound


@leaf
def contribution(state: Growing, u: int, v: int) -> int:
    """How many topics' components link (u, v) would join."""
    total = 0
    for k in range(state.bits.shape[1]):
        word = state.bits[u, k] & state.bits[v, k] & ~(state.settled[u, k] & state.settled[v, k])
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            total += state.label[position(state, u, k, bit)] != state.label[position(state, v, k, bit)]
    return total


@leaf
def join(state: Growing, u: int, v: int) -> int:
    """Add link (u, v); give back the lowest topic it joins, -1 if none."""
    lowest = -1
    for k in range(state.bits.shape[1]):
        word = state.bits[u, k] & state.bits[v, k] & ~(state.settled[u, k] & state.settled[v, k])
        while word:
            bit = word & (~word + np.uint64(1))
            word ^= bit
            a = state.label[position(state, u, k, bit)]
            b = state.label[position(state, v, k, bit)]
            if a != b:
                topic = 64 * k + popcount(bit - np.uint64(1))
                merge(state, topic, k, bit, a, b)
                if lowest < 0:
                    lowest = topic
    return lowest


@leaf
def position(state: Growing, v: int, k: int, bit: np.uint64) -> int:
    return state.before[v, k] + popcount(state.bits[v, k] & (bit - np.uint64(1)))


@leaf
def merge(state: Growing, topic: int, k: int, bit: np.uint64, a: int, b: int) -> int:
    """Join components a and b of a topic: relabel the smaller, keep the topic's main component and settled bits.

    Gives back the label that is gone.
    """
    if state.size[a] < state.size[b]:
        a, b = b, a
    main = state.main[topic]
    if main == b:  # swallowed by a larger one, which is settled as a whole below
        main = -1
    at = b
    while True:
        state.label[at] = a
        if main == a:
            state.settled[state.node[at], k] |= bit
        at = state.ring[at]
        if at == b:
            break
    state.ring[a], state.ring[b] = state.ring[b], state.ring[a]
    state.size[a] += state.size[b]
    state.apart[0] -= 1
    if main != a and (main < 0 or state.size[a] > state.size[main]):
        if main >= 0:
            _settle(state, main, k, bit, False)
        _settle(state, a, k, bit, True)
        state.main[topic] = a
    return b


@leaf
def _settle(state: Growing, label: int, k: int, bit: np.uint64, settled: bool) -> None:
    """Mark or unmark a component's members as settled in its topic."""
    at = label
    while True:
        v = state.node[at]
        if settled:
            state.settled[v, k] |= bit
        else:
            state.settled[v, k] &= ~bit
        at = state.ring[at]
        if at == label:
            break


@kernel
def replay(state: Growing, src: NDArray[np.int32], dst: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add the links in the given order; the contribution of each."""
    joined = np.empty(len(src), np.int32)
    for i in range(len(src)):
        before = state.apart[0]
        join(state, src[i], dst[i])
        joined[i] = before - state.apart[0]
    return joined
