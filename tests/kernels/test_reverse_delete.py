import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.sub_overlays import holding
from overlay_spark.kernels.reverse_delete import drop_needless, held_by_all, held_topics
from tests import checks, naive
from tests.strategies import SEEDS, overlays


def kept(instance, pairs, fixed=0):
    graph = holding(instance, checks.overlay_of(pairs))
    drop_needless(graph, np.arange(len(pairs) - 1, fixed - 1, -1))
    return [pair for pair, stays in zip(pairs, graph.alive.tolist(), strict=True) if stays]


@given(overlays(any_pair=True), st.data())
def test_drop_needless__keeps_what_the_slow_twin_keeps(overlay, data):
    instance, pairs = overlay
    fixed = data.draw(st.integers(0, len(pairs)))
    expected = naive.reverse_delete(instance, pairs[fixed:], pairs[:fixed])
    assert kept(instance, pairs, fixed) == [*pairs[:fixed], *expected]


def test_drop_needless__tries_links_in_the_order_given():
    instance = checks.instance_of([[0]] * 3, 1)
    ring = [(0, 1), (1, 2), (0, 2)]
    assert kept(instance, ring) == ring[:2]
    assert kept(instance, ring[::-1]) == ring[::-1][:2]
    assert kept(instance, ring, fixed=2) == ring[:2]
    assert kept(instance, ring, fixed=3) == ring


def held(instance, pairs, asked):
    return held_topics(holding(instance, checks.overlay_of(pairs)), np.array(asked, np.int64)).tolist()


@given(overlays(any_pair=True), SEEDS)
def test_held_topics__are_those_that_come_apart_without_the_link_alone(overlay, seed):
    instance, pairs = overlay
    asked = np.random.default_rng(seed).integers(0, len(pairs), 5).tolist() if pairs else []
    assert held(instance, pairs, asked) == [naive.held_topics(instance, pairs, pairs[i]) for i in asked]


def test_held_topics__of_a_link_do_not_tell_of_the_others():
    instance = checks.instance_of([[0, 1], [0, 1, 2], [0, 2]], 3)
    ring = [(0, 1), (1, 2), (0, 2)]
    assert held(instance, ring, [0, 1, 2, 0]) == [1, 1, 0, 1]
    assert held(instance, ring[:2], [0, 1]) == [2, 2]


@given(overlays(any_pair=True), SEEDS)
def test_held_by_all__is_what_each_link_holds_and_who_could_take_over(overlay, seed):
    instance, pairs = overlay
    alive = np.random.default_rng(seed).random(len(pairs)) < 0.8
    graph = holding(instance, checks.overlay_of(pairs))
    graph.alive[:] = alive
    held, among = held_by_all(graph)
    there = [pair for pair, is_alive in zip(pairs, alive.tolist(), strict=True) if is_alive]
    before = naive.topic_components(instance, there)
    for i, pair in enumerate(pairs):
        expected = 0
        after = naive.topic_components(instance, [other for other in there if other != pair])
        for t, names in enumerate(before):
            if alive[i] and after[t] != names:
                sides = [list(after[t].values()).count(after[t][v]) for v in pair]
                expected += sum(sides) * min(sides)
        assert held[i] == (naive.held_topics(instance, there, pair) if alive[i] else 0)
        assert among[i] == expected
