"""Batches of churn: what they join, what they leave alone, and what they choose among."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.churn import Churn, kept_up
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.algorithms.trimming import BUSY_ABOVE, RELIEVED
from overlay_spark.costs import listed_costs, matrix_costs
from overlay_spark.instance import Instance
from overlay_spark.options import ChurnOptions, DegreeOptions, Options
from overlay_spark.options.churn import COST, COVERS, DEGREE
from tests import checks, naive
from tests.churning import batch_between, recosted, rewanted
from tests.strategies import COMPILED, SEEDS, instances


@st.composite
def churned(draw, trim=st.booleans(), **sizes):
    """(problem before, overlay of then, problem of now, options)"""
    before = draw(instances(**sizes))
    rng = np.random.default_rng(draw(SEEDS))
    costs = recosted(before.costs, before.n_nodes, rng, draw(st.sampled_from((0.0, 0.2))))
    now = rewanted(before, rng, draw(st.sampled_from((0.3, 0.1, 1.0))), costs)
    churn = ChurnOptions(
        objective=draw(st.sampled_from((COST, DEGREE))),
        coverage=draw(st.integers(1, 3)),
        backups=draw(st.sampled_from(COVERS)),
        trim=draw(trim),
        exchange=draw(st.sampled_from((24, 2, 0))),
    )
    links = greedy(before) if churn.objective == COST else low_degree(before)
    return before, links, now, Options(churn=churn)


def keep(before, links, now, options):
    batch = batch_between(before, links, now, options)
    return batch, kept(now, batch.links, batch.churn, batch.backups_of, options)


def kept(now, links, churn, backups_of, options):
    return kept_up(SubOverlays.of(now, links), links, churn, backups_of, options)


@given(churned())
def test_touched_topics__are_joined_as_far_as_links_may_and_all_others_stay_as_connected(case):
    now = case[2]
    batch, found = keep(*case)
    before, after, possible = (
        naive.topic_components(now, pairs) for pairs in (batch.links.pairs(), found.links.pairs(), naive.allowed(now))
    )
    for t in range(now.n_topics):
        if batch.churn.touched[t]:
            assert after[t] == possible[t]
        assert all(after[t][v] == after[t][before[t][v]] for v in before[t])


@given(churned())
def test_links__that_serve_an_untouched_topic_stay_and_none_is_there_that_may_not_be(case):
    now = case[2]
    batch, found = keep(*case)
    old, pairs, wants = batch.links.pairs(), found.links.pairs(), naive.interests(now)
    for u, v in set(old) - set(pairs):
        assert all(batch.churn.touched[t] for t in wants[u] & wants[v])
    stay = [pair for pair in old if pair in set(pairs)]
    assert pairs[: len(stay)] == stay
    assert not set(pairs[len(stay) :]) & set(old)
    assert len(set(pairs)) == len(pairs)
    for u, v in pairs[len(stay) :]:
        assert any(batch.churn.touched[t] for t in wants[u] & wants[v])
    allowed = naive.allowed(now)
    assert found.links.cost.tolist() == [allowed[pair] for pair in pairs]


@given(churned(trim=st.just(True)))
def test_trimming__makes_no_overlay_dearer_and_hardly_longer(case):
    *problem, options = case
    untrimmed = replace(options, churn=replace(options.churn, trim=False))
    found, more = (keep(*problem, some)[1].links for some in (options, untrimmed))
    if options.churn.objective == COST:
        assert found.total_cost <= more.total_cost
    else:
        assert len(found) <= len(more) + RELIEVED


@given(churned(trim=st.just(False), listed=False), st.sampled_from([1.0, 3.0, math.inf]), st.booleans())
def test_untrimmed_links__are_those_of_a_repair_of_all_topics_apart_among_shadow_nodes(case, k, weighted):
    *problem, options = case
    options = replace(options, degrees=DegreeOptions(k=k, weighted=weighted))
    now, is_by_cost = problem[2], options.churn.objective == COST
    batch, found = keep(*problem, options)
    old = batch.links.pairs()
    apart = [t for t in naive.broken_topics(now, old) if batch.churn.touched[t]]
    assert found.apart == len(apart)
    most = 2 * len(old) // max(1, sum(map(bool, naive.interests(now)))) + BUSY_ABOVE
    among = combinations(found.shadow.tolist(), 2)
    if is_by_cost:
        first = naive.repair(now, old, apart_but_for_waiting(now, batch, apart), among)
        pairs = old + [pick[:2] for pick in first]
        added = [*first, *naive.repair(now, pairs, apart, combinations(range(now.n_nodes), 2))]
    else:
        added = naive.repair(now, old, apart, among, k, weighted, most)
    assert found.links.pairs() == old + [pick[:2] for pick in added]
    assert found.links.contribution.tolist()[len(old) :] == [pick[2] for pick in added]


def waiting(now, batch):
    """By topic, the nodes that took it up and that no link connects to others."""
    components = naive.topic_components(now, batch.links.pairs())
    found = [set() for _ in components]
    for v, t in zip(now.nodes[batch.churn.came].tolist(), now.topics[batch.churn.came].tolist(), strict=True):
        if list(components[t].values()).count(components[t][v]) == 1:
            found[t].add(v)
    return found


def apart_but_for_waiting(now, batch, apart):
    components, waits = naive.topic_components(now, batch.links.pairs()), waiting(now, batch)
    return [t for t in apart if len({name for v, name in components[t].items() if v not in waits[t]}) > 1]


@given(churned(listed=False))
def test_shadow_nodes__are_those_near_and_enough_of_each_component_without_one(case):
    now, options = case[2:]
    batch, found = keep(*case)
    shadow, near, wants = set(found.shadow.tolist()), set(batch.churn.near.tolist()), naive.interests(now)
    components = naive.topic_components(now, batch.links.pairs())
    apart = {t for t in naive.broken_topics(now, batch.links.pairs()) if batch.churn.touched[t]}
    if options.churn.objective == COST:  # what came waits, and asks nobody
        waits = waiting(now, batch)
        apart = set(apart_but_for_waiting(now, batch, apart))
        wants = [{t for t in wanted if v not in waits[t]} for v, wanted in enumerate(wants)]
        components = [{v: c for v, c in of.items() if v not in waits[t]} for t, of in enumerate(components)]
    assert {v for v in near if wants[v] & apart} <= shadow
    assert all(wants[v] & apart for v in shadow)
    far = []
    for t in apart:
        for name in set(components[t].values()):
            nodes = {v for v, label in components[t].items() if label == name}
            if not nodes & near:
                assert len(nodes & shadow) >= min(options.churn.coverage, len(nodes))
                far.append(nodes)
    assert shadow - near <= set().union(*far)


@given(churned(), SEEDS)
def test_answer__does_not_depend_on_how_nodes_near_are_told(case, seed):
    now, options = case[2:]
    batch, found = keep(*case)
    near = np.random.default_rng(seed).permutation(np.tile(batch.churn.near, 2))
    churn = replace(batch.churn, near=near)
    again = kept(now, batch.links, churn, batch.backups_of, options)
    assert again.links.pairs() == found.links.pairs()
    assert again.shadow.tolist() == found.shadow.tolist()


@given(churned())
def test_nothing_changed__nothing_done(case):
    before, links, _, options = case
    batch, found = keep(before, links, before, options)
    assert not batch.churn.touched.any()
    assert checks.picks(found.links) == checks.picks(links)
    assert (found.apart, len(found.shadow)) == (0, 0)


@pytest.mark.parametrize("objective", [COST, DEGREE])
@pytest.mark.parametrize("n_nodes", [0, 3])
def test_everybody_gone__leaves_no_links(objective, n_nodes):
    now = checks.instance_of([[]] * n_nodes, 2)
    churn = Churn(touched=np.ones(2, bool), near=np.empty(0, np.int64), events=4)
    options = Options(churn=ChurnOptions(objective=objective))
    found = kept(now, checks.overlay_of([]), churn, lambda nodes: nodes, options)
    assert (len(found.links), len(found.shadow)) == (0, 0)


def test_listed_links__join_what_shadow_nodes_cannot():
    """Nodes 0 and 3 may link by way of 1 and 2 only, which are near nothing that changed."""
    costs = listed_costs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1, 5, 1]))
    now = checks.instance_of([[0]] * 4, 1, costs)
    links = checks.links_of(now, [(0, 1), (2, 3)])
    churn = Churn(touched=np.ones(1, bool), near=np.array([0, 3]), events=1)
    for objective in (COST, DEGREE):
        options = Options(churn=ChurnOptions(objective=objective))
        found = kept(now, links, churn, lambda nodes: nodes, options)
        assert found.links.pairs() == [(0, 1), (2, 3), (1, 2)]
        assert found.shadow.tolist() == [0, 3]


def test_busy_nodes__are_told_by_the_average_of_all_not_of_those_who_want_what_changed():
    """Node 0 has eleven links and most others one, so node 1 takes the new one."""
    now = checks.instance_of([[0, 1], [0, 1], *[[0]] * 10, [1], [1]], 2)
    links = checks.links_of(now, [*((0, v) for v in range(1, 12)), (12, 13)])
    churn = Churn(touched=np.array([False, True]), near=np.array([0, 1, 12, 13]), events=1)
    options = Options(churn=ChurnOptions(objective=DEGREE, trim=False))
    assert kept(now, links, churn, lambda nodes: nodes, options).links.pairs()[-1] == (1, 12)


@pytest.mark.parametrize("objective", [COST, DEGREE])
def test_trimmed_overlay__stays_about_as_light_as_a_new_one_batch_after_batch(objective):
    """Ten batches of a tenth of the nodes. Measured here: 5 % dearer than a new design, untrimmed 49 %; by degree 8 %
    fewer links, untrimmed 35 % more."""
    rng = np.random.default_rng(1)
    n_nodes, n_topics = (120, 40) if COMPILED else (40, 15)
    wants = rng.random((n_nodes, n_topics)) < 0.25
    half = rng.integers(1, 1000, (n_nodes, n_nodes))
    costs = matrix_costs(half + half.T)
    before = Instance.from_pairs(n_nodes, n_topics, *np.nonzero(wants), costs)
    design = greedy if objective == COST else low_degree
    overlays = {trim: design(before) for trim in (True, False)}
    for _ in range(10):
        now = rewanted(before, rng, 0.1, costs)
        for trim, links in overlays.items():
            options = Options(churn=ChurnOptions(objective=objective, trim=trim))
            overlays[trim] = keep(before, links, now, options)[1].links
        before = now
    weight = (lambda links: links.total_cost) if objective == COST else len
    fresh, trimmed, untrimmed = (weight(links) for links in (design(before), overlays[True], overlays[False]))
    assert trimmed < 1.1 * fresh < untrimmed
