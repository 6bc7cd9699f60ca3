"""Small checks of properties, and the few steps that bring an overlay or a test case into the form a check needs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import Costs, listed_costs, matrix_costs
from overlay_spark.instance import Instance, Links
from tests import naive


def is_topic_connected(instance: Instance, links: Links) -> bool:
    """Whether every topic's nodes form one component of links between them."""
    return not naive.broken_topics(instance, links.pairs())


def joins_all_that_can_be(instance: Instance, links: Links) -> bool:
    """Whether the links connect in every topic whatever the allowed pairs can connect."""
    return naive.topic_components(instance, links.pairs()) == naive.topic_components(instance, naive.allowed(instance))


def every_link_contributes(instance: Instance, links: Links) -> bool:
    """Whether each link, in pick order, joins two components of some topic."""
    return all(naive.replay(instance, links.pairs()))


def picks(links: Links) -> list[naive.Pick]:
    """Rows (src, dst, contribution), in pick order."""
    return list(zip(links.src.tolist(), links.dst.tolist(), links.contribution.tolist(), strict=True))


def harmonic(n: int) -> float:
    """H(n) = 1 + 1/2 + ... + 1/n."""
    return sum(1 / i for i in range(1, n + 1))


def most_shared(instance: Instance) -> int:
    """The most topics that two nodes share which may link."""
    wants = naive.interests(instance)
    return max((len(wants[u] & wants[v]) for u, v in naive.allowed(instance)), default=0)


def matrix(rows: Iterable[tuple[int, int, int]]) -> Costs:
    """Costs from rows (u, v, cost), one for every pair."""
    rows = list(rows)
    table = np.zeros((1 + max(v for _, v, _ in rows),) * 2, np.int64)
    for u, v, cost in rows:
        table[u, v] = table[v, u] = cost
    return matrix_costs(table)


def fully_listed(matrix: NDArray[np.int64]) -> Costs:
    """The costs of a symmetric matrix as a list of all pairs."""
    src, dst = np.array(list(combinations(range(len(matrix)), 2)), np.int32).reshape(-1, 2).T
    return listed_costs(src, dst, matrix[src, dst])


def instance_of(wants: Iterable[Iterable[int]], n_topics: int, costs: Costs | None = None) -> Instance:
    """A problem from each node's topics; every link costs 1 unless costs are given."""
    rows = [list(topics) for topics in wants]
    nodes = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    topics = np.array([topic for row in rows for topic in row], np.int64)
    ones = np.ones((len(rows), len(rows)), np.int64)
    return Instance.from_pairs(len(rows), n_topics, nodes, topics, costs or matrix_costs(ones))


def overlay_of(pairs: Iterable[naive.Pair]) -> Links:
    """The given pairs as an overlay that is there already: nobody asks what it cost."""
    src, dst = np.array(list(pairs), np.int32).reshape(-1, 2).T.copy()
    return Links(src, dst, np.zeros(len(src), np.int64), np.zeros(len(src), np.int32))


def links_of(instance: Instance, pairs: Iterable[naive.Pair]) -> Links:
    """The given pairs as an overlay, with their costs and contributions."""
    pairs, costs = list(pairs), naive.allowed(instance)
    src, dst = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    cost = np.array([costs[pair] for pair in pairs], np.int64)
    return Links(src, dst, cost, np.array(naive.replay(instance, pairs), np.int32))
