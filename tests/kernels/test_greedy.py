import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.costs import MAX_UNITS, matrix_costs
from overlay_spark.instance import Instance
from overlay_spark.kernels import greedy as kernels
from overlay_spark.kernels import waiting as waiting_kernels
from overlay_spark.kernels.ranks import COST, COST_PER_TOPIC
from tests import checks, naive
from tests.strategies import COMPILED, instances


def select(instance, rule=COST_PER_TOPIC, band=0):
    return kernels.select_links(instance.growing(), instance.costs, rule, band)


def rows_of(found):
    return [tuple(row) for row in found.rows.tolist()]


def picks(instance, band=0):
    return [(u, v, joins) for u, v, _, joins, _ in rows_of(select(instance, band=band))]


def random_instance(n_nodes, n_topics, density, highest, seed=1):
    """Popular topics and rare ones, whose dear links are needed all the same: the last picks rank high."""
    rng = np.random.default_rng(seed)
    nodes, topics = np.nonzero(rng.random((n_nodes, n_topics)) < np.linspace(0, density, n_topics))
    table = np.triu(rng.integers(1, highest + 1, (n_nodes, n_nodes)), 1)
    return Instance.from_pairs(n_nodes, n_topics, nodes, topics, matrix_costs(table + table.T))


@given(instances())
def test_select_links__picks_what_the_naive_rule_picks(instance):
    assert picks(instance) == naive.greedy(instance)


@given(instances(max_nodes=9))
def test_select_links__without_contributions_picks_by_cost_alone(instance):
    overlay, expected = naive.Overlay(instance), []
    costs = naive.allowed(instance)
    for u, v in sorted(costs, key=lambda pair: (costs[pair], pair)):
        if topics := overlay.add(u, v):
            expected.append((u, v, costs[u, v], len(topics), topics[0]))
    assert rows_of(select(instance, COST)) == expected


@given(instances(max_nodes=10), st.sampled_from([COST, COST_PER_TOPIC]), st.sampled_from([1, 2, 3, 7]))
def test_select_links__does_not_depend_on_the_band(instance, rule, band):
    assert rows_of(select(instance, rule, band)) == rows_of(select(instance, rule))


@given(instances(max_nodes=8))
def test_select_links__counts_candidates_and_evaluations(instance):
    found = select(instance)
    is_needed = any(len(nodes) > 1 for nodes in naive.members(instance))
    assert found.candidates == (len(naive.allowed(instance)) if is_needed else 0)
    assert len(found.rows) <= found.evaluations
    assert found.bands <= 1


@pytest.mark.parametrize("rule", [COST, COST_PER_TOPIC])
def test_select_links__of_many_bands_equals_one_band(rule):
    instance = random_instance(500, 100, 0.5, 1000) if COMPILED else random_instance(40, 30, 0.5, 1000)
    one = select(instance, rule, band=10**9)
    own = select(instance, rule, band=0 if COMPILED else 200)
    small = select(instance, rule, band=5000 if COMPILED else 50)
    assert one.bands == 1 < own.bands < small.bands
    assert rows_of(one) == rows_of(own) == rows_of(small)


@given(instances(max_nodes=8), st.sampled_from([COST, COST_PER_TOPIC]))
def test_select_links__tells_the_rank_of_each_pick(instance, rule):
    found = select(instance, rule)
    expected = [cost / joins if rule == COST_PER_TOPIC else float(cost) for _, _, cost, joins, _ in rows_of(found)]
    assert found.ranks.tolist() == expected == sorted(expected)
    assert found.dual == 0


def test_select_links__lets_many_candidates_of_one_rank_through_the_heap():
    instance = checks.instance_of([[t] for t in range(3) for _ in range(14)], 3)
    assert len(naive.allowed(instance)) > 64 * 4  # all of rank 1
    assert picks(instance) == naive.greedy(instance)


def test_select_links__keeps_ties_in_order_while_ranks_rise():
    instance = random_instance(24, 40, 0.8, 1)
    assert picks(instance) == naive.greedy(instance)
    assert len({joins for *_, joins in picks(instance)}) > 5


@pytest.mark.parametrize("band", [0, 1])
def test_select_links__keeps_a_candidate_whose_rank_rises_within_its_bin(band):
    # Each two of three nodes share 999 topics of their own, and all three share one more, lost to the last pair.
    assert waiting_kernels.bin_of(1 / 1000) == waiting_kernels.bin_of(1 / 999)
    own = [range(1 + 999 * i, 1000 + 999 * i) for i in range(3)]
    instance = checks.instance_of([[0, *own[0], *own[1]], [0, *own[0], *own[2]], [0, *own[1], *own[2]]], 1 + 3 * 999)
    assert picks(instance, band) == [(0, 1, 1000), (0, 2, 1000), (1, 2, 999)]


@pytest.mark.parametrize("n_topics", [1, 200])
def test_select_links__finds_the_least_and_the_greatest_rank_there_can_be(n_topics):
    wants = [range(n_topics), range(n_topics), [0]]
    far = MAX_UNITS
    costs = matrix_costs(np.array([[0, 1, far], [1, 0, far], [far, far, 0]]))
    assert picks(checks.instance_of(wants, n_topics, costs)) == [(0, 1, n_topics), (0, 2, 1)]


def test_select_links__has_room_for_as_many_picks_as_there_are_pairs():
    n = 30
    instance = checks.instance_of([[t for t in range(n * n) if v in divmod(t, n)] for v in range(n)], n * n)
    found = select(instance)  # a topic for every pair: every pair is needed
    assert len(found.rows) == n * (n - 1) // 2
