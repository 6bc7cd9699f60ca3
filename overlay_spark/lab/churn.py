"""Churn as experiments have it: nodes join and leave one by one; an overlay is kept up, or built anew, and timed.

Seconds are those that the processor worked for it: what else runs on the machine does not count, though a repair takes
a millisecond and an overlay anew hundreds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.shadows import LiveOverlay, Repair
from overlay_spark.instance import Instance, Links
from overlay_spark.lab.measure import degrees_of, make_instance
from overlay_spark.options import DegreeOptions
from overlay_spark.workloads.draws import uniforms
from overlay_spark.workloads.interests import Interests

CHURN_STREAM = 41
"""Stream of the seed."""
JOINS, LEAVES = KINDS = ("joins", "leaves")


@dataclass(frozen=True)
class Workload:
    """Nodes that are there at first, then those that join; and of each round of churn who leaves or joins."""

    everyone: Instance
    n_first: int
    nodes: NDArray[np.int64]
    joins: NDArray[np.bool_]

    def present(self, rounds: int) -> NDArray[np.int64]:
        """Who is there after so many rounds, ascending."""
        is_present = np.arange(self.everyone.n_nodes) < self.n_first
        is_present[self.nodes[:rounds]] = self.joins[:rounds]
        return np.flatnonzero(is_present)

    def kind(self, round: int) -> str:
        """What happened in a round, the first being 1."""
        return JOINS if self.joins[round - 1] else LEAVES

    def rebuilt(self, rounds: int, degrees: DegreeOptions) -> tuple[Links, float]:
        """Low-ODA's overlay of those who are there after so many rounds, and its seconds."""
        nodes = self.present(rounds)
        instance = self.everyone.among(nodes)
        started = time.thread_time()
        links = low_degree(instance, degrees)
        seconds = time.thread_time() - started
        return links.renumbered(nodes), seconds

    def degrees(self, links: Links, rounds: int) -> tuple[int, float]:
        """The greatest degree and the average one of those who are there after so many rounds."""
        return degrees_of(np.array([links.src, links.dst]), len(self.present(rounds)))


def make_workload(interests: Interests, n_nodes: int, rounds: int, seed: int) -> Workload:
    """Joiners are drawn like the nodes that are there at first. Links cost 1."""
    nodes, joins = churn(n_nodes, rounds, seed)
    everyone = make_instance(n_nodes + int(joins.sum()), interests, None, seed)
    return Workload(everyone.with_unit_costs(), n_nodes, nodes, joins)


def churn(n_nodes: int, rounds: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Of each round who leaves or joins, and which: with equal chances one more joins, or any of those there leaves."""
    present, n_numbered = list(range(n_nodes)), n_nodes
    nodes, joins = np.empty(rounds, np.int64), np.empty(rounds, bool)
    for i, (coin, share) in enumerate(uniforms(seed, CHURN_STREAM, np.arange(rounds), 2)):
        joins[i] = coin < 0.5 or not present
        if joins[i]:
            present.append(n_numbered)
            n_numbered += 1
        nodes[i] = present[-1] if joins[i] else present.pop(int(share * len(present)))
    return nodes, joins


class TimedOverlay(LiveOverlay):
    """A live overlay that tells how long it has chosen backups."""

    backup_seconds = 0.0

    def build_backups(self, nodes: Iterable[int]) -> None:
        started = time.thread_time()
        super().build_backups(nodes)
        self.backup_seconds += time.thread_time() - started


class Round(NamedTuple):
    """One of the rounds of churn, from 1 on, and what it did to an overlay of so many links; seconds are of the repair,
    those for backups apart."""

    number: int
    kind: str
    repair: Repair
    links: int
    seconds: float
    backup_seconds: float


def rounds_of(live: TimedOverlay, workload: Workload) -> Iterator[Round]:
    """Let the rounds of churn happen, one by one."""
    for i, (node, joins) in enumerate(zip(workload.nodes.tolist(), workload.joins.tolist(), strict=True)):
        n_links, live.backup_seconds = len(live.links), 0.0
        started = time.thread_time()
        repair = live.join(workload.everyone.topics_of(node).tolist(), node) if joins else live.leave(node)
        seconds = time.thread_time() - started - live.backup_seconds
        yield Round(i + 1, workload.kind(i + 1), repair, n_links, seconds, live.backup_seconds)
