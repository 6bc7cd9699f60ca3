"""Batches of churn on small problems: what came between an overlay and the problem it is to serve now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.churn import Churn
from overlay_spark.algorithms.refresh import Changed, Stored
from overlay_spark.algorithms.shadows import wants_of
from overlay_spark.costs import LISTED, SITES, Costs, listed_costs
from overlay_spark.instance import Instance, Links
from overlay_spark.kernels.shadows import Backups, build_backups
from overlay_spark.options import Options
from overlay_spark.options.churn import GREEDY
from tests import naive


@dataclass(frozen=True)
class Batch:
    """What :func:`overlay_spark.algorithms.churn.kept_up` is asked."""

    links: Links
    churn: Churn
    backups_of: Callable[[NDArray[Any]], NDArray[np.int32]]


def batch_between(before: Instance, links: Links, now: Instance, options: Options) -> Batch:
    """From two problems with the same numbers of nodes, where those who are not there want nothing."""
    old, new = naive.interests(before), naive.interests(now)
    was_allowed, allowed = naive.allowed(before), naive.allowed(now)
    stays = np.array([pair in allowed for pair in links.pairs()], bool)
    kept, lost = links.take(stays), links.take(~stays)
    cost = np.array([allowed[pair] for pair in kept.pairs()], np.int64)
    kept = Links(kept.src, kept.dst, cost, kept.contribution)
    touched = set().union(*(was ^ wanted for was, wanted in zip(old, new, strict=True)))
    for u, v in [*lost.pairs(), *(pair for pair in allowed if pair not in was_allowed)]:
        touched |= new[u] & new[v]
    changed = [v for v in range(now.n_nodes) if old[v] != new[v]]
    ends = {v for pair in lost.pairs() for v in pair if new[v]}
    took_up = [v for v in changed if new[v] - old[v]]
    backups = _backups(now, [(v, sorted(old[v] | new[v])) for v in changed], kept, options)
    return Batch(
        kept,
        Churn(
            touched=np.isin(np.arange(now.n_topics), sorted(touched)),
            near=np.unique([*ends, *took_up, *backups.tolist()]).astype(np.int64),
            events=len(changed),
            came=np.flatnonzero([t not in old[v] for v, t in zip(now.nodes, now.topics, strict=True)]),
        ),
        lambda nodes: _backups(now, [(v, sorted(new[v])) for v in nodes.tolist()], kept, options),
    )


def _backups(now: Instance, asked: list[tuple[int, list[int]]], links: Links, options: Options) -> NDArray[np.int32]:
    """The backups of nodes for topics that they want or wanted: rows of nobody, after those of the nodes."""
    rows = [topics for _, topics in asked]
    wants, sizes = wants_of(now), np.array([len(row) for row in rows], np.int64)
    wants = wants._replace(
        offsets=np.concatenate([wants.offsets, wants.offsets[-1] + np.cumsum(sizes)]),
        topics=np.array([*wants.topics.tolist(), *(t for row in rows for t in row)], np.int32),
    )
    nobody = Backups(np.zeros(len(rows) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    weights = np.concatenate([links.degrees(now.n_nodes), np.zeros(len(rows), np.int64)])
    phantoms = np.arange(now.n_nodes, now.n_nodes + len(rows), dtype=np.int32)
    churn = options.churn
    found = build_backups(
        wants, phantoms, nobody, weights, churn.coverage, churn.backups == GREEDY, np.empty(0, np.uint64)
    )
    own = np.repeat(np.array([v for v, _ in asked], np.int64), np.diff(found.starts))
    return np.unique(found.nodes[found.nodes != own])


def rewanted(instance: Instance, rng: np.random.Generator, share: float, costs: Costs) -> Instance:
    """The same where some nodes leave, join or change a few topics, under these costs."""
    wants = np.zeros((instance.n_nodes, instance.n_topics), bool)
    wants[instance.nodes, instance.topics] = True
    for v in np.flatnonzero(rng.random(instance.n_nodes) < share):
        if rng.random() < 0.5:
            wants[v] ^= rng.random(instance.n_topics) < 0.3
        else:
            wants[v] = False if wants[v].any() else rng.random(instance.n_topics) < 0.4
    nodes, topics = np.nonzero(wants)
    return Instance.from_pairs(instance.n_nodes, instance.n_topics, nodes, topics, costs)


def recosted(costs: Costs, n_nodes: int, rng: np.random.Generator, share: float) -> Costs:
    """Some of the costs drawn anew; where links are listed some go from the list and others come to it."""
    if costs.kind == SITES:
        anew = np.triu(rng.random(costs.table.shape) < share)
        table = np.where(anew | anew.T, costs.table[::-1, ::-1], costs.table)
        return costs._replace(table=np.triu(table) + np.triu(table, 1).T)
    if costs.kind != LISTED:
        return costs
    known = dict(zip(zip(costs.src.tolist(), costs.dst.tolist(), strict=True), costs.values.tolist(), strict=True))
    for pair in combinations(range(n_nodes), 2):
        if rng.random() < share:
            if pair in known and rng.random() < 0.5:
                del known[pair]
            else:
                known[pair] = int(rng.integers(1, 1 + max(costs.values.tolist(), default=1)))
    rows = np.array([(*pair, cost) for pair, cost in known.items()], np.int64).reshape(-1, 3).T
    return listed_costs(*rows)


def stored_between(before: Instance, links: Links, now: Instance) -> tuple[NDArray[Any], Instance, Stored, Changed]:
    """(nodes that are there, their problem, the stored links, what changed), in numbers of those who are there."""
    old, new = naive.interests(before), naive.interests(now)
    there = np.flatnonzero([bool(wanted) for wanted in new])
    number = np.full(now.n_nodes, -1, np.int32)
    number[there] = np.arange(len(there))
    somebodys = set().union(*new)
    changed = [v for v in range(now.n_nodes) if old[v] != new[v]]
    rows = [sorted((old[v] ^ new[v]) & somebodys) for v in changed]
    changes = Changed(
        nodes=number[changed],
        offsets=np.cumsum([0, *map(len, rows)]),
        topics=np.array([t for row in rows for t in row], np.int32),
        backups=np.empty(0, np.int32),
        known=np.zeros(len(changed), bool),
    )
    stored = Stored(src=number[links.src], dst=number[links.dst], cost=links.cost, contribution=links.contribution)
    return there, now.among(there), stored, changes
