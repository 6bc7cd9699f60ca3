from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.trees import trees
from overlay_spark.options import KernelOptions
from tests import checks, naive
from tests.strategies import instances, overlays


def rows_of(instance, chosen):
    """Some of the subscriptions, as sparse rows."""
    counts = np.bincount(instance.nodes[chosen], minlength=instance.n_nodes)
    return {"offsets": np.concatenate([[0], np.cumsum(counts)]), "topics": instance.topics[chosen]}


@given(instances())
def test_trees__are_kruskals_topic_by_topic(instance):
    links = trees(instance)
    assert links.pairs() == naive.trees(instance)
    assert links.contribution.tolist() == naive.replay(instance, links.pairs())
    assert checks.joins_all_that_can_be(instance, links)


@given(overlays(max_nodes=10, any_pair=True))
def test_trees__after_a_start_are_kruskals_from_its_components(overlay):
    instance, start = overlay
    links = trees(instance, start=checks.overlay_of(start))
    assert links.pairs() == naive.trees(instance, start)
    assert links.contribution.tolist() == naive.replay(instance, links.pairs(), start)


@given(overlays(max_nodes=9, max_topics=12))
def test_trees__tell_what_they_cost_when_each_topic_pays_for_its_own(overlay):
    instance, start = overlay
    topics = [instance.topics == t for t in range(instance.n_topics)]
    alone = [replace(instance, **rows_of(instance, of_topic)) for of_topic in topics]
    costs = [greedy(one, start=checks.overlay_of(start)).total_cost for one in alone]  # of one topic: its tree
    assert trees(instance, start=checks.overlay_of(start)).sum_of_trees == sum(costs)


@given(instances(), st.sampled_from([1, 3]))
def test_trees__do_not_depend_on_the_band(instance, band):
    assert checks.picks(trees(instance, KernelOptions(band=band))) == checks.picks(trees(instance))


@given(instances(max_nodes=5))
def test_trees__keep_their_proved_factor(instance):
    optimum = naive.optimum(instance)
    assert optimum <= trees(instance).total_cost <= max(1, instance.n_topics) * optimum


@given(instances(max_topics=1))
def test_trees__of_one_topic_cost_as_much_as_greedy(instance):
    assert trees(instance).total_cost == greedy(instance).total_cost


def test_trees__keep_a_link_that_joins_nothing_any_more():
    # Topic 1 has only nodes 0 and 2, so 0-2 is picked for it, dear as it is, and then joins 0 and 2 in topic 2 as well.
    # Topic 2's own tree goes through node 3; its second link comes when all is joined already.
    costs = checks.matrix([(0, 1, 1), (1, 2, 1), (0, 2, 5), (0, 3, 1), (2, 3, 1), (1, 3, 9)])
    instance = checks.instance_of([[0, 1, 2], [0], [0, 1, 2], [2]], 3, costs)
    assert checks.picks(trees(instance)) == [(0, 1, 1), (1, 2, 1), (0, 2, 2), (0, 3, 1), (2, 3, 0)]
