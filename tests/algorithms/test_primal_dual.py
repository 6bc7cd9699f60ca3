import numpy as np
import pytest
from hypothesis import given

from overlay_spark.algorithms.primal_dual import primal_dual
from overlay_spark.algorithms.registry import ALGORITHMS, find
from overlay_spark.algorithms.reverse_delete import primal_dual_reverse_delete, reverse_delete
from overlay_spark.costs import matrix_costs
from overlay_spark.kernels.components import new_growing
from overlay_spark.kernels.primal_dual import select_tight_links
from overlay_spark.options import GreedyOptions, Options
from tests import checks, naive
from tests.strategies import instances


def lemma_10(n):
    """Paper 000, Lemma 10: a star around node 0 is enough, and primal-dual builds the clique first."""
    pairs = [(p, q) for p in range(1, n + 1) for q in range(1, n + 1)]
    wants = [range(n * n), *[[i for i, pair in enumerate(pairs) if p in pair] for p in range(1, n + 1)]]
    costs = np.full((n + 1, n + 1), 1000)
    costs[0, :] = costs[:, 0] = (2 * n - 1) * 500 + 1
    return checks.instance_of(wants, n * n, matrix_costs(costs))


@given(instances(max_nodes=9, max_topics=70))
def test_primal_dual__picks_what_the_paper_s_algorithm_picks(instance):
    found = primal_dual(instance)
    picks, value = naive.primal_dual(instance)
    assert checks.picks(found) == picks
    assert checks.joins_all_that_can_be(instance, found)
    assert found.lower_bound <= value
    assert found.lower_bound >= float(value) * (1 - 2e-9)


@given(instances(max_nodes=12, complete=True))
def test_primal_dual__raises_no_dual_variable_too_far(instance):
    """The raises, replayed link by link, leave every dual constraint satisfied, and add up to the value told."""
    state = new_growing(instance.n_topics, instance.offsets, instance.topics)
    found = select_tight_links(state, instance.costs, 0)
    allowed = naive.allowed(instance)
    paid = dict.fromkeys(allowed, 0.0)
    overlay = naive.Overlay(instance)
    remaining = sum(len(label) - 1 for label in overlay.labels if label)
    value = clock = 0.0
    for u, v, then in zip(found.src.tolist(), found.dst.tolist(), found.clock.tolist(), strict=True):
        assert then >= clock
        for pair in paid:
            paid[pair] += len(overlay.joined(*pair)) * (then - clock)
        value += remaining * (then - clock)
        remaining -= len(overlay.add(u, v))
        clock = then
    assert remaining == 0
    assert all(paid[pair] <= cost * (1 + 1e-9) for pair, cost in allowed.items())
    assert found.dual == pytest.approx(value, rel=1e-12)


@given(instances(max_nodes=30, complete=True))
def test_primal_dual__does_not_depend_on_the_band(instance):
    expected = primal_dual(instance)
    for band in (1, 7):
        found = primal_dual(instance, GreedyOptions(band=band))
        assert checks.picks(found) == checks.picks(expected)
        assert found.lower_bound == pytest.approx(expected.lower_bound, rel=1e-12)


@given(instances(max_nodes=5, max_topics=6, complete=True))
def test_bound__is_below_the_optimum_and_that_below_every_algorithm(instance):
    best = naive.optimum(instance)
    assert primal_dual(instance).lower_bound <= best
    for algorithm in ALGORITHMS:
        links = algorithm(instance, Options())
        assert links.total_cost >= best
        assert checks.is_topic_connected(instance, links)
    greedy = find("GrMAW")(instance, Options()).total_cost
    assert greedy <= checks.harmonic(checks.most_shared(instance)) * best * (1 + 1e-12)


@given(instances(max_nodes=9, max_topics=12))
def test_reverse_delete__drops_what_the_slow_twin_drops(instance):
    for start in (primal_dual(instance), find("trees")(instance, Options())):
        found = reverse_delete(instance, start)
        assert found.pairs() == naive.reverse_delete(instance, start.pairs())
        assert found.contribution.tolist() == naive.replay(instance, found.pairs())
        assert found.lower_bound == start.lower_bound


@given(instances(max_nodes=20, max_topics=12))
def test_reverse_delete__leaves_no_link_that_could_go(instance):
    found = primal_dual_reverse_delete(instance)
    wanted = naive.topic_components(instance, found.pairs())
    assert wanted == naive.topic_components(instance, naive.allowed(instance))
    for pair in found.pairs():
        fewer = [other for other in found.pairs() if other != pair]
        assert naive.topic_components(instance, fewer) != wanted


@pytest.mark.parametrize("n", [5, 20])
def test_lemma_10__primal_dual_builds_the_clique_and_reverse_delete_leaves_the_star(n):
    instance = lemma_10(n)
    star = [(0, p) for p in range(1, n + 1)]
    clique = [(p, q) for p in range(1, n + 1) for q in range(p + 1, n + 1)]
    both, deleted = primal_dual(instance), primal_dual_reverse_delete(instance)
    assert both.pairs() == [*clique, *star]
    assert deleted.pairs() == star
    eps = 1 / 1000
    expected = (n * n - n) / (2 * n * n - n + 2 * eps * n) + 1
    assert both.total_cost / deleted.total_cost == pytest.approx(expected)
    assert 1.4 < expected < 1.5
