import numpy as np
from hypothesis import given

from overlay_spark.kernels import growing as kernels
from tests import checks, naive
from tests.strategies import WORD_BORDERS, overlays


def growing(instance):
    return kernels.new_growing(instance.n_topics, instance.offsets, instance.topics)


def labels_by_topic(instance, state):
    """Topic -> node -> the node that names its component in the growing overlay."""
    found = [{} for _ in range(instance.n_topics)]
    for position, topic in enumerate(instance.topics.tolist()):
        found[topic][int(instance.nodes[position])] = int(instance.nodes[state.label[position]])
    return found


def settled_in(state, topic):
    """The nodes that are settled in a topic, by the words there are."""
    words = [(v, w) for v in range(len(state.starts) - 1) for w in range(state.starts[v], state.starts[v + 1])]
    return [v for v, w in words if state.word[w] == topic >> 6 and int(state.settled[w]) >> (topic & 63) & 1]


def groups(label):
    return {frozenset(v for v in label if label[v] == name) for name in label.values()}


@given(overlays())
def test_replay__gives_the_contributions_of_plain_sets_and_leaves_the_links_joined(overlay):
    instance, pairs = overlay
    state = growing(instance)
    src, dst = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    assert kernels.replay(state, src, dst).tolist() == naive.replay(instance, pairs)
    assert kernels.replay(state, src, dst).tolist() == [0] * len(pairs)
    assert state.apart[0] == naive.Overlay(instance, pairs).apart()


@given(overlays())
def test_growing__keeps_the_components_of_every_topic(overlay):
    instance, pairs = overlay
    state, twin = growing(instance), naive.Overlay(instance)
    for u, v in pairs:
        topics = twin.add(u, v)
        assert kernels.join(state, u, v) == (topics[0] if topics else -1)
    by_topic = labels_by_topic(instance, state)
    assert [groups(label) for label in by_topic] == [groups(label) for label in twin.labels]
    assert state.apart[0] == twin.apart()


@given(overlays())
def test_growing__settles_exactly_the_members_of_each_topics_main_component(overlay):
    instance, pairs = overlay
    state = growing(instance)
    for u, v in pairs:
        kernels.join(state, u, v)
    for topic, label in enumerate(labels_by_topic(instance, state)):
        settled = set(settled_in(state, topic))
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
        assert state.starts.tolist() == [i * -(-n_topics // 64) for i in range(4)]
        assert kernels.contribution(state, 0, 2) == kernels.contribution_bound(state, 0, 2) == n_topics
        assert kernels.join(state, 0, 2) == 0
        assert kernels.contribution_bound(state, 0, 2) == 0
        assert kernels.contribution(state, 1, 2) == n_topics


@given(overlays())
def test_new_growing__keeps_only_words_that_have_topics(overlay):
    instance, _ = overlay
    state = growing(instance)
    for v in range(instance.n_nodes):
        words = range(state.starts[v], state.starts[v + 1])
        topics = instance.topics_of(v).tolist()
        assert [int(state.word[w]) for w in words] == sorted({t >> 6 for t in topics})
        for w in words:
            own = [t for t in topics if t >> 6 == state.word[w]]
            assert int(state.bits[w]) == sum(1 << (t & 63) for t in own)
            assert instance.topics[state.first[w]] == own[0]
            assert all(state.word_at[state.first[w] + i] == w for i in range(len(own)))


def test_contribution__of_nodes_whose_topics_are_far_apart_looks_at_those_they_share():
    wants = [[0, 1000, 5000, 99_999], [1000, 70_000, 99_999], [64, 5000], range(0, 100_000, 7)]
    instance = checks.instance_of(wants, 100_000)
    state = growing(instance)
    assert [len(state.word[a:b]) for a, b in zip(state.starts, state.starts[1:], strict=False)][:3] == [4, 3, 2]
    for u, v in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]:
        shared = len(set(wants[u]) & set(wants[v]))
        assert kernels.contribution(state, u, v) == kernels.shared_topics(state, u, v) == shared
    assert kernels.join(state, 0, 1) == 1000
    assert kernels.contribution(state, 0, 1) == 0


def test_growing__lets_a_larger_component_become_the_main_one():
    instance = checks.instance_of([[0]] * 7, 1)
    state = growing(instance)
    for u, v in [(0, 1), (2, 3), (4, 5), (3, 4)]:  # four nodes outgrow the first two, which were the main ones
        kernels.join(state, u, v)
    assert settled_in(state, 0) == [2, 3, 4, 5]
    kernels.join(state, 1, 6)
    kernels.join(state, 6, 2)
    assert settled_in(state, 0) == list(range(7))
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
