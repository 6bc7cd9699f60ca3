"""Trimming: nothing comes apart, nothing gets dearer, and links of other topics stay."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.trimming import BUSY_ABOVE, RELIEVED, busy_degree, trimmed
from overlay_spark.options import ChurnOptions, Options
from overlay_spark.options.churn import COST, DEGREE
from tests import checks, naive
from tests.strategies import SEEDS, overlays

OBJECTIVES = (COST, DEGREE)


def options_of(objective, exchange=24):
    return Options(churn=ChurnOptions(objective=objective, exchange=exchange))


def nobody(nodes):
    return np.empty(0, np.int32)


def drawn(instance, seed):
    """Topics that were touched, shadow nodes, and somebody's backups."""
    rng = np.random.default_rng(seed)
    touched = rng.random(instance.n_topics) < rng.choice([0.5, 0.9, 1.0])
    shadow = np.flatnonzero(rng.random(instance.n_nodes) < rng.choice([0.2, 0.5, 1.0]))
    is_backup = rng.random((instance.n_nodes, instance.n_nodes)) < rng.choice([0.0, 0.1, 0.3])
    return touched, shadow, lambda nodes: np.flatnonzero(is_backup[nodes].any(axis=0))


def redundant_by_definition(instance, pairs, tried, objective):
    costs = naive.allowed(instance)
    degree = [sum(v in pair for pair in pairs) for v in range(instance.n_nodes)]
    weight = {
        COST: lambda pair: costs[pair],
        DEGREE: lambda pair: sorted((degree[v] for v in pair), reverse=True),
    }[objective]
    order = sorted((pairs[i] for i in tried), key=weight)
    rest = [pair for i, pair in enumerate(pairs) if i not in tried]
    kept = naive.reverse_delete(instance, order, rest)
    return [pair not in rest and pair not in kept for pair in pairs]


@given(overlays(), st.sampled_from(OBJECTIVES), SEEDS)
def test_trimming_without_exchange__drops_what_is_redundant_at_shadow_nodes(overlay, objective, seed):
    """The dearest first, or those of the busiest ends, each tried against what is left; by degree between shadow nodes."""
    instance, pairs = overlay
    touched, shadow, backups_of = drawn(instance, seed)
    links, wants = checks.links_of(instance, pairs), naive.interests(instance)
    found = trimmed(instance, links, touched, shadow, backups_of, options_of(objective, exchange=0))
    least = 1 if objective == COST else 2
    tried = {
        i
        for i, (u, v) in enumerate(pairs)
        if len({u, v} & set(shadow.tolist())) >= least and all(touched[t] for t in wants[u] & wants[v])
    }
    gone = redundant_by_definition(instance, pairs, tried, objective)
    assert found.pairs() == [pair for pair, is_gone in zip(pairs, gone, strict=True) if not is_gone]


@given(overlays(), st.sampled_from(OBJECTIVES), st.sampled_from([1, 3, 24]), st.integers(1, 3), SEEDS)
def test_trimmed__leaves_all_connected_that_was_and_all_links_of_other_topics(
    overlay, objective, exchange, events, seed
):
    instance, pairs = overlay
    touched, shadow, backups_of = drawn(instance, seed)
    links, wants = checks.links_of(instance, pairs), naive.interests(instance)
    found = trimmed(instance, links, touched, shadow, backups_of, options_of(objective, exchange), events)
    before, after = (naive.topic_components(instance, some) for some in (pairs, found.pairs()))
    for there, now in zip(before, after, strict=True):
        assert all(now[v] == now[there[v]] for v in there)
    gone = set(pairs) - set(found.pairs())
    assert all(touched[t] for u, v in gone for t in wants[u] & wants[v])
    assert len(set(found.pairs())) == len(found)
    costs = naive.allowed(instance)
    assert found.cost.tolist() == [costs[pair] for pair in found.pairs()]
    if objective == COST:
        assert found.total_cost <= links.total_cost
        assert all({u, v} & set(shadow.tolist()) for u, v in gone)
    else:
        assert len(found) <= len(links) + RELIEVED


@given(overlays(), st.sampled_from(OBJECTIVES), SEEDS)
def test_topics_untouched__cost_nothing_and_lose_nothing(overlay, objective, seed):
    """Links that serve no topic at all may go; these are none."""
    instance, pairs = overlay
    touched, shadow, backups_of = drawn(instance, seed)
    found = trimmed(
        instance, checks.links_of(instance, pairs), np.zeros_like(touched), shadow, backups_of, options_of(objective)
    )
    assert found.pairs() == pairs


def test_dearest_link_of_a_ring__goes():
    costs = checks.matrix([(0, 1, 3), (0, 2, 1), (1, 2, 2)])
    instance = checks.instance_of([[0]] * 3, 1, costs)
    links = checks.links_of(instance, [(0, 1), (0, 2), (1, 2)])
    touched, everybody = np.ones(1, bool), np.arange(3)
    assert trimmed(instance, links, touched, everybody, nobody, options_of(COST, 0)).pairs() == [(0, 2), (1, 2)]
    assert trimmed(instance, links, touched, np.arange(2), nobody, options_of(COST, 0)).pairs() == [(0, 2), (1, 2)]
    assert trimmed(instance, links, touched, everybody[2:], nobody, options_of(COST, 0)).pairs() == [(0, 1), (0, 2)]


def test_link_that_another_can_replace_for_less__is_exchanged_near_shadow_nodes_only():
    costs = checks.matrix([(0, 1, 10), (0, 2, 1), (1, 2, 1), (0, 3, 9), (1, 3, 9), (2, 3, 1)])
    instance = checks.instance_of([[0]] * 4, 1, costs)
    links = checks.links_of(instance, [(0, 1), (0, 2), (0, 3)])
    touched = np.ones(1, bool)
    near_one = trimmed(instance, links, touched, np.array([1]), nobody, options_of(COST))
    assert near_one.pairs() == [(0, 2), (0, 3), (1, 2)]
    near_all = trimmed(instance, links, touched, np.arange(4), nobody, options_of(COST))
    assert near_all.pairs() == [(0, 2), (1, 2), (2, 3)]
    one_each = trimmed(instance, links, touched, np.arange(4), nobody, options_of(COST, exchange=1))
    assert one_each.total_cost == 11
    two_left = trimmed(instance, links, touched, np.arange(4), nobody, options_of(COST, exchange=1), events=2)
    assert two_left.total_cost == 3


def test_exchange_that_would_cost_more__is_not_made():
    costs = checks.matrix([(0, 1, 2), (0, 2, 2), (1, 2, 5)])
    instance = checks.instance_of([[0]] * 3, 1, costs)
    links = checks.links_of(instance, [(0, 1), (0, 2)])
    found = trimmed(instance, links, np.ones(1, bool), np.arange(3), nobody, options_of(COST))
    assert found.pairs() == links.pairs()


def test_node_of_greatest_degree__is_relieved_by_others():
    instance = checks.instance_of([[0]] * 6, 1)
    star = checks.links_of(instance, [(0, v) for v in range(1, 6)])
    no_shadow = np.empty(0, np.int64)
    found = trimmed(instance, star, np.ones(1, bool), no_shadow, nobody, options_of(DEGREE, exchange=1))
    assert checks.is_topic_connected(instance, found)
    assert len(found) == len(star)
    assert found.degrees(6).max() < 5
    same = trimmed(instance, star, np.zeros(1, bool), no_shadow, nobody, options_of(DEGREE, exchange=1))
    assert same.pairs() == star.pairs()


def test_relief_that_would_relieve_nobody__is_not_made():
    instance = checks.instance_of([[0]] * 3, 1)
    path = checks.links_of(instance, [(0, 1), (1, 2)])
    no_shadow = np.empty(0, np.int64)
    assert trimmed(instance, path, np.ones(1, bool), no_shadow, nobody, options_of(DEGREE)).pairs() == path.pairs()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n_nodes", [0, 1, 3])
def test_overlay_without_links__stays_so(objective, n_nodes):
    instance = checks.instance_of([[]] * n_nodes, 2)
    nothing = checks.links_of(instance, [])
    everybody, touched = np.arange(n_nodes), np.ones(2, bool)
    assert len(trimmed(instance, nothing, touched, everybody, nobody, options_of(objective))) == 0


def test_busy_degree__is_so_far_above_the_average_of_those_who_want_anything():
    instance = checks.instance_of([[0], [0], [0], [], []], 1)
    assert busy_degree(instance, checks.links_of(instance, [(0, 1), (1, 2)])) == BUSY_ABOVE + 1
    assert busy_degree(instance, checks.links_of(instance, [])) == BUSY_ABOVE
    assert busy_degree(checks.instance_of([[]], 0), checks.links_of(instance, [])) == BUSY_ABOVE


def test_degrees_k__counts_in_exchanges_but_not_in_relief():
    """Relief looks for the lowest degrees, whatever ``degrees.k`` lets others take."""
    instance = checks.instance_of([[0]] * 6, 1)
    star = checks.links_of(instance, [(0, v) for v in range(1, 6)])
    options = options_of(DEGREE, exchange=1)
    greedy = replace(options, degrees=replace(options.degrees, k=1.0))
    equal = replace(options, degrees=replace(options.degrees, k=math.inf))
    arguments = instance, star, np.ones(1, bool), np.empty(0, np.int64), nobody
    assert trimmed(*arguments, greedy).pairs() == trimmed(*arguments, equal).pairs()
