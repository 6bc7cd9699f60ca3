import pytest
from hypothesis import given

from overlay_spark.algorithms.primal_dual import primal_dual
from overlay_spark.algorithms.registry import ALGORITHMS, find
from overlay_spark.options import KernelOptions, Options
from tests import checks, naive
from tests.strategies import instances, overlays


@given(instances(max_nodes=9, max_topics=70))
def test_primal_dual__picks_what_the_paper_s_algorithm_picks(instance):
    found = primal_dual(instance)
    picks, value = naive.primal_dual(instance)
    assert checks.picks(found) == picks
    assert checks.joins_all_that_can_be(instance, found)
    assert found.lower_bound <= value
    assert found.lower_bound >= float(value) * (1 - 2e-9)


@given(overlays(max_nodes=8, max_topics=70, any_pair=True))
def test_primal_dual__after_a_start_picks_what_the_paper_s_algorithm_picks(overlay):
    instance, start = overlay
    found = primal_dual(instance, start=checks.overlay_of(start))
    picks, value = naive.primal_dual(instance, start)
    assert checks.picks(found) == picks
    assert float(value) * (1 - 2e-9) <= found.lower_bound <= value


@given(overlays(max_nodes=5, max_topics=6))
def test_bound__after_a_start_is_below_the_optimum_of_what_must_be_added(overlay):
    instance, start = overlay
    found = primal_dual(instance, start=checks.overlay_of(start))
    if not naive.broken_topics(instance, naive.allowed(instance)):  # else there is nothing to be below
        assert found.lower_bound <= naive.optimum(instance, start) <= found.total_cost


@given(instances(max_nodes=30, complete=True))
def test_primal_dual__does_not_depend_on_the_band(instance):
    expected = primal_dual(instance)
    for band in (1, 7):
        found = primal_dual(instance, KernelOptions(band=band))
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
