"""Slow twins: every answer by its definition, in plain Python, so that it can be read and believed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from overlay_spark.costs import LISTED, SITES, Costs
from overlay_spark.instance import Instance

Pair = tuple[int, int]
Pick = tuple[int, int, int]
"""A link and how many topics' components it joined when it was picked."""


def interests(instance: Instance) -> list[set[int]]:
    """The topics of each node."""
    return [set(instance.topics_of(v).tolist()) for v in range(instance.n_nodes)]


def members(instance: Instance) -> list[list[int]]:
    """The nodes of each topic, ascending."""
    wants = interests(instance)
    return [[v for v in range(instance.n_nodes) if t in wants[v]] for t in range(instance.n_topics)]


def allowed(instance: Instance) -> dict[Pair, int]:
    """The pairs that may link and share a topic, with their costs, in the order of pairs."""
    costs = instance.costs
    if costs.kind == LISTED:
        all_costs = dict(
            zip(zip(costs.src.tolist(), costs.dst.tolist(), strict=True), costs.values.tolist(), strict=True)
        )
    else:
        all_costs = {(u, v): cost_between(costs, u, v) for u, v in combinations(range(instance.n_nodes), 2)}
    wants = interests(instance)
    return {(u, v): all_costs[u, v] for u, v in sorted(all_costs) if wants[u] & wants[v]}


def cost_between(costs: Costs, u: int, v: int) -> int:
    """The cost of a link by sites or by distance."""
    if costs.kind == SITES:
        return int(costs.table[costs.sites[u], costs.sites[v]])
    squares = sum((a - b) * (a - b) for a, b in zip(costs.points[u].tolist(), costs.points[v].tolist(), strict=True))
    distance = math.sqrt(squares) + (float(costs.heights[u]) + float(costs.heights[v]))
    return max(1, math.floor(distance / costs.unit + 0.5))


def components(vertices: Iterable[int], edges: Iterable[Pair]) -> dict[int, int]:
    """The least vertex of each vertex's component; edges that leave the vertices do not count."""
    around: dict[int, set[int]] = {v: set() for v in vertices}
    for a, b in edges:
        if a in around and b in around:
            around[a].add(b)
            around[b].add(a)
    label: dict[int, int] = {}
    for start in sorted(around):
        reached = [] if start in label else [start]
        while reached:
            v = reached.pop()
            if v not in label:
                label[v] = start
                reached.extend(around[v])
    return label


def topic_components(instance: Instance, links: Iterable[Pair]) -> list[dict[int, int]]:
    """For each topic: the least node of each of its nodes' component in the topic's sub-overlay."""
    links = list(links)
    return [components(nodes, links) for nodes in members(instance)]


def broken_topics(instance: Instance, links: Iterable[Pair]) -> list[int]:
    """Topics whose nodes the links leave apart."""
    return [t for t, label in enumerate(topic_components(instance, links)) if len(set(label.values())) > 1]


class Overlay:
    """An overlay that grows link by link; ``labels[t][v]`` names the component of node v in topic t."""

    def __init__(self, instance: Instance, start: Iterable[Pair] = ()) -> None:
        self.wants = interests(instance)
        self.labels = [{v: v for v in nodes} for nodes in members(instance)]
        for u, v in start:
            self.add(u, v)

    def apart(self) -> int:
        """How many components there are still to join."""
        return sum(len(set(label.values())) - 1 for label in self.labels if label)

    def joined(self, u: int, v: int) -> list[int]:
        """The topics whose components link (u, v) would join, ascending."""
        return [t for t in sorted(self.wants[u] & self.wants[v]) if self.labels[t][u] != self.labels[t][v]]

    def add(self, u: int, v: int) -> list[int]:
        topics = self.joined(u, v)
        for t in topics:
            label, kept, gone = self.labels[t], self.labels[t][u], self.labels[t][v]
            self.labels[t] = {node: kept if at == gone else at for node, at in label.items()}
        return topics


def replay(instance: Instance, links: Iterable[Pair], start: Iterable[Pair] = ()) -> list[int]:
    """How many topics' components each link joins, the links being added to those of ``start`` in the given order."""
    overlay = Overlay(instance, start)
    return [len(overlay.add(u, v)) for u, v in links]


def greedy(instance: Instance, start: Iterable[Pair] = ()) -> list[Pick]:
    """Rank every candidate anew at every step, and take the least (cost / contribution, src, dst)."""
    return _greedy(Overlay(instance, start), allowed(instance))


def fewest_links(instance: Instance, start: Iterable[Pair] = ()) -> list[Pick]:
    """Greedy with every cost 1."""
    return _greedy(Overlay(instance, start), dict.fromkeys(allowed(instance), 1))


def _greedy(overlay: Overlay, costs: dict[Pair, int]) -> list[Pick]:
    picks: list[Pick] = []
    while True:
        joins = {pair: len(overlay.joined(*pair)) for pair in costs}
        ranks = [(costs[pair] / joins[pair], *pair) for pair in costs if joins[pair]]
        if not ranks:
            return picks
        _, u, v = min(ranks)
        picks.append((u, v, len(overlay.add(u, v))))


def primal_dual(instance: Instance, start: Iterable[Pair] = ()) -> tuple[list[Pick], Fraction]:
    """Alg. 4 of paper 000 by the letter, in exact arithmetic: one dual variable is raised a step. Also its value."""
    costs = allowed(instance)
    slack = {pair: Fraction(cost) for pair, cost in costs.items()}
    overlay = Overlay(instance, start)
    remaining = overlay.apart()
    picks: list[Pick] = []
    clock = value = Fraction(0)
    while True:
        joins = {pair: len(overlay.joined(*pair)) for pair in costs}
        raises = {pair: slack[pair] / n for pair, n in joins.items() if n}
        if not raises:
            return picks, value
        least = min(raises.values())
        latest = (clock + least) * (1 + Fraction(1, 10**9))
        u, v = min(pair for pair, raised in raises.items() if clock + raised <= latest)
        for pair, n in joins.items():
            slack[pair] -= n * least
        clock += least
        value += remaining * least
        picks.append((u, v, len(overlay.add(u, v))))
        remaining -= picks[-1][2]


def reverse_delete(instance: Instance, links: Sequence[Pair], start: Sequence[Pair] = ()) -> list[Pair]:
    """Drop links, the last first, whenever every topic stays as connected as it was; those of ``start`` stay."""
    kept, wanted = list(links), topic_components(instance, [*start, *links])
    for pair in reversed(links):
        fewer = [other for other in kept if other != pair]
        if topic_components(instance, [*start, *fewer]) == wanted:
            kept = fewer
    return kept


def trees(instance: Instance, start: Iterable[Pair] = ()) -> list[Pair]:
    """Kruskal's tree of each topic under (cost, src, dst), topic by topic; a link where it first occurs."""
    costs = allowed(instance)
    by_cost = sorted(costs, key=lambda pair: (costs[pair], pair))
    first: dict[Pair, None] = {}
    for label in topic_components(instance, start):
        for u, v in by_cost:
            if u in label and v in label and label[u] != label[v]:
                kept, gone = label[u], label[v]
                label = {node: kept if at == gone else at for node, at in label.items()}
                first.setdefault((u, v))
    return list(first)


def optimum(instance: Instance, start: Sequence[Pair] = ()) -> int:
    """The least cost of links that, with those of ``start``, connect all that the allowed pairs can connect.

    For some five nodes.
    """
    costs = allowed(instance)
    pairs = list(costs)
    groups = {frozenset(nodes) for nodes in members(instance)}  # topics with the same nodes ask for the same

    def parts(links: Iterable[Pair]) -> list[dict[int, int]]:
        links = [*start, *links]
        return [components(nodes, links) for nodes in groups]

    wanted = parts(pairs)
    best = sum(costs.values())

    def search(chosen: list[Pair], cost: int, rest: list[Pair]) -> None:
        nonlocal best
        if cost >= best and chosen:
            return
        if parts(chosen) == wanted:
            best = cost
            return
        for i, pair in enumerate(rest):
            search([*chosen, pair], cost + costs[pair], rest[i + 1 :])

    search([], 0, pairs)
    return best


def distances(n: int, edges: Iterable[tuple[int, int, int]]) -> list[list[float]]:
    """The length of the shortest path between all pairs of 0..n-1 (Floyd), infinite where there is none."""
    length = [[0 if a == b else float("inf") for b in range(n)] for a in range(n)]
    for a, b, cost in edges:
        length[a][b] = length[b][a] = min(length[a][b], cost)
    for via in range(n):
        for a in range(n):
            for b in range(n):
                length[a][b] = min(length[a][b], length[a][via] + length[via][b])
    return length


def diameter(n: int, edges: Iterable[tuple[int, int, int]]) -> float:
    """The greatest distance between two of 0..n-1."""
    return max((far for row in distances(n, edges) for far in row), default=0)


def low_degree(instance: Instance, k: float, weighted: bool = False, start: Sequence[Pair] = ()) -> list[Pick]:
    """Look at every link at every step: the best of those that raise the greatest degree least, or the best of all."""
    degree = [sum(v in pair for pair in start) for v in range(instance.n_nodes)]
    most = max(degree, default=0)
    return _low_degree(Overlay(instance, start), allowed(instance), degree, most, k, weighted)


def _low_degree(
    overlay: Overlay, costs: dict[Pair, int], degree: list[int], most: int, k: float, weighted: bool
) -> list[Pick]:
    """A link raises the greatest degree by one where an end has it; if ``most`` is less, where an end has that."""
    picks: list[Pick] = []
    while True:
        joins = {pair: len(overlay.joined(*pair)) for pair in costs}
        gains = {pair: joins[pair] / (costs[pair] if weighted else 1) for pair in costs if joins[pair]}
        if not gains:
            return picks
        raised = {(u, v): most + (max(degree[u], degree[v]) >= most) for u, v in gains}
        least = [pair for pair in gains if raised[pair] == min(raised.values())]
        first, any_other = (min(some, key=lambda pair: (-gains[pair], pair)) for some in (least, gains))
        u, v = first if gains[first] * k >= gains[any_other] else any_other
        picks.append((u, v, len(overlay.add(u, v))))
        degree[u] += 1
        degree[v] += 1
        most = raised[u, v]


def repair(
    instance: Instance,
    links: Sequence[Pair],
    touched: Iterable[int],
    among: Iterable[Pair],
    k: float | None = None,
    weighted: bool = False,
    most: int | None = None,
) -> list[Pick]:
    """Join the components that the links leave of touched topics, by some of the pairs ``among`` which to choose: as
    greedy does, or as low_degree with a ``k``. Only touched topics count."""
    overlay, topics, pairs = Overlay(instance, links), set(touched), set(among)
    overlay.wants = [wanted & topics for wanted in overlay.wants]
    costs = {pair: cost for pair, cost in allowed(instance).items() if pair in pairs}
    if k is None:
        return _greedy(overlay, costs)
    degree = [sum(v in pair for pair in links) for v in range(instance.n_nodes)]
    return _low_degree(overlay, costs, degree, max(degree, default=0) if most is None else most, k, weighted)


def held_topics(instance: Instance, links: Sequence[Pair], link: Pair) -> int:
    """In how many topics more would be apart without a link."""
    fewer = [other for other in links if other != link]
    both = zip(topic_components(instance, links), topic_components(instance, fewer), strict=True)
    return sum(with_it != without for with_it, without in both)


def stars(instance: Instance, value: Callable[[int, int], Fraction]) -> tuple[list[int], list[Pair]]:
    """Centres and their links; ``value`` rates a node by the nodes around it and by those counted for each topic."""
    wants, of_topic = interests(instance), members(instance)
    waiting = {t for t, nodes in enumerate(of_topic) if nodes}
    centres: list[int] = []
    links: list[Pair] = []
    while waiting:
        around = {u: {v for t in wants[u] & waiting for v in of_topic[t]} for u in range(instance.n_nodes)}
        sums = {u: sum(len(of_topic[t]) for t in wants[u] & waiting) for u in around}
        u = min((u for u in around if around[u]), key=lambda u: (-value(len(around[u]), sums[u]), u))
        centres.append(u)
        links += [(min(u, v), max(u, v)) for v in sorted(around[u] - {u})]
        waiting -= wants[u]
    return centres, links
