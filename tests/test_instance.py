import numpy as np
import pytest
from hypothesis import given

from overlay_spark.errors import GuardError
from overlay_spark.instance import MOST_SUBSCRIPTIONS, Instance, Links
from tests import checks, naive
from tests.strategies import SEEDS, instances, overlays


@given(instances(), SEEDS)
def test_from_pairs__does_not_depend_on_the_order_of_subscriptions(instance, seed):
    order = np.random.default_rng(seed).permutation(instance.n_subscriptions)
    again = Instance.from_pairs(
        instance.n_nodes, instance.n_topics, instance.nodes[order], instance.topics[order], instance.costs
    )
    assert again.offsets.tolist() == instance.offsets.tolist()
    assert again.topics.tolist() == instance.topics.tolist()


def test_from_pairs__sorts_rows_and_keeps_nodes_and_topics_nobody_wants():
    costs = checks.matrix([(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1)])
    instance = Instance.from_pairs(4, 6, np.array([2, 0, 2, 2]), np.array([4, 1, 0, 3]), costs)
    assert instance.offsets.tolist() == [0, 1, 1, 4, 4]
    assert [instance.topics_of(v).tolist() for v in range(4)] == [[1], [], [0, 3, 4], []]
    assert instance.nodes.tolist() == [0, 2, 2, 2]
    assert instance.topic_sizes.tolist() == [1, 1, 0, 1, 1, 0]
    assert (instance.n_nodes, instance.n_topics, instance.n_subscriptions) == (4, 6, 4)
    assert (instance.offsets.dtype, instance.topics.dtype) == (np.int64, np.int32)


@given(instances())
def test_topic_sizes__count_the_nodes_of_each_topic(instance):
    assert instance.topic_sizes.tolist() == [len(nodes) for nodes in naive.members(instance)]


@given(overlays())
def test_component_labels__are_the_position_of_each_components_first_member(overlay):
    instance, links = overlay[0], checks.links_of(*overlay)
    by_topic = naive.topic_components(instance, links.pairs())
    labels = instance.component_labels(links)
    for position, (v, t) in enumerate(zip(instance.nodes.tolist(), instance.topics.tolist(), strict=True)):
        first = labels[position]
        assert (instance.nodes[first], instance.topics[first]) == (by_topic[t][v], t)


@given(overlays())
def test_broken_topics__are_those_of_the_naive_search(overlay):
    instance, links = overlay[0], checks.links_of(*overlay)
    broken = instance.broken_topics(links)
    assert broken.tolist() == naive.broken_topics(instance, links.pairs())
    assert broken.dtype == np.int32


def test_broken_topics__are_not_mended_through_nodes_of_other_topics():
    instance = checks.instance_of([[0, 1], [1], [0, 1]], 2)
    links = checks.links_of(instance, [(0, 1), (1, 2)])
    assert instance.broken_topics(links).tolist() == [0]


def test_with_unit_costs__leaves_interests_and_the_original_alone():
    costs = checks.matrix([(0, 1, 7)])
    instance = checks.instance_of([[0], [0]], 1, costs)
    again = instance.with_unit_costs()
    assert naive.allowed(again) == {(0, 1): 1}
    assert naive.allowed(instance) == {(0, 1): 7}
    assert again.topics.tolist() == instance.topics.tolist()


def test_links__know_their_length_pairs_and_total_cost():
    links = Links(
        np.array([0, 1], np.int32), np.array([2, 3], np.int32), np.array([2**40, 1]), np.array([3, 1], np.int32)
    )
    assert len(links) == 2
    assert links.pairs() == [(0, 2), (1, 3)]
    assert links.total_cost == 2**40 + 1
    assert type(links.total_cost) is int
    assert checks.picks(links.take(np.array([1, 0]))) == [(1, 3, 1), (0, 2, 3)]
    assert links.take(np.array([1])).cost.tolist() == [1]


def test_from_picks__makes_columns_of_rows_and_keeps_what_else_is_told():
    rows = np.array([[0, 2, 2**40, 3, 9], [1, 3, 1, 1, 8]])
    links = Links.from_picks(rows, lower_bound=2.5)
    assert checks.picks(links) == [(0, 2, 3), (1, 3, 1)]
    assert links.cost.tolist() == [2**40, 1]
    assert (links.lower_bound, links.sum_of_trees) == (2.5, None)
    assert [column.dtype for column in (links.src, links.dst, links.cost, links.contribution)] == [
        np.int32,
        np.int32,
        np.int64,
        np.int32,
    ]
    assert all(column.flags.c_contiguous for column in (links.src, links.dst, links.cost, links.contribution))


@given(overlays(any_pair=True), SEEDS)
def test_contributions__are_those_of_a_replay_after_the_start(overlay, seed):
    instance, pairs = overlay
    links = [pairs[i] for i in np.random.default_rng(seed).permutation(len(pairs))[:5]]
    found = instance.contributions(checks.overlay_of(links), checks.overlay_of(pairs[:3]))
    assert found.tolist() == naive.replay(instance, links, pairs[:3])


@given(overlays())
def test_topic_shapes__count_nodes_links_and_components(overlay):
    instance, pairs = overlay
    members = naive.members(instance)
    expected = [
        [len(nodes), sum(u in nodes and v in nodes for u, v in pairs), len(set(label.values()))]
        for nodes, label in zip(members, naive.topic_components(instance, pairs), strict=True)
    ]
    assert instance.topic_shapes(checks.links_of(instance, pairs))[:, :3].tolist() == expected


@given(instances(), SEEDS)
def test_among__is_the_problem_of_some_nodes(instance, seed):
    nodes = np.flatnonzero(np.random.default_rng(seed).random(instance.n_nodes) < 0.6)
    some, wants = instance.among(nodes), naive.interests(instance)
    assert naive.interests(some) == [wants[v] for v in nodes.tolist()]
    place = {v: i for i, v in enumerate(nodes.tolist())}
    expected = {(place[u], place[v]): c for (u, v), c in naive.allowed(instance).items() if u in place and v in place}
    assert naive.allowed(some) == expected


@given(instances(), SEEDS)
def test_only__is_the_problem_where_some_topics_count(instance, seed):
    wanted = np.random.default_rng(seed).random(instance.n_topics) < 0.6
    part, topics = instance.only(wanted), set(np.flatnonzero(wanted).tolist())
    assert naive.interests(part) == [wants & topics for wants in naive.interests(instance)]
    assert (part.n_nodes, part.n_topics) == (instance.n_nodes, instance.n_topics)
    assert (part.offsets.dtype, part.topics.dtype) == (np.int64, np.int32)
    assert part.costs is instance.costs


@given(instances(), SEEDS)
def test_rows_of__are_the_positions_of_one_nodes_subscriptions_after_the_others(instance, seed):
    rng = np.random.default_rng(seed)
    nodes = rng.permutation(instance.n_nodes)[: rng.integers(0, instance.n_nodes + 1)]
    expected = [at for v in nodes for at in range(instance.offsets[v], instance.offsets[v + 1])]
    assert instance.rows_of(nodes).tolist() == expected


@given(overlays(any_pair=True), SEEDS)
def test_grown_to__has_the_components_told_by_name(overlay, seed):
    """Names tell components of a topic apart, and may come again in another."""
    instance, pairs = overlay
    by_topic = naive.topic_components(instance, pairs)
    names = [by_topic[t][v] % 7 for v, t in zip(instance.nodes.tolist(), instance.topics.tolist(), strict=True)]
    state, twin = instance.grown_to(np.array(names, np.int64)), naive.Overlay(instance)
    for t, label in enumerate(by_topic):
        twin.labels[t] = {v: name % 7 for v, name in label.items()}
    assert state.apart[0] == twin.apart()
    labels = dict(zip(zip(instance.nodes.tolist(), instance.topics.tolist(), strict=True), state.label, strict=True))
    for t, label in enumerate(twin.labels):
        for u in label:
            assert all((labels[u, t] == labels[v, t]) == (label[u] == label[v]) for v in label)


@given(overlays(any_pair=True))
def test_degrees__count_the_links_of_each_node(overlay):
    instance, pairs = overlay
    found = checks.overlay_of(pairs).degrees(instance.n_nodes)
    assert found.tolist() == [sum(v in pair for pair in pairs) for v in range(instance.n_nodes)]


def test_instance__of_more_subscriptions_than_kernels_can_number_is_refused():
    many, costs = np.broadcast_to(np.int32(0), MOST_SUBSCRIPTIONS + 1), checks.matrix([(0, 0, 0)])  # in no memory
    with pytest.raises(
        GuardError, match="2,147,483,648 subscriptions are too many for one task: 2,147,483,647 is the most"
    ):
        Instance(1, np.array([0, len(many)]), many, costs)
    assert Instance(1, np.array([0, len(many) - 1]), many[1:], costs).n_nodes == 1


def test_links__one_after_the_other_and_renumbered():
    first, second = (checks.overlay_of(pairs) for pairs in ([(0, 2)], [(1, 2), (0, 1)]))
    both = Links.one_after_the_other([first, second])
    assert both.pairs() == [(0, 2), (1, 2), (0, 1)]
    assert both.renumbered(np.array([3, 5, 9])).pairs() == [(3, 9), (5, 9), (3, 5)]
    assert both.renumbered(np.array([3, 5, 9])).src.dtype == np.int32
