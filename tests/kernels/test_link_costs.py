from itertools import combinations

import numpy as np
from hypothesis import given

from overlay_spark.costs import LISTED, listed_costs, matrix_costs
from overlay_spark.kernels.link_costs import candidate, costs_of
from tests import naive
from tests.strategies import instances


@given(instances(max_topics=3))
def test_candidates__have_codes_in_order_with_their_costs(instance):
    costs, n = instance.costs, instance.n_nodes
    codes = range(len(costs.src)) if costs.kind == LISTED else [u * n + v for u, v in combinations(range(n), 2)]
    rows = [tuple(map(int, candidate(costs, n, code))) for code in codes]
    assert [row[:2] for row in rows] == sorted(row[:2] for row in rows)
    assert all(u < v for u, v, _ in rows)
    found = {(u, v): cost for u, v, cost in rows}
    assert len(found) == len(rows)
    assert naive.allowed(instance).items() <= found.items()


@given(instances(max_topics=3))
def test_costs_of__gives_each_links_cost_in_the_order_asked(instance):
    allowed = naive.allowed(instance)
    pairs = list(allowed)[::-1]
    src, dst = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    assert costs_of(instance.costs, src, dst).tolist() == [allowed[pair] for pair in pairs]


def test_costs_of__finds_the_first_and_the_last_of_a_list():
    costs = listed_costs(np.array([3, 0, 0]), np.array([2, 1, 3]), np.array([9, 5, 7]))
    assert costs_of(costs, np.array([2, 0, 0], np.int32), np.array([3, 1, 3], np.int32)).tolist() == [9, 5, 7]


def test_candidate__decodes_codes_beyond_32_bits():
    n = 70_000  # n * n does not fit 32 bits
    costs = matrix_costs(np.ones((1, 1), np.int64))._replace(sites=np.zeros(n, np.int32))
    src, dst, cost = candidate(costs, n, (n - 2) * n + n - 1)
    assert (src, dst, cost) == (n - 2, n - 1, 1)
