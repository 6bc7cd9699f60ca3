import numpy as np
import pytest
from hypothesis import given

from overlay_spark.kernels import diameters as kernels
from overlay_spark.kernels.components import neighbour_rows
from tests import checks, naive
from tests.strategies import graphs, instances


def rows_of(n, edges):
    left, right, lengths = np.array(edges, np.int64).reshape(-1, 3).T.copy()
    return neighbour_rows(n, left, right, lengths)


def hops_of(n, edges):
    """Without lengths."""
    offsets, neighbours, lengths = rows_of(n, edges)
    return offsets, neighbours, lengths[:0]


def hops(edges):
    return [(a, b, 1) for a, b, _ in edges]


@given(graphs())
def test_distances__are_those_of_all_pairs(graph):
    n, edges = graph
    expected = [[-1 if far == float("inf") else far for far in row] for row in naive.distances(n, edges)]
    assert [kernels.distances(*rows_of(n, edges), source).tolist() for source in range(n)] == expected
    by_hops = [[-1 if far == float("inf") else far for far in row] for row in naive.distances(n, hops(edges))]
    assert [kernels.distances(*hops_of(n, edges), source).tolist() for source in range(n)] == by_hops


@given(graphs(connected=True))
def test_diameter__is_the_greatest_distance_of_all_pairs(graph):
    n, edges = graph
    assert kernels.diameter(*rows_of(n, edges)) == naive.diameter(n, edges)
    assert kernels.diameter(*hops_of(n, edges)) == naive.diameter(n, hops(edges))


@pytest.mark.parametrize("n, edges, expected", [(1, [], 0), (2, [(0, 1, 7)], 7), (3, [(0, 1, 2), (1, 2, 2)], 4)])
def test_diameter__of_the_smallest_graphs(n, edges, expected):
    assert kernels.diameter(*rows_of(n, edges)) == expected


def test_diameter__of_a_ring_and_of_a_star():
    ring = [(v, (v + 1) % 31, 1) for v in range(31)]
    star = [(0, v, 5) for v in range(1, 40)]
    assert kernels.diameter(*rows_of(31, ring)) == kernels.diameter(*hops_of(31, ring)) == 15
    assert kernels.diameter(*rows_of(40, star)) == 10


@given(instances(max_nodes=8, max_topics=70))
def test_topic_shapes__are_those_of_the_naive_sub_overlays(instance):
    links = checks.links_of(instance, naive.trees(instance))
    expected = []
    for nodes, label in zip(naive.members(instance), naive.topic_components(instance, links.pairs()), strict=True):
        place = {v: i for i, v in enumerate(nodes)}
        rows = zip(*(column.tolist() for column in (links.src, links.dst, links.cost)), strict=True)
        edges = [(place[u], place[v], cost) for u, v, cost in rows if u in place and v in place]
        parts = len(set(label.values()))
        measured = [naive.diameter(len(nodes), e) for e in (hops(edges), edges)] if parts == 1 else [-1, -1]
        expected.append([len(nodes), len(edges), parts, *measured])
    assert instance.topic_shapes(links).tolist() == expected


def test_topic_shapes__measure_neither_broken_nor_empty_nor_large_topics():
    wants = [[0, 1, 3], [0, 1, 3], [0, 1], [1]]  # topic 2 has no node
    instance = checks.instance_of(wants, 4)
    links = checks.links_of(instance, [(0, 1), (1, 2)])
    assert instance.topic_shapes(links).tolist() == [
        [3, 2, 1, 2, 2],
        [4, 2, 2, -1, -1],
        [0, 0, 0, -1, -1],
        [2, 1, 1, 1, 1],
    ]
    assert instance.topic_shapes(links, most_nodes=2)[0].tolist() == [3, 2, 1, -1, -1]
    assert instance.topic_shapes(links, most_nodes=3)[0].tolist() == [3, 2, 1, 2, 2]
