"""Topic-connected components of an overlay while it is being built: labels, rings and bitsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel, leaf, popcount


class Growing(NamedTuple):
    """The topic-connected components of an overlay that only grows.

    A subscription's position in the sparse rows ``offsets``, ``topics`` is its name. ``label`` names the component of a
    position by one of its members; members form a ring through ``ring``, so that the smaller of two components is
    relabelled and the rings are spliced without any list.

    The topics of a node are also kept as words of 64 bits, those words only that have any: node v has the words from
    ``starts[v]`` to before ``starts[v + 1]``, by rising number ``word``. ``bits`` are its topics, ``settled`` those in
    which it already sits in the topic's ``main`` component, its largest: two nodes settled in a topic can gain nothing
    from it.
    """

    offsets: NDArray[np.int64]
    topics: NDArray[np.int32]
    starts: NDArray[np.int64]
    word: NDArray[np.int32]
    bits: NDArray[np.uint64]
    settled: NDArray[np.uint64]
    first: NDArray[np.int32]
    """The position of the first topic of a node's word."""
    word_at: NDArray[np.int32]
    """Which word, counted over all nodes, a position is in."""
    label: NDArray[np.int32]
    ring: NDArray[np.int32]
    size: NDArray[np.int32]
    main: NDArray[np.int32]
    """The label of each topic's largest component, -1 before there is one of two nodes."""
    apart: NDArray[np.int64]
    """One number: how many components there are still to join, over all topics."""


@kernel
def new_growing(n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.int32]) -> Growing:
    """The overlay without links: every subscription is a component of its own."""
    n_nodes, n = len(offsets) - 1, len(topics)
    starts, word_at = np.zeros(n_nodes + 1, np.int64), np.empty(n, np.int32)
    sizes = np.zeros(n_topics, np.int64)
    n_words = 0
    for v in range(n_nodes):
        for at in range(offsets[v], offsets[v + 1]):
            n_words += at == offsets[v] or topics[at] >> 6 != topics[at - 1] >> 6
            word_at[at] = n_words - 1
            sizes[topics[at]] += 1
        starts[v + 1] = n_words
    word, first = np.empty(n_words, np.int32), np.empty(n_words, np.int32)
    bits, settled = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    for at in range(n - 1, -1, -1):
        w = word_at[at]
        word[w], first[w] = topics[at] >> 6, at
        bits[w] |= np.uint64(1) << np.uint64(topics[at] & 63)
    apart = np.zeros(1, np.int64)
    for t in range(n_topics):
        apart[0] += max(0, sizes[t] - 1)
    label = np.arange(n).astype(np.int32)
    none = np.full(n_topics, -1, np.int32)
    return Growing(
        offsets,
        topics,
        starts,
        word,
        bits,
        settled,
        first,
        word_at,
        label,
        label.copy(),
        np.ones(n, np.int32),
        none,
        apart,
    )


@leaf
def reach(word: NDArray[np.int32], number: int, j: int, j_end: int) -> int:
    """The first place from j on with this number or a higher one; ``j_end`` where there is none."""
    while j < j_end and word[j] < number:
        j += 1
    return j


@leaf
def contribution_bound(state: Growing, u: int, v: int) -> int:
    """At least the contribution of link (u, v), from bitsets alone; once 0, the contribution stays 0 for ever."""
    bound = 0
    j, j_end = state.starts[v], state.starts[v + 1]
    for i in range(state.starts[u], state.starts[u + 1]):
        j = reach(state.word, state.word[i], j, j_end)
        if j == j_end:
            break
        if state.word[i] != state.word[j]:
            continue
        bound += popcount(unsettled_in(state, i, j))
    return bound


@leaf
def contribution(state: Growing, u: int, v: int) -> int:
    """How many topics' components link (u, v) would join."""
    total = 0
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
            total += (
                state.label[position(state.first[i], state.bits[i], bit)]
                != state.label[position(state.first[j], state.bits[j], bit)]
            )
    return total


@leaf
def shared_topics(state: Growing, u: int, v: int) -> int:
    """How many topics both nodes want."""
    shared = 0
    j, j_end = state.starts[v], state.starts[v + 1]
    for i in range(state.starts[u], state.starts[u + 1]):
        j = reach(state.word, state.word[i], j, j_end)
        if j == j_end:
            break
        if state.word[i] != state.word[j]:
            continue
        shared += popcount(state.bits[i] & state.bits[j])
    return shared


@leaf
def join(state: Growing, u: int, v: int) -> int:
    """Add link (u, v); give back the lowest topic it joins, -1 if none."""
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
            a, b = state.label[at], state.label[position(state.first[j], state.bits[j], bit)]
            if a != b:
                merge(state, state.topics[at], bit, a, b)
                if lowest < 0:
                    lowest = state.topics[at]
    return lowest


@leaf
def unsettled_in(state: Growing, i: int, j: int) -> np.uint64:
    """Topics of both of two words of one number, but for those in which both are settled."""
    return state.bits[i] & state.bits[j] & ~(state.settled[i] & state.settled[j])


@leaf
def position(first: int, bits: np.uint64, bit: np.uint64) -> int:
    """The position of a topic in a node's word, by that of the word's first topic."""
    return first + popcount(bits & (bit - np.uint64(1)))


@leaf
def merge(state: Growing, topic: int, bit: np.uint64, a: int, b: int) -> int:
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
            state.settled[state.word_at[at]] |= bit
        at = state.ring[at]
        if at == b:
            break
    state.ring[a], state.ring[b] = state.ring[b], state.ring[a]
    state.size[a] += state.size[b]
    state.apart[0] -= 1
    if main != a and (main < 0 or state.size[a] > state.size[main]):
        if main >= 0:
            _settle(state, main, bit, False)
        _settle(state, a, bit, True)
        state.main[topic] = a
    return b


@leaf
def _settle(state: Growing, label: int, bit: np.uint64, settled: bool) -> None:
    """Mark or unmark a component's members as settled in its topic."""
    at = label
    while True:
        if settled:
            state.settled[state.word_at[at]] |= bit
        else:
            state.settled[state.word_at[at]] &= ~bit
        at = state.ring[at]
        if at == label:
            break


@kernel
def join_positions(state: Growing, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Join the components of positions ``left[i]`` and ``right[i]``, of one topic, as if links did."""
    for i in range(len(left)):
        topic = state.topics[left[i]]
        a, b = state.label[left[i]], state.label[right[i]]
        if a != b:
            merge(state, topic, np.uint64(1) << np.uint64(topic & 63), a, b)


@kernel
def replay(state: Growing, src: NDArray[np.int32], dst: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add the links in the given order; the contribution of each."""
    joined = np.empty(len(src), np.int32)
    for i in range(len(src)):
        before = state.apart[0]
        join(state, src[i], dst[i])
        joined[i] = before - state.apart[0]
    return joined
