"""Selection with an eye on degrees: listed links and costs for each link count."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark.kernels.degrees import select_links
from tests import checks, naive


def picks(instance, weighted, k, most=0):
    degree = np.zeros(instance.n_nodes, np.int64)
    found = select_links(instance.growing(), instance.costs, weighted, k, degree, most)
    return [tuple(row) for row in found.tolist()]


def test_cost__decides_between_links_that_join_as_much_where_it_counts():
    costs = checks.matrix([(0, 1, 5), (0, 2, 1), (1, 2, 1)])
    instance = checks.instance_of([[0], [0], [0]], 1, costs)
    assert picks(instance, False, np.inf) == [(0, 1, 1), (0, 2, 1)]
    assert picks(instance, True, np.inf) == [(0, 2, 1), (1, 2, 1)]


def test_link__that_raises_the_greatest_degree_waits_unless_it_is_much_better():
    instance = checks.instance_of([[0, 1, 2, 3], [0, 1], [2, 3, 4], [4]], 5)
    assert picks(instance, False, np.inf) == [(0, 1, 2), (2, 3, 1), (0, 2, 2)]
    assert picks(instance, False, 1.0) == [(0, 1, 2), (0, 2, 2), (2, 3, 1)]


def test_links_that_are_there__count_in_degrees():
    instance = checks.instance_of([[0], [0], [0, 1], [1]], 2)
    links = checks.overlay_of([(2, 3)])
    found = select_links(instance.growing(links), instance.costs, False, np.inf, links.degrees(4), 1)
    assert [tuple(row) for row in found.tolist()] == [(0, 1, 1), (0, 2, 1)]


def test_greatest_degree__may_be_that_of_a_node_elsewhere():
    instance = checks.instance_of([[0, 1, 2, 3], [0, 1], [2, 3, 4], [4]], 5)
    assert picks(instance, False, np.inf, most=2) == [(0, 1, 2), (0, 2, 2), (2, 3, 1)]


@pytest.mark.parametrize("k", [1.0, 3.0, np.inf])
def test_more_nodes_than_a_heap_of_few_levels_holds__get_the_links_that_looking_at_all_gives(k):
    rng = np.random.default_rng(0)
    instance = checks.instance_of([rng.choice(70, size, replace=False) for size in rng.integers(3, 20, 30)], 70)
    assert picks(instance, False, k) == naive.low_degree(instance, k)
