"""Sub-overlays that links are added to and taken from are those of the links there are then."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.sub_overlays import SubOverlays, holding
from tests import checks, naive
from tests.strategies import SEEDS, overlays


def of(instance, pairs):
    return SubOverlays.of(instance, checks.overlay_of(pairs))


def same(found, expected):
    return all(
        getattr(found, name).tolist() == getattr(expected, name).tolist() for name in ("counts", "left", "right")
    )


@given(overlays(any_pair=True), st.integers(0, 8), SEEDS)
def test_links__added_and_taken_leave_those_of_the_rest(overlay, cut, seed):
    instance, pairs = overlay
    assert same(of(instance, pairs[:cut]).plus(of(instance, pairs[cut:])), of(instance, pairs))
    kept = np.random.default_rng(seed).random(len(pairs)) < 0.5
    rest = [pair for pair, stays in zip(pairs, kept.tolist(), strict=True) if stays]
    assert same(of(instance, pairs).take(kept), of(instance, rest))


@given(overlays(any_pair=True), st.integers(0, 8))
def test_components__are_the_instances_whether_found_at_once_or_in_turn(overlay, cut):
    instance, pairs = overlay
    expected = instance.component_labels(checks.overlay_of(pairs)).tolist()
    first, more = of(instance, pairs[:cut]), of(instance, pairs[cut:])
    before = first.components()
    told = before.tolist()
    assert of(instance, pairs).components().tolist() == expected
    assert more.joined(before).tolist() == expected
    assert before.tolist() == told


@given(overlays(any_pair=True), SEEDS)
def test_served__counts_the_topics_asked_about(overlay, seed):
    instance, pairs = overlay
    asked = np.random.default_rng(seed).random(instance.n_topics) < 0.5
    wants = naive.interests(instance)
    expected = [sum(asked[t] for t in wants[u] & wants[v]) for u, v in pairs]
    assert of(instance, pairs).served(asked).tolist() == expected


@given(overlays(any_pair=True))
def test_graph__has_every_edge_from_both_ends(overlay):
    instance, pairs = overlay
    graph, sub = holding(instance, checks.overlay_of(pairs)), of(instance, pairs)
    found = [
        (p, int(graph.neighbour[i]), int(graph.via[i]))
        for p in range(instance.n_subscriptions)
        for i in range(int(graph.starts[p]), int(graph.starts[p + 1]))
    ]
    links = np.repeat(np.arange(len(pairs)), sub.counts).tolist()
    by_topic = np.argsort(np.argsort(instance.topics, kind="stable"))
    edges = list(zip(by_topic[sub.left].tolist(), by_topic[sub.right].tolist(), links, strict=True))
    assert sorted(found) == sorted(edges + [(b, a, link) for a, b, link in edges])
    assert graph.alive.all()
