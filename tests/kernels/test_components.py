import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels import components as kernels
from tests import checks, naive
from tests.strategies import WORD_BORDERS, graphs, instances


def growing(instance):
    return kernels.new_growing(instance.n_topics, instance.offsets, instance.topics)


def columns(pairs, dtype):
    return np.array(list(pairs), dtype).reshape(-1, 2).T.copy()


@st.composite
def overlays(draw):
    """A problem, and some of its allowed pairs in any order."""
    instance = draw(instances(max_nodes=8))
    pairs = draw(st.permutations(list(naive.allowed(instance))))
    return instance, pairs[: draw(st.integers(0, len(pairs)))]


def labels_by_topic(instance, state):
    """Topic -> node -> the node that names its component in the growing overlay."""
    found = [{} for _ in range(instance.n_topics)]
    for position, topic in enumerate(instance.topics.tolist()):
        found[topic][int(state.node[position])] = int(state.node[state.label[position]])
    return found


def groups(label):
    return {frozenset(v for v in label if label[v] == name) for name in label.values()}


@given(graphs(max_nodes=20))
def test_connected_labels__are_the_least_vertex_of_each_component(graph):
    n, edges = graph
    left, right = columns([(a, b) for a, b, _ in edges], np.int64)
    label = naive.components(range(n), [(a, b) for a, b, _ in edges])
    assert kernels.connected_labels(n, left, right).tolist() == [label[v] for v in range(n)]


def test_connected_labels__do_not_depend_on_the_order_of_edges():
    edges = [(0, 3), (4, 5), (3, 5), (1, 2)]
    expected = [0, 1, 1, 0, 0, 0]
    for rows in (edges, edges[::-1], [(b, a) for a, b in edges]):
        assert kernels.connected_labels(6, *columns(rows, np.int64)).tolist() == expected


@given(overlays())
def test_shared_positions__join_the_same_topic_at_both_ends_of_every_link(overlay):
    instance, pairs = overlay
    left, right = kernels.shared_positions(instance.offsets, instance.topics, *columns(pairs, np.int32))
    wants = naive.interests(instance)
    found = [
        (int(instance.nodes[a]), int(instance.nodes[b]), int(instance.topics[a]), int(instance.topics[b]))
        for a, b in zip(left, right, strict=True)
    ]
    assert found == [(u, v, t, t) for u, v in pairs for t in sorted(wants[u] & wants[v])]


@given(overlays())
def test_shared_counts__are_the_sizes_of_the_shared_interests(overlay):
    instance, pairs = overlay
    wants = naive.interests(instance)
    counts = kernels.shared_counts(instance.offsets, instance.topics, *columns(pairs, np.int32))
    assert counts.tolist() == [len(wants[u] & wants[v]) for u, v in pairs]


@given(overlays())
def test_replay_contributions__are_those_of_plain_sets(overlay):
    instance, pairs = overlay
    joined = kernels.replay_contributions(growing(instance), *columns(pairs, np.int32))
    assert joined.tolist() == naive.replay(instance, pairs)


@given(overlays())
def test_growing__keeps_the_components_of_every_topic(overlay):
    instance, pairs = overlay
    state, twin = growing(instance), naive.Overlay(instance)
    for u, v in pairs:
        topics = twin.add(u, v)
        assert kernels.join(state, u, v) == (topics[0] if topics else -1)
    by_topic = labels_by_topic(instance, state)
    assert [groups(label) for label in by_topic] == [groups(label) for label in twin.labels]
    assert state.apart[0] == sum(len(set(label.values())) - 1 for label in twin.labels if label)


@given(overlays())
def test_growing__settles_exactly_the_members_of_each_topics_main_component(overlay):
    instance, pairs = overlay
    state = growing(instance)
    for u, v in pairs:
        kernels.join(state, u, v)
    for topic, label in enumerate(labels_by_topic(instance, state)):
        word, bit = divmod(topic, 64)
        settled = {v for v in range(instance.n_nodes) if int(state.settled[v, word]) >> bit & 1}
        largest = max((len(group) for group in groups(label)), default=0)
        assert settled in (groups(label) if largest > 1 else [set()])
        assert len(settled) == (largest if largest > 1 else 0)


@given(overlays())
def test_contribution__is_exact_and_its_bound_never_below_it(overlay):
    instance, pairs = overlay
    state, twin = growing(instance), naive.Overlay(instance)
    exhausted = set()
    for added in [None, *pairs]:
        if added:
            kernels.join(state, *added)
            twin.add(*added)
        for u, v in naive.allowed(instance):
            joins, bound = len(twin.joined(u, v)), kernels.contribution_bound(state, u, v)
            assert kernels.contribution(state, u, v) == joins <= bound <= len(twin.wants[u] & twin.wants[v])
            if not bound:
                exhausted.add((u, v))
            assert not (joins and (u, v) in exhausted)  # a bound of 0 means 0 for ever, even if the bound rises again


def test_contribution__counts_topics_on_both_sides_of_every_word_border():
    for n_topics in WORD_BORDERS:
        instance = checks.instance_of([range(n_topics)] * 3, n_topics)
        state = growing(instance)
        assert state.bits.shape == (3, -(-n_topics // 64))
        assert kernels.contribution(state, 0, 2) == kernels.contribution_bound(state, 0, 2) == n_topics
        assert kernels.join(state, 0, 2) == 0
        assert kernels.contribution_bound(state, 0, 2) == 0
        assert kernels.contribution(state, 1, 2) == n_topics


def test_growing__lets_a_larger_component_become_the_main_one():
    instance = checks.instance_of([[0]] * 7, 1)
    state = growing(instance)
    for u, v in [(0, 1), (2, 3), (4, 5), (3, 4)]:  # four nodes outgrow the first two, which were the main ones
        kernels.join(state, u, v)
    assert state.settled[:, 0].tolist() == [0, 0, 1, 1, 1, 1, 0]
    kernels.join(state, 1, 6)
    kernels.join(state, 6, 2)
    assert state.settled[:, 0].tolist() == [1] * 7
    assert state.apart[0] == 0


def test_join__relabels_the_smaller_component_and_keeps_the_larger_ones_name():
    instance = checks.instance_of([[0]] * 6, 1)
    state = growing(instance)
    for u, v in [(0, 1), (1, 2), (3, 4)]:
        kernels.join(state, u, v)
    name = int(state.label[0])
    for u, v in [(4, 0), (2, 5)]:  # from either end
        kernels.join(state, u, v)
        assert state.label[0] == name
    assert state.label.tolist() == [name] * 6
