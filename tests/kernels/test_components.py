import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels import components as kernels
from tests import naive
from tests.strategies import SEEDS, graphs, overlays


def columns(pairs, dtype):
    return np.array(list(pairs), dtype).reshape(-1, 2).T.copy()


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


@given(st.integers(1, 9), SEEDS, st.integers(0, 4))
def test_stars__join_what_the_edges_of_each_graph_join(n, seed, n_graphs):
    """Graphs over the same vertices do not touch each other."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 8, n_graphs)
    starts = np.append(0, np.cumsum(counts)).astype(np.int64)
    left, right = rng.integers(0, n, (2, int(starts[-1])))
    leaf_starts, leaves, roots = kernels.stars(starts, left, right, n)
    assert len(leaf_starts) == n_graphs + 1
    assert leaf_starts[-1] == len(leaves) == len(roots)
    for i in range(n_graphs):
        edges = list(zip(left[starts[i] : starts[i + 1]], right[starts[i] : starts[i + 1]], strict=True))
        label = naive.components(range(n), edges)
        at = slice(leaf_starts[i], leaf_starts[i + 1])
        found = sorted(zip(leaves[at].tolist(), roots[at].tolist(), strict=True))
        assert found == [(v, label[v]) for v in range(n) if label[v] != v]


@given(overlays())
def test_shared_edges__join_the_same_topic_at_both_ends_of_every_link(overlay):
    instance, pairs = overlay
    counts, left, right = kernels.shared_edges(instance.offsets, instance.topics, *columns(pairs, np.int32))
    wants = naive.interests(instance)
    found = [
        (int(instance.nodes[a]), int(instance.nodes[b]), int(instance.topics[a]), int(instance.topics[b]))
        for a, b in zip(left, right, strict=True)
    ]
    assert found == [(u, v, t, t) for u, v in pairs for t in sorted(wants[u] & wants[v])]
    assert counts.tolist() == [len(wants[u] & wants[v]) for u, v in pairs]


@given(overlays(any_pair=True), st.integers(0, 8))
def test_joined_labels__go_on_from_those_of_before(overlay, cut):
    instance, pairs = overlay
    edges = [
        kernels.shared_edges(instance.offsets, instance.topics, *columns(some, np.int32))[1:]
        for some in (pairs, pairs[:cut], pairs[cut:])
    ]
    n = instance.n_subscriptions
    every, first = (kernels.connected_labels(n, *some) for some in edges[:2])
    assert kernels.joined_labels(first, *edges[2]).tolist() == every.tolist()


@given(overlays())
def test_places_by_topic__are_those_of_a_stable_sort(overlay):
    instance, _ = overlay
    places = kernels.places_by_topic(instance.n_topics, instance.topics)
    assert np.argsort(places).tolist() == np.argsort(instance.topics, kind="stable").tolist()


@given(overlays())
def test_shared_counts__are_the_sizes_of_the_shared_interests(overlay):
    instance, pairs = overlay
    wants = naive.interests(instance)
    counts = kernels.shared_counts(instance.offsets, instance.topics, *columns(pairs, np.int32))
    assert counts.tolist() == [len(wants[u] & wants[v]) for u, v in pairs]


@given(graphs())
def test_neighbour_rows__hold_every_edge_once_from_each_end(graph):
    n, edges = graph
    offsets, neighbours, lengths = kernels.neighbour_rows(n, *np.array(edges, np.int64).reshape(-1, 3).T.copy())
    found = [
        (v, int(neighbours[i]), int(lengths[i])) for v in range(n) for i in range(int(offsets[v]), int(offsets[v + 1]))
    ]
    assert len(found) == 2 * len(edges)
    assert sorted(found) == sorted(edges + [(b, a, length) for a, b, length in edges])
