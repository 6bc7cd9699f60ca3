"""Seeded problems of extreme shapes, as arrays: what is easy to overlook when all one measures is the middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from overlay_spark.costs import LISTED, SITES, Costs, listed_costs, point_costs, site_costs
from overlay_spark.instance import Instance

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from overlay_spark.problems import OverlayProblem

UNIT = 1e-3
SIDE = 200.0


def shape(name: str, scale: float = 1.0, seed: int = 0) -> Instance:
    """The problem of a shape; ``scale`` multiplies its nodes, and its topics where they go with the nodes."""
    return SHAPES[name](np.random.default_rng(seed), scale)


def _dense(rng: np.random.Generator, scale: float) -> Instance:
    """Every node wants 50 of 100 topics: every pair is a candidate."""
    n = int(3000 * scale)
    return _drawn(rng, n, 100, np.full(100, 0.5), _points(rng, n))


def _sparse(rng: np.random.Generator, scale: float) -> Instance:
    """Every node wants about 5 of as many topics as there are nodes."""
    n = int(20_000 * scale)
    return _drawn(rng, n, n, np.full(n, 5 / n), _points(rng, n))


def _hub_node(rng: np.random.Generator, scale: float) -> Instance:
    """One node wants all of 20 000 topics, the others 4 each."""
    n, n_topics = int(5000 * scale), 20_000
    nodes, topics = np.repeat(np.arange(1, n), 4), rng.integers(0, n_topics, 4 * (n - 1))
    return _instance(
        n, n_topics, np.append(np.zeros(n_topics, int), nodes), np.append(np.arange(n_topics), topics), rng
    )


def _hub_topic(rng: np.random.Generator, scale: float) -> Instance:
    """One topic is wanted by all, the others by few."""
    n = int(8000 * scale)
    return _drawn(rng, n, 500, np.append(1.0, np.full(499, 5 / n)), _points(rng, n))


def _many_sites(rng: np.random.Generator, scale: float) -> Instance:
    """Costs between 235 sites."""
    n = int(8000 * scale)
    return _drawn(rng, n, n // 10, np.full(n // 10, 20 / n), _sites(rng, n, 235))


def _one_site(rng: np.random.Generator, scale: float) -> Instance:
    """All nodes at one site: every link costs the same."""
    n = int(6000 * scale)
    return _drawn(rng, n, 300, np.full(300, 0.03), _sites(rng, n, 1))


def _listed(rng: np.random.Generator, scale: float) -> Instance:
    """Links of each node to some hundred others are listed."""
    n = int(5000 * scale)
    src = np.repeat(np.arange(n), 100)
    pairs = np.unique(np.sort(np.stack([src, rng.integers(0, n, len(src))]), axis=0), axis=1)
    src, dst = pairs[:, pairs[0] < pairs[1]]
    costs = listed_costs(src, dst, rng.integers(1, 10**6, len(src)))
    return _drawn(rng, n, 200, np.full(200, 0.2), costs)


def _unit_costs(rng: np.random.Generator, scale: float) -> Instance:
    """Every link costs 1: ranks tie as contributions do."""
    n = int(3000 * scale)
    return _drawn(rng, n, 200, np.full(200, 0.3), site_costs(np.zeros(n), np.ones((1, 1))))


def _tiny_topics(rng: np.random.Generator, scale: float) -> Instance:
    """Five topics for every node, each wanted by two."""
    n, n_topics = int(20_000 * scale), int(100_000 * scale)
    first = rng.integers(0, n, n_topics)
    second = (first + rng.integers(1, n, n_topics)) % n
    return _instance(n, n_topics, np.append(first, second), np.tile(np.arange(n_topics), 2), rng)


def _long_tail(rng: np.random.Generator, scale: float) -> Instance:
    """94 000 nodes, 30 000 topics whose sizes fall as t^-0.8: some 66 million pairs of members."""
    n, n_topics = int(94_000 * scale), int(30_000 * scale)
    sizes = np.maximum(1, 0.081 * n * np.arange(1, n_topics + 1) ** -0.8).astype(int)
    members = np.concatenate([rng.choice(n, size, replace=False) for size in sizes])
    return _instance(n, n_topics, members, np.repeat(np.arange(n_topics), sizes), rng)


def _drawn(rng: np.random.Generator, n: int, n_topics: int, share: NDArray[np.float64], costs: Costs) -> Instance:
    """Every topic is wanted by about its share of the nodes."""
    members = [rng.choice(n, rng.binomial(n, p) if p < 1 else n, replace=False) for p in share]
    topics = np.repeat(np.arange(n_topics), [len(chosen) for chosen in members])
    return Instance.from_pairs(n, n_topics, np.concatenate(members), topics, costs)


def _instance(n: int, n_topics: int, nodes: NDArray[Any], topics: NDArray[Any], rng: np.random.Generator) -> Instance:
    node, topic = np.unique(np.stack([nodes, topics]), axis=1)
    return Instance.from_pairs(n, n_topics, node, topic, _points(rng, n))


def _points(rng: np.random.Generator, n: int) -> Costs:
    return point_costs(rng.random((n, 2)) * SIDE, np.zeros(n), UNIT)


def _sites(rng: np.random.Generator, n: int, n_sites: int) -> Costs:
    table = rng.integers(1, 10**6, (n_sites, n_sites))
    return site_costs(rng.integers(0, n_sites, n), np.minimum(table, table.T))


SHAPES: dict[str, Callable[[np.random.Generator, float], Instance]] = {
    "dense": _dense,
    "sparse": _sparse,
    "hub_node": _hub_node,
    "hub_topic": _hub_topic,
    "many_sites": _many_sites,
    "one_site": _one_site,
    "listed": _listed,
    "unit_costs": _unit_costs,
    "tiny_topics": _tiny_topics,
    "long_tail": _long_tail,
}


def problem_of(spark: SparkSession, instance: Instance) -> OverlayProblem:
    """The same problem as tables, whose ids sort as the numbers do."""
    from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts

    def table(**columns: Any) -> Any:
        return spark.createDataFrame(pa.table(columns))

    def ids(numbers: NDArray[Any]) -> pa.Array:
        return pa.array([f"{number:09d}" for number in numbers.tolist()])

    costs, nodes = instance.costs, {"node_id": ids(np.arange(instance.n_nodes))}
    given: Any = CoordinateCosts()
    if costs.kind == LISTED:
        given = ListedCosts(table(src=ids(costs.src), dst=ids(costs.dst), cost=costs.values.astype(float)))
    elif costs.kind == SITES:
        a, b = np.triu_indices(len(costs.table))
        given = SiteCosts(table(site_a=ids(a), site_b=ids(b), cost=costs.table[a, b].astype(float)))
        nodes["site"] = ids(costs.sites)
    else:
        points = pa.FixedSizeListArray.from_arrays(pa.array(costs.points.ravel()), costs.points.shape[1])
        nodes |= {"coordinates": points.cast(pa.list_(pa.float64())), "height": pa.array(costs.heights)}
    wants = table(node_id=ids(instance.nodes), topic_id=ids(instance.topics))
    return OverlayProblem(wants, given, table(**nodes), unit=costs.unit)
