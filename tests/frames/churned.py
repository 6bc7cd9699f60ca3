"""Histories of small problems with ids, as the rows that the refreshing task reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.refresh import BackupRows, Changed, renewed_backups
from overlay_spark.costs import LISTED, POINTS, SITES
from overlay_spark.frames import churn_rows as kinds
from overlay_spark.frames.churn_packs import gathered, packed
from overlay_spark.instance import Instance, Links
from overlay_spark.kernels.components import shared_counts
from overlay_spark.options import ChurnOptions, Options
from overlay_spark.options.churn import COST, COVERS, DEGREE
from tests import naive
from tests.churning import recosted, rewanted
from tests.strategies import SEEDS, instances

ARROW = {"tinyint": pa.int8(), "string": pa.string(), "bigint": pa.int64(), "double": pa.float64()}
SCHEMA = pa.schema([(name, ARROW[type]) for name, type in kinds.ROW.items()])
LETTERS = ("A", "Z", "a", "é", "\uffff", "\U00010000")
"""In the order of their UTF-8 bytes; in UTF-16, as in Java's memory, the last two change places."""


def ids(n: int) -> list[str]:
    """Ids in the order of their numbers."""
    names = sorted((f"{LETTERS[i % len(LETTERS)]}{i}" for i in range(n)), key=str.encode)
    assert n < len(LETTERS) or names != sorted(names, key=lambda name: name.encode("utf-16-be"))
    return names


@dataclass(frozen=True)
class History:
    """A problem, its overlay, and the problem it became, with the same numbers of nodes and topics."""

    before: Instance
    links: Links
    now: Instance
    options: Options
    were: frozenset[int]
    """The nodes there were; ``there`` are those there are."""
    there: frozenset[int]
    nodes_given: bool
    backups: bool
    """Whether they were kept."""

    @property
    def nodes(self) -> list[str]:
        return ids(self.now.n_nodes)

    @property
    def topics(self) -> list[str]:
        return ids(self.now.n_topics)

    @property
    def kept_backups(self) -> BackupRows:
        """The backups of every node before, in the numbers of then."""
        none = np.empty(0, np.int64)
        nothing = Changed(
            nodes=none.astype(np.int32),
            offsets=np.zeros(1, np.int64),
            topics=none.astype(np.int32),
            backups=none.astype(np.int32),
            known=none.astype(bool),
        )
        nobodys = BackupRows(none, none, none)
        return renewed_backups(self.before, self.links, nobodys, nothing, self.options)

    def rows(self, packed: bool = False) -> list[dict]:
        """All that the task reads; of a ``packed`` overlay the subscriptions before."""
        nodes, topics, costs = self.nodes, self.topics, self.now.costs
        old, new = naive.interests(self.before), naive.interests(self.now)
        kind, wants = (kinds.OLD_SUBSCRIPTION, old) if packed else (kinds.SUBSCRIPTION, new)
        rows = [row(kind, nodes[v], topics[t]) for v, wanted in enumerate(wants) for t in wanted]
        if self.nodes_given:
            rows += [row for v in self.there for row in self._place(v)]
        if costs.kind == LISTED:
            listed = zip(costs.src.tolist(), costs.dst.tolist(), costs.values.tolist(), strict=True)
            rows += [row(kinds.LINK_COST, nodes[v], nodes[u], [cost]) for u, v, cost in listed]
        if costs.kind == SITES:
            pairs = combinations(range(len(costs.table)), 2)
            within = ((a, a) for a in range(len(costs.table)))
            rows += [row(kinds.SITE_COST, f"s{a}", f"s{b}", [int(costs.table[a, b])]) for a, b in [*pairs, *within]]
        links = self.links
        shared = shared_counts(self.before.offsets, self.before.topics, links.src, links.dst)
        for i, (u, v) in enumerate(links.pairs()):
            numbers = [int(links.cost[i]), int(shared[i]), int(links.contribution[i]), 3 * i]
            rows.append(row(kinds.LINK, nodes[u], nodes[v], numbers))
        changes = [(v, t) for v in range(len(nodes)) for t in old[v] ^ new[v]]
        rows += [row(kinds.CHANGE, nodes[v], topics[t], [1 if t in new[v] else -1]) for v, t in changes]
        if self.backups:
            kept = self.kept_backups
            told = zip(kept.node.tolist(), kept.backup.tolist(), kept.layer.tolist(), strict=True)
            rows += [row(kinds.BACKUP, nodes[v], nodes[b], [at]) for v, b, at in told]
        rows += [row(kinds.OLD_NODE, nodes[v], None, [len(old[v]), v, v % 2]) for v in self.were]
        for t, members in enumerate(naive.members(self.before)):
            if members:
                rows.append(row(kinds.OLD_TOPIC, topics[t], None, [len(members), t, 10 * t]))
        return rows

    def _place(self, v: int) -> list[dict]:
        node, costs = self.nodes[v], self.now.costs
        if costs.kind == SITES:
            return [row(kinds.NODE, node, f"s{costs.sites[v]}", x=0.0)]
        if costs.kind != POINTS:
            return [row(kinds.NODE, node, x=0.0)]
        points = [row(kinds.COORDINATE, node, None, [i], x) for i, x in enumerate(costs.points[v].tolist())]
        return [row(kinds.NODE, node, x=float(costs.heights[v])), *points]


def row(kind: int, a: str, b: str | None = None, numbers: Sequence[int] = (), x: float | None = None) -> dict:
    return {"kind": kind, "a": a, "b": b, "x": x, **dict(zip(kinds.NUMBERS, numbers, strict=False))}


def by_kind(rows: list[dict], seed: int = 0) -> dict[int, pa.Table]:
    """The rows in any order, as the task gathers them."""
    order = np.random.default_rng(seed).permutation(len(rows))
    table = pa.Table.from_pylist([rows[i] for i in order], SCHEMA)
    return gathered(packed(table.to_batches(max_chunksize=50)), 1 << 40)


@st.composite
def histories(draw: st.DrawFn, **sizes) -> History:
    """Any changes of what is wanted, of costs and of places."""
    before = draw(instances(complete=True, max_topics=12, **sizes))
    rng = np.random.default_rng(draw(SEEDS))
    costs = recosted(before.costs, before.n_nodes, rng, draw(st.sampled_from((0.0, 0.1, 0.4))))
    if costs.kind == POINTS and draw(st.booleans()):
        moves = rng.random(before.n_nodes) < 0.3
        costs = costs._replace(points=np.where(moves[:, None], costs.points + 0.5, costs.points))
    if costs.kind == SITES and draw(st.booleans()):
        costs = costs._replace(sites=np.where(rng.random(before.n_nodes) < 0.2, costs.sites[::-1], costs.sites))
    now = rewanted(before, rng, draw(st.sampled_from((0.3, 0.1, 1.0, 0.0))), costs)
    objective = draw(st.sampled_from((COST, DEGREE)))
    churn = ChurnOptions(objective=objective, coverage=draw(st.integers(1, 3)), backups=draw(st.sampled_from(COVERS)))
    given = costs.kind != LISTED or draw(st.booleans())
    idle = rng.random((2, before.n_nodes)) < (0.5 if given else 0.0)
    were, there = (
        frozenset(np.flatnonzero((np.diff(instance.offsets) > 0) | also).tolist())
        for instance, also in zip((before, now), idle, strict=True)
    )
    return History(
        before=before,
        links=greedy(before) if objective == COST else low_degree(before),
        now=now,
        options=replace(Options(), churn=churn),
        were=were,
        there=there,
        nodes_given=given,
        backups=draw(st.booleans()),
    )
