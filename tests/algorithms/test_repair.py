"""Repairs: link by link what looking at all pairs of shadow nodes gives."""

from __future__ import annotations

import math
from contextlib import nullcontext
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.repair import mended, repair
from overlay_spark.costs import point_costs
from overlay_spark.errors import TooLarge
from overlay_spark.instance import Instance
from overlay_spark.options import ChurnOptions, DegreeOptions, DesignOptions, Options
from overlay_spark.options.churn import COST, DEGREE
from tests import checks, naive
from tests.strategies import SEEDS, instances, overlays

BY_COST = Options(churn=ChurnOptions(objective=COST))
BY_DEGREE = Options(churn=ChurnOptions(objective=DEGREE))


@st.composite
def damaged(draw, **sizes):
    """A problem, some links, the topics to mend and the nodes to mend them by."""
    instance, pairs = draw(overlays(**sizes))
    rng = np.random.default_rng(draw(SEEDS))
    touched = rng.random(instance.n_topics) < draw(st.sampled_from((0.5, 1.0, 0.1)))
    shadow = np.flatnonzero(rng.random(instance.n_nodes) < draw(st.sampled_from((0.6, 1.0, 0.3))))
    return instance, pairs, touched, shadow


@given(damaged(max_nodes=12))
def test_repair_by_cost__is_greedy_among_shadow_nodes_for_the_touched_topics(damage):
    instance, pairs, touched, shadow = damage
    found = repair(instance, checks.links_of(instance, pairs), touched, shadow, BY_COST)
    assert checks.picks(found) == naive.repair(
        instance, pairs, np.flatnonzero(touched).tolist(), combinations(shadow.tolist(), 2)
    )
    costs = naive.allowed(instance)
    assert found.cost.tolist() == [costs[pair] for pair in found.pairs()]


@given(damaged(max_nodes=9), st.sampled_from([1.0, 1.5, 3.0, math.inf]), st.booleans(), st.none() | st.integers(0, 6))
def test_repair_by_degree__is_low_degree_that_counts_all_links_there_are(damage, k, weighted, most):
    instance, pairs, touched, shadow = damage
    options = Options(churn=BY_DEGREE.churn, degrees=DegreeOptions(k=k, weighted=weighted))
    found = repair(instance, checks.links_of(instance, pairs), touched, shadow, options, most)
    assert checks.picks(found) == naive.repair(
        instance, pairs, np.flatnonzero(touched).tolist(), combinations(shadow.tolist(), 2), k, weighted, most
    )
    costs = naive.allowed(instance)
    assert found.cost.tolist() == [costs[pair] for pair in found.pairs()]


@given(damaged(), st.sampled_from([BY_COST, BY_DEGREE]))
def test_repair__joins_the_touched_topics_and_no_node_but_shadow_nodes(damage, options):
    instance, pairs, touched, _ = damage
    links = checks.links_of(instance, pairs)
    found = repair(instance, links, touched, np.arange(instance.n_nodes), options)
    after = naive.topic_components(instance, [*pairs, *found.pairs()])
    wanted = naive.topic_components(instance, naive.allowed(instance))
    assert all(after[t] == wanted[t] for t in np.flatnonzero(touched))
    few = repair(instance, links, touched, np.flatnonzero(np.arange(instance.n_nodes) % 2), options)
    assert all(u % 2 and v % 2 for u, v in few.pairs())
    assert not set(found.pairs()) & set(pairs)


def test_components__are_those_of_the_whole_sub_overlay():
    """Shadow nodes 0 and 2 are connected by way of node 1, which is none (readings: 23)."""
    instance = checks.instance_of([[0]] * 4, 1)
    links = checks.links_of(instance, [(0, 1), (1, 2)])
    for options in (BY_COST, BY_DEGREE):
        found = repair(instance, links, np.ones(1, bool), np.array([0, 2, 3]), options)
        assert found.pairs() in ([(0, 3)], [(2, 3)])


def test_greatest_degree__is_that_of_the_whole_overlay_or_the_one_told():
    """Whether node 0, which has a link, may have another at no loss: if node 4, which is no shadow node, has two."""
    instance = checks.instance_of([[0, 1], [0], [0, 1], [0, 1], [2], [2], [2]], 3)
    alone, beside = (checks.links_of(instance, pairs) for pairs in ([(0, 1)], [(0, 1), (4, 5), (4, 6)]))
    touched, shadow = np.array([True, True, False]), np.arange(4)
    assert repair(instance, alone, touched, shadow, BY_DEGREE).pairs() == [(2, 3), (0, 2)]
    assert repair(instance, beside, touched, shadow, BY_DEGREE).pairs() == [(0, 2), (2, 3)]
    assert repair(instance, alone, touched, shadow, BY_DEGREE, most=2).pairs() == [(0, 2), (2, 3)]
    assert repair(instance, beside, touched, shadow, BY_DEGREE, most=1).pairs() == [(2, 3), (0, 2)]


def test_nothing_to_mend__gives_no_links():
    for instance in (checks.instance_of([[0], [0]], 1), checks.instance_of([[], []], 0)):
        links = checks.links_of(instance, list(naive.allowed(instance)))
        for options in (BY_COST, BY_DEGREE):
            for shadow in (np.arange(2), np.empty(0, np.int64)):
                assert len(repair(instance, links, np.ones(instance.n_topics, bool), shadow, options)) == 0


@given(overlays(max_nodes=8), st.sampled_from(["cost", "degree"]))
def test_mended__repairs_whatever_is_left_apart(overlay, objective):
    instance, pairs = overlay
    links, nodes = checks.overlay_of(pairs), np.arange(instance.n_nodes)
    options = Options(churn=ChurnOptions(objective=objective))
    apart = np.isin(np.arange(instance.n_topics), naive.broken_topics(instance, pairs))
    expected = repair(instance, links, apart, nodes, options, 2)
    assert checks.picks(mended(instance, links, nodes, options, 2)) == checks.picks(expected)


@given(instances(max_nodes=6))
def test_repair_of_nothing_but_nodes__is_a_design(instance):
    nothing, everywhere = checks.links_of(instance, []), np.ones(instance.n_topics, bool)
    everybody = np.arange(instance.n_nodes)
    by_cost = repair(instance, nothing, everywhere, everybody, BY_COST)
    by_degree = repair(instance, nothing, everywhere, everybody, BY_DEGREE)
    assert checks.picks(by_cost) == checks.picks(greedy(instance))
    assert checks.picks(by_degree) == checks.picks(low_degree(instance))


@pytest.mark.parametrize("weighted, memory", [(False, "1m"), (True, "3m")])
@pytest.mark.parametrize("nodes, is_refused", [(512, False), (513, True)])
def test_repair_by_degree__among_more_nodes_than_a_task_can_hold_all_pairs_of_is_refused(
    nodes, is_refused, weighted, memory
):
    options = Options(
        design=DesignOptions(task_memory=memory),
        churn=ChurnOptions(objective=DEGREE),
        degrees=DegreeOptions(weighted=weighted),
    )
    with pytest.raises(TooLarge, match="513 nodes") if is_refused else nullcontext():
        mended(lone(nodes), checks.overlay_of([]), np.arange(nodes), options, 5)


def lone(n):
    """Nodes each of which wants a topic of its own."""
    return Instance.from_pairs(n, n, np.arange(n), np.arange(n), point_costs(np.zeros((n, 1)), np.zeros(n), 1.0))
