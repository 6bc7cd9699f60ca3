from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import fewest_links, greedy
from overlay_spark.costs import listed_costs
from overlay_spark.kernels.link_costs import costs_of
from overlay_spark.options import KernelOptions
from tests import checks, naive
from tests.strategies import instances, overlays


@given(instances())
def test_greedy__picks_what_the_naive_rule_picks(instance):
    links = greedy(instance)
    assert checks.picks(links) == naive.greedy(instance)
    assert checks.joins_all_that_can_be(instance, links)


@given(overlays(max_nodes=10, any_pair=True))
def test_greedy__after_a_start_picks_what_the_naive_rule_picks(overlay):
    instance, start = overlay
    assert checks.picks(greedy(instance, start=checks.overlay_of(start))) == naive.greedy(instance, start)


@given(overlays(max_nodes=5, max_topics=12))
def test_greedy__keeps_its_proved_factor_on_what_must_be_added(overlay):
    instance, start = overlay
    factor = checks.harmonic(checks.most_shared(instance))
    optimum = naive.optimum(instance, start)
    assert optimum <= greedy(instance, start=checks.overlay_of(start)).total_cost <= factor * optimum * (1 + 1e-9)


@given(instances(complete=True))
def test_greedy__connects_every_topic_where_every_pair_may_link(instance):
    links = greedy(instance)
    assert checks.is_topic_connected(instance, links)
    assert checks.every_link_contributes(instance, links)


@given(instances(max_nodes=5))
def test_greedy__keeps_its_proved_factor(instance):
    factor = checks.harmonic(checks.most_shared(instance))
    optimum = naive.optimum(instance)
    assert optimum <= greedy(instance).total_cost <= factor * optimum * (1 + 1e-9)


@given(instances(max_topics=1))
def test_greedy__of_one_topic_is_its_minimum_spanning_tree(instance):
    assert sorted(greedy(instance).pairs()) == sorted(naive.trees(instance))


@given(instances(), st.sampled_from([1, 3]))
def test_greedy__does_not_depend_on_the_band(instance, band):
    assert checks.picks(greedy(instance, KernelOptions(band=band))) == checks.picks(greedy(instance))


@given(instances(listed=False))
def test_greedy__of_all_pairs_listed_is_that_of_costs_not_listed(instance):
    costs = instance.costs
    src, dst = (ends.astype(np.int32) for ends in np.triu_indices(instance.n_nodes, 1))
    listed = replace(instance, costs=listed_costs(src, dst, costs_of(costs, src, dst)))
    assert checks.picks(greedy(listed)) == checks.picks(greedy(instance))


@given(instances())
def test_fewest_links__picks_what_the_naive_rule_picks_at_real_costs(instance):
    links = fewest_links(instance)
    costs = naive.allowed(instance)
    assert checks.picks(links) == naive.fewest_links(instance)
    assert links.cost.tolist() == [costs[pair] for pair in links.pairs()]


@given(overlays(max_nodes=10, any_pair=True))
def test_fewest_links__after_a_start_picks_what_the_naive_rule_picks(overlay):
    instance, start = overlay
    links, costs = fewest_links(instance, start=checks.overlay_of(start)), naive.allowed(instance)
    assert checks.picks(links) == naive.fewest_links(instance, start)
    assert links.cost.tolist() == [costs[pair] for pair in links.pairs()]


@given(instances(max_nodes=5))
def test_fewest_links__keeps_its_proved_factor(instance):
    least = naive.optimum(instance.with_unit_costs())
    factor = checks.harmonic(checks.most_shared(instance))
    assert least <= len(fewest_links(instance)) <= factor * least * (1 + 1e-9)
