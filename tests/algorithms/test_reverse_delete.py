import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.primal_dual import primal_dual
from overlay_spark.algorithms.reverse_delete import primal_dual_reverse_delete, reverse_delete
from overlay_spark.algorithms.trees import trees
from overlay_spark.costs import matrix_costs
from tests import checks, naive
from tests.strategies import instances, overlays


def lemma_10(n):
    """Paper 000, Lemma 10: a star around node 0 is enough, and primal-dual builds the clique first."""
    pairs = [(p, q) for p in range(1, n + 1) for q in range(1, n + 1)]
    wants = [range(n * n), *[[i for i, pair in enumerate(pairs) if p in pair] for p in range(1, n + 1)]]
    costs = np.full((n + 1, n + 1), 1000)
    costs[0, :] = costs[:, 0] = (2 * n - 1) * 500 + 1
    return checks.instance_of(wants, n * n, matrix_costs(costs))


@given(instances(max_nodes=9, max_topics=12))
def test_reverse_delete__drops_what_the_slow_twin_drops(instance):
    for start in (primal_dual(instance), trees(instance)):
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


@given(overlays(), st.data())
def test_reverse_delete__never_drops_a_link_of_the_start(overlay, data):
    instance, pairs = overlay
    at = data.draw(st.integers(0, len(pairs)))
    start, links = pairs[:at], pairs[at:]
    found = reverse_delete(instance, checks.links_of(instance, links), start=checks.overlay_of(start))
    assert found.pairs() == naive.reverse_delete(instance, links, start)
    assert found.contribution.tolist() == naive.replay(instance, found.pairs(), start)


@given(overlays(max_topics=12, any_pair=True))
def test_primal_dual_reverse_delete__after_a_start_drops_what_the_slow_twin_drops(overlay):
    instance, start = overlay
    grown = [pick[:2] for pick in naive.primal_dual(instance, start)[0]]
    found = primal_dual_reverse_delete(instance, start=checks.overlay_of(start))
    assert found.pairs() == naive.reverse_delete(instance, grown, start)
    assert found.lower_bound == primal_dual(instance, start=checks.overlay_of(start)).lower_bound


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
