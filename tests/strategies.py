"""Random problems for hypothesis, and how many of them a run tries.

Interests and costs are drawn from a seeded generator, so that a problem of hundreds of topics costs one draw.
"""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from overlay_spark.costs import MAX_UNITS, Costs, listed_costs, point_costs, site_costs
from overlay_spark.instance import Instance
from tests import naive

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
"""Whether the kernels are machine code: plain ones are a hundred times slower, and get fewer and smaller examples."""

settings.register_profile("compiled", max_examples=120, deadline=None, derandomize=True, database=None)
settings.register_profile("plain", max_examples=15, deadline=None, derandomize=True, database=None)
settings.load_profile("compiled" if COMPILED else "plain")

WORD_BORDERS = (63, 64, 65, 127, 128, 129, 200)
"""Numbers of topics around the borders of the words of a bitset."""

COST_RANGES = (
    (1, 4),  # many exact ties, also between quotients
    (1, 2),  # all alike
    (1, 1000),
    (MAX_UNITS - 3, MAX_UNITS + 1),  # quotients as near to each other as they get
    (1, MAX_UNITS + 1),
)
DENSITIES = (0.3, 0.6, 0.1, 0.95)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def instances(
    draw: st.DrawFn, max_nodes: int = 12, max_topics: int = 200, listed: bool | None = None, complete: bool = False
) -> Instance:
    """A problem under any cost model; ``complete`` lists every pair, so that all topics can be connected."""
    rng = np.random.default_rng(draw(SEEDS))
    n_nodes = draw(_mostly_large(max_nodes))
    n_topics = draw(st.one_of(_mostly_large(min(max_topics, 12)), _word_borders(max_topics)))
    wants = rng.random((n_nodes, n_topics)) < draw(st.sampled_from(DENSITIES))
    wants[rng.random(n_nodes) < 0.1] = False  # nodes without topics
    for topic in np.flatnonzero(rng.random(n_topics) < 0.1):
        wants[np.flatnonzero(wants[:, topic])[1:], topic] = False  # topics of one node
    nodes, topics = np.nonzero(wants)
    order = rng.permutation(len(nodes))
    models = {None: ("listed", "sites", "points"), True: ("listed",), False: ("sites", "points")}[listed]
    model = draw(st.sampled_from(models))
    low, high = draw(st.sampled_from(COST_RANGES))
    if model == "listed":
        share = 1.0 if complete else draw(st.sampled_from((0.8, 0.3, 1.0)))
        costs = _listed(rng, n_nodes, low, high, share)
    elif model == "points":
        costs = _by_distance(rng, n_nodes, draw(st.integers(1, 3)), draw(st.sampled_from((1.0, 1e-6, 7.5))))
    else:
        n_sites = draw(st.integers(1, n_nodes)) if n_nodes else 0
        costs = _by_site(rng, n_nodes, n_sites, low, high)
    return Instance.from_pairs(n_nodes, n_topics, nodes[order], topics[order], costs)


@st.composite
def overlays(
    draw: st.DrawFn, max_nodes: int = 8, max_topics: int = 200, any_pair: bool = False
) -> tuple[Instance, list[naive.Pair]]:
    """A problem, and some of its allowed pairs in any order as an overlay; ``any_pair``: of all pairs there are."""
    instance = draw(instances(max_nodes=max_nodes, max_topics=max_topics))
    pairs = list(combinations(range(instance.n_nodes), 2) if any_pair else naive.allowed(instance))
    np.random.default_rng(draw(SEEDS)).shuffle(pairs)
    return instance, [(int(u), int(v)) for u, v in pairs[: draw(st.integers(0, len(pairs)))]]


def _mostly_large(most: int) -> st.SearchStrategy[int]:
    """Sizes with the smallest among them, but seldom: there is little to get wrong in a problem of one node."""
    return st.one_of(st.integers(most // 2, most), st.integers(0, most))


def _word_borders(most: int) -> st.SearchStrategy[int]:
    borders = [n for n in WORD_BORDERS if n <= most]
    return st.sampled_from(borders) if borders else st.nothing()


def _listed(rng: np.random.Generator, n_nodes: int, low: int, high: int, share: float) -> Costs:
    """Some pairs, in any order, each in either orientation."""
    pairs = np.array(list(combinations(range(n_nodes), 2)), np.int32).reshape(-1, 2)
    pairs = rng.permutation(pairs[rng.random(len(pairs)) < share])
    pairs = rng.permuted(pairs, axis=1)
    return listed_costs(pairs[:, 0], pairs[:, 1], rng.integers(low, high, len(pairs)))


def _by_site(rng: np.random.Generator, n_nodes: int, n_sites: int, low: int, high: int) -> Costs:
    """Nodes spread over sites; with as many sites as nodes most stand alone."""
    sites = rng.permutation(n_nodes) if n_sites == n_nodes else rng.integers(0, n_sites, n_nodes)
    table = np.triu(rng.integers(low, high, (n_sites, n_sites)))
    return site_costs(sites, table + np.triu(table, 1).T)


def _by_distance(rng: np.random.Generator, n_nodes: int, dimensions: int, unit: float) -> Costs:
    """Points of a coarse grid, so that some coincide and many distances are alike; every other has a height."""
    points = rng.integers(-4, 5, (n_nodes, dimensions)) * 0.5
    return point_costs(points, rng.integers(0, 2, n_nodes) * rng.random(n_nodes).round(1), unit)


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12, connected: bool = False) -> tuple[int, list[tuple[int, int, int]]]:
    """(number of vertices, edges (a, b, length)); connected ones hold a random tree."""
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(_mostly_large(max_nodes).filter(bool))
    share = draw(st.sampled_from((0.1, 0.0, 0.4)))
    pairs = {(a, b) for a, b in combinations(range(n), 2) if rng.random() < share}
    if connected:
        name = rng.permutation(n).tolist()
        reach = draw(st.sampled_from((1, 2, n)))  # from a path to a bush
        tree = [(name[v], name[rng.integers(max(0, v - reach), v)]) for v in range(1, n)]
        pairs |= {(min(a, b), max(a, b)) for a, b in tree}
    low, high = draw(st.sampled_from(COST_RANGES))
    return n, [(a, b, int(rng.integers(low, high))) for a, b in sorted(pairs)]
