"""Slow twins of what keeps overlays up while nodes come and go: paper 003 by the letter, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations

from overlay_spark.instance import Instance
from tests import checks, naive
from tests.naive import Pair, Pick


class SplitMix64:
    """The generator of that name, as published, in whole numbers of any size."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)


def backups(
    topics: Iterable[int],
    others: Mapping[int, set[int]],
    weights: Mapping[int, int],
    coverage: int,
    greedy: bool,
    draws: SplitMix64 | None = None,
) -> list[list[int]]:
    """The backups of somebody who wants these topics, layer by layer; a node chosen weighs one more from the next on."""
    left, weight = dict(others), dict(weights)
    layers = []
    for _ in range(coverage):
        if greedy:
            layers.append(_cover_greedily(set(topics), left, weight))
        else:
            layers.append(_cover_by_topic(set(topics), left, weight, draws))
        left = {u: wanted for u, wanted in left.items() if u not in layers[-1]}
    return layers


def _cover_greedily(rest: set[int], others: Mapping[int, set[int]], weight: Mapping[int, int]) -> list[int]:
    """Alg. 11: least weight per topic that is covered by it, of several the lowest node."""
    cover: list[int] = []
    while True:
        able = [u for u in others if others[u] & rest and u not in cover]
        if not able:
            return cover
        cover.append(min(able, key=lambda u: (Fraction(weight[u], len(others[u] & rest)), u)))
        rest = rest - others[cover[-1]]


def _cover_by_topic(
    rest: set[int], others: Mapping[int, set[int]], weight: Mapping[int, int], draws: SplitMix64 | None
) -> list[int]:
    """Alg. 12: for a topic who of those that want it weighs least, above 0 if one does; then these weigh less by it."""
    cover: list[int] = []
    residual = dict(weight)
    while rest:
        in_order = sorted(rest)
        t = in_order[draws.next() % len(in_order) if draws else 0]
        able = [u for u in others if t in others[u] and u not in cover]
        if not able:
            rest = rest - {t}
            continue
        heavy = [u for u in able if residual[u] > 0]
        cover.append(min(heavy or able, key=lambda u: (residual[u], u)))
        least = residual[cover[-1]]
        for u in heavy:
            residual[u] -= least
        rest = rest - others[cover[-1]]
    return cover


class LiveOverlay:
    """Alg. 3 to 10, and 11 or 12, by definition; without trimming. Of ``coverage`` 0 no backups are kept, and links
    are chosen among all nodes (the naive algorithms)."""

    def __init__(
        self,
        instance: Instance,
        links: Iterable[Pair],
        k: float | None,
        weighted: bool,
        coverage: int,
        greedy: bool,
        draws: SplitMix64 | None,
    ) -> None:
        self.wants = dict(enumerate(naive.interests(instance)))
        self.links = list(links)
        self.n_topics, self.costs = instance.n_topics, instance.costs
        self.k, self.weighted = k, weighted
        self.coverage, self.greedy, self.draws = coverage, greedy, draws
        self.backups: dict[int, set[int]] = {}
        if coverage:
            for v in self.wants:
                self.backups[v] = set(self._backups(v))

    def neighbours(self, node: int) -> set[int]:
        return {w for pair in self.links if node in pair for w in pair} - {node}

    def leave(self, node: int) -> tuple[set[int], list[Pick]]:
        """The shadow nodes, and the links added."""
        shadow = self.neighbours(node) | self.backups.get(node, set()) if self.coverage else set(self.wants) - {node}
        topics = self.wants.pop(node)
        self.links = [pair for pair in self.links if node not in pair]
        added = self._repair(topics, combinations(sorted(shadow), 2))
        if self.coverage:
            del self.backups[node]
            orphans = [v for v in sorted(self.backups) if node in self.backups[v]]
            for v in orphans:
                self.backups[v].discard(node)
            for v in orphans:
                self.backups[v] = set(self._backups(v))
        return shadow, added

    def join(self, node: int, topics: Iterable[int]) -> tuple[set[int], list[Pick]]:
        """The shadow nodes, and the links added: all of them at the node."""
        self.wants[node] = set(topics)
        if self.coverage:
            self.backups[node] = set(self._backups(node))
        shadow = self.backups[node] | {node} if self.coverage else set(self.wants)
        at_node = [(min(node, u), max(node, u)) for u in shadow if u != node]
        return shadow, self._repair(self.wants[node], at_node)

    def _backups(self, node: int) -> list[int]:
        """Whom a rebuild chooses: it first takes the node from the primaries of its old backups."""
        others = {u: wanted for u, wanted in self.wants.items() if u != node}
        weights = {
            u: len(self.neighbours(u)) + sum(u in found for v, found in self.backups.items() if v != node)
            for u in others
        }
        layers = backups(self.wants[node], others, weights, self.coverage, self.greedy, self.draws)
        return [u for layer in layers for u in layer]

    def _repair(self, topics: Iterable[int], among: Iterable[Pair]) -> list[Pick]:
        rows = [self.wants.get(v, set()) for v in range(max(self.wants, default=-1) + 1)]
        instance = checks.instance_of(rows, self.n_topics, self.costs)
        added = naive.repair(instance, self.links, topics, among, self.k, self.weighted)
        self.links += [pick[:2] for pick in added]
        return added
