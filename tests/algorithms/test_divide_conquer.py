"""Divide and conquer: published overlays link by link, its parts by greedy, its joins by the naive rule."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.divide_conquer import (
    components_of,
    divide_conquer,
    join_parts,
    representatives,
)
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.costs import matrix_costs, to_units
from overlay_spark.options import KernelOptions
from overlay_spark.options.divide import COVERS
from tests import checks, naive
from tests.conftest import GOLDEN
from tests.strategies import SEEDS, instances

CASES = [json.loads(path.read_text()) for path in GOLDEN]
OPTIONS = KernelOptions()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_case__has_its_inner_links_by_part_and_then_those_between(case):
    costs = matrix_costs(to_units(np.array(case["W"]), 1 / 1024))
    instance = checks.instance_of([np.flatnonzero(row) for row in case["X"]], case["T"], costs)
    parts, expected = np.array(case["partition"]), case["expected"]["DcMAW"]
    links = divide_conquer(instance, parts, case["dc_lambda"], OPTIONS)
    assert [list(pair) for pair in links.pairs()] == expected["edges"]
    assert links.contribution.tolist() == naive.replay(instance, links.pairs())
    assert (parts[links.src] == parts[links.dst]).tolist() == [i < expected["inner_edges"] for i in range(len(links))]
    for part, chosen in zip(np.unique(parts), expected["representatives"], strict=True):
        nodes = np.flatnonzero(parts == part)
        inside = instance.among(nodes)
        own = components_of(inside, greedy(inside, OPTIONS))
        assert nodes[representatives(inside, own, case["dc_lambda"])].tolist() == chosen


@given(instances(listed=False), st.integers(1, 4), st.integers(1, 3), SEEDS)
def test_divide_conquer__connects_every_topic_with_links_that_each_join_something(instance, n_parts, copies, seed):
    parts = np.random.default_rng(seed).integers(0, n_parts, instance.n_nodes)
    links = divide_conquer(instance, parts, copies, OPTIONS)
    assert checks.is_topic_connected(instance, links)
    assert links.contribution.tolist() == naive.replay(instance, links.pairs())
    assert all(links.contribution)


@given(instances(), st.integers(1, 4), SEEDS)
def test_join_parts__is_greedy_after_all_of_a_part_are_linked(instance, n_parts, seed):
    parts = np.random.default_rng(seed).integers(0, n_parts, instance.n_nodes)
    together = [(u, v) for v in range(instance.n_nodes) for u in range(v) if parts[u] == parts[v]]
    joined = join_parts(instance, parts[instance.nodes], OPTIONS)
    assert checks.picks(joined.links) == naive.greedy(instance, together)


@given(instances(), st.integers(1, 4), SEEDS)
def test_join_parts__names_components_by_the_least_name_that_went_into_them(instance, n_parts, seed):
    parts = np.random.default_rng(seed).integers(0, n_parts, instance.n_nodes)
    names = parts[instance.nodes] + 100
    joined = join_parts(instance, names, OPTIONS)
    together = [(u, v) for v in range(instance.n_nodes) for u in range(v) if parts[u] == parts[v]]
    components = naive.topic_components(instance, together + joined.links.pairs())
    expected = {}
    for t, label in enumerate(components):
        for v in label:
            alike = [w for w in label if label[w] == label[v]]
            expected[t, v] = min(parts[alike]) + 100
    found = zip(instance.topics.tolist(), instance.nodes.tolist(), joined.components.tolist(), strict=True)
    assert {(t, v): name for t, v, name in found} == expected


@given(instances(), st.integers(1, 3), st.sampled_from(COVERS), SEEDS)
def test_representatives__stand_in_every_wanted_component(instance, copies, cover, seed):
    links = greedy(instance, OPTIONS)
    half = links.take(np.arange(len(links) // 2))
    components = components_of(instance, half)
    wanted = np.random.default_rng(seed).random(instance.n_subscriptions) < 0.7
    chosen = representatives(instance, components, copies, cover, half, wanted)
    assert len(set(chosen.tolist())) == len(chosen)
    stands = np.isin(instance.nodes, chosen)
    for name in set(zip(instance.topics[wanted].tolist(), components[wanted].tolist(), strict=True)):
        of_it = (instance.topics == name[0]) & (components == name[1]) & wanted
        assert (of_it & stands).sum() >= min(copies, of_it.sum())


def test_representatives_by_weighted_degree__are_those_with_cheap_links():
    instance = checks.instance_of([{0, 1, 2}, {0, 1}, {2}, {0, 1, 2}], 3)
    links = checks.links_of(instance, [(0, 1), (0, 2), (0, 3)])
    components = components_of(instance, links)
    assert representatives(instance, components, 1, "topics", links).tolist() == [0]
    assert representatives(instance, components, 1, "weighted_degree", links).tolist() == [3]


def test_one_part__is_greedy():
    instance = checks.instance_of([{0, 1}, {1}, {0, 1}, {0}], 2)
    for parts in ([0, 0, 0, 0], [7, 7, 7, 7]):
        assert checks.picks(divide_conquer(instance, np.array(parts), 1, OPTIONS)) == checks.picks(greedy(instance))
