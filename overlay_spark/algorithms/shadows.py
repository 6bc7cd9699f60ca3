"""An overlay kept up node by node: whoever leaves or joins, the links among a few shadow nodes mend it (003)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.repair import joined, repair
from overlay_spark.algorithms.trimming import busy_degree, changed, trimmed
from overlay_spark.costs import LISTED
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options
from overlay_spark.options.churn import GREEDY, RANDOM

if TYPE_CHECKING:
    from overlay_spark.kernels.shadows import Backups, Wants


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What one join or leave changed: the event log is a list of these.

    ``removed`` are the links of a node that left, then others that trimming gave up.
    """

    node: int
    shadow: NDArray[np.int32]
    added: Links
    removed: Links

    @property
    def changes(self) -> int:
        """How many links were added or removed."""
        return len(self.added) + len(self.removed)


class LiveOverlay:
    """A topic-connected overlay of nodes that come and go, one at a time (003 Alg. 3 to 12).

    Nodes keep their numbers: one that left wants nothing any more, one that joins gets the next number. Of ``shadows``
    False, links are chosen among all nodes instead (003's naive algorithms), and no backups are kept.

    Guarantee   every topic is connected after each event, where any two nodes may link.
    Work        a leave: a pass over the sub-overlays of the topics the node wanted, and the selection among shadow
                nodes; then backups anew for the nodes it was backup of. A join: its backups, and links to them.
    Ties        topics and nodes by lowest number; links as those of repair.
    Deviates    components are those of the whole sub-overlay; a node left without eligible backups for a topic goes
                without; a weight of 0 may be picked (003 Alg. 12 would then pick nobody). Trimming is not in 003.
    References  [1] Chen, Jacobsen, Vitenberg, "Reinforce your overlay with shadows".
    """

    def __init__(
        self, instance: Instance, links: Links, options: Options = Options(), seed: int = 0, shadows: bool = True
    ) -> None:
        self.instance, self.links, self.options, self.shadows = instance, links, options, shadows
        self.present = np.ones(instance.n_nodes, bool)
        self.backups: dict[int, NDArray[np.int32]] = {}
        self.primaries: dict[int, set[int]] = {}
        is_random = options.churn.pick == RANDOM and options.churn.backups != GREEDY
        self._draws = np.full(int(is_random), seed, np.uint64)
        self._is_whole = instance.costs.kind != LISTED and not len(instance.broken_topics(links))
        """Whether every topic is connected: then it stays so."""
        if shadows:
            self.build_backups(range(instance.n_nodes))

    def leave(self, node: int) -> Repair:
        """A node leaves with its links; repair what it held together, then replace it as a backup."""
        is_gone = (self.links.src == node) | (self.links.dst == node)
        removed = self.links.take(is_gone)
        shadow = self._shadow(np.concatenate([removed.src, removed.dst]), node)
        touched = self._topics_of(node)
        self.links = self.links.take(~is_gone)
        self.present[node] = False
        self.instance = _with_row(self.instance, node, [])
        repaired = self._repaired(node, touched, shadow, removed)
        if self.shadows:
            for backup in self.backups.pop(node):
                self.primaries[int(backup)].discard(node)
            orphans = sorted(self.primaries.pop(node, ()))
            for orphan in orphans:
                self.backups[orphan] = self.backups[orphan][self.backups[orphan] != node]
            self.build_backups(orphans)
        return repaired

    def join(self, topics: Iterable[int], node: int | None = None) -> Repair:
        """A node joins that wants these topics, with a number of none that is there: by default the next. Its backups
        are chosen, then it is linked to them."""
        node = self.instance.n_nodes if node is None else node
        while node >= self.instance.n_nodes:
            self.instance, self.present = _enlarged(self.instance), np.append(self.present, False)
        self.instance = _with_row(self.instance, node, sorted(topics))
        self.present[node] = True
        if self.shadows:
            self.build_backups([node])
        shadow = self._shadow(np.array([node]), -1)
        if self.shadows:
            shadow = np.union1d(shadow, self.backups[node]).astype(np.int32)
        return self._repaired(node, self._topics_of(node), shadow, self.links.take(np.empty(0, np.int64)))

    def build_backups(self, nodes: Iterable[int]) -> None:
        """Choose the backups of these nodes anew, one after the other."""
        from overlay_spark.kernels.shadows import build_backups

        asked = np.array(list(nodes), np.int32)
        weights = self.links.degrees(self.instance.n_nodes)
        for node, primaries in self.primaries.items():
            weights[node] += len(primaries)
        churn = self.options.churn
        old = _backups([self.backups.get(v, _NOBODY) for v in asked.tolist()])
        found = build_backups(
            wants_of(self.instance), asked, old, weights, churn.coverage, churn.backups == GREEDY, self._draws
        )
        for i, v in enumerate(asked.tolist()):
            for backup in self.backups.get(v, _NOBODY).tolist():
                self.primaries[backup].discard(v)
            self.backups[v] = found.nodes[found.starts[i] : found.starts[i + 1]]
            for backup in self.backups[v].tolist():
                self.primaries.setdefault(backup, set()).add(v)

    def _shadow(self, around: NDArray[Any], leaver: int) -> NDArray[np.int32]:
        """The shadow nodes: those around, and backups of the leaver; all nodes where shadows are not used."""
        if not self.shadows:
            return np.flatnonzero(self.present & (np.arange(len(self.present)) != leaver)).astype(np.int32)
        nodes = np.union1d(around, self.backups.get(leaver, _NOBODY))
        others: NDArray[np.int32] = nodes[nodes != leaver].astype(np.int32)
        return others

    def _topics_of(self, node: int) -> NDArray[np.bool_]:
        touched = np.zeros(self.instance.n_topics, bool)
        touched[self.instance.topics_of(node)] = True
        return touched

    def _repaired(self, node: int, touched: NDArray[np.bool_], shadow: NDArray[np.int32], removed: Links) -> Repair:
        before = self.links
        most = busy_degree(self.instance, before) if self.options.churn.trim else None
        if self._is_whole and self.present[node]:  # it joins
            added = self._joined(node, shadow, most)
        else:
            added = repair(self.instance, before, touched, shadow, self.options, most)
        self.links = Links.one_after_the_other([before, added])
        if self.options.churn.trim:
            everywhere = np.ones(self.instance.n_topics, bool)
            after = trimmed(self.instance, self.links, everywhere, shadow, self._backups_of, self.options)
            gone, added = changed(self.instance.n_nodes, before, after)
            self.links = Links.one_after_the_other([before.take(~gone), added])
            removed = Links.one_after_the_other([removed, before.take(gone)])
        return Repair(node=node, shadow=shadow, added=added, removed=removed)

    def _joined(self, node: int, shadow: NDArray[np.int32], most: int | None) -> Links:
        """What repair comes to where all are connected but the node that joins: nobody else needs a look."""
        inner, degree = self.instance.among(shadow), self.links.degrees(self.instance.n_nodes)
        greatest = int(degree.max(initial=0)) if most is None else most
        own = np.arange(inner.n_subscriptions)
        others = own[shadow[inner.nodes] != node]
        first = np.empty(inner.n_topics, np.int64)
        first[inner.topics[others[::-1]]] = others[::-1]
        named_by = np.where(shadow[inner.nodes] == node, own, first[inner.topics])
        return joined(inner, named_by, degree[shadow], greatest, self.options).renumbered(shadow)

    def _backups_of(self, nodes: NDArray[Any]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = np.concatenate([_NOBODY, *[self.backups.get(v, _NOBODY) for v in nodes.tolist()]])
        return found


_NOBODY = np.empty(0, np.int32)


def wants_of(instance: Instance) -> Wants:
    """Who wants what, both ways."""
    from overlay_spark.kernels.members import members_by_topic
    from overlay_spark.kernels.shadows import Wants

    return Wants(
        instance.offsets, instance.topics, *members_by_topic(instance.n_topics, instance.offsets, instance.topics)
    )


def _backups(of_each: list[NDArray[np.int32]]) -> Backups:
    from overlay_spark.kernels.shadows import Backups

    starts = np.concatenate([[0], np.cumsum([len(nodes) for nodes in of_each])]).astype(np.int64)
    nodes = np.concatenate([_NOBODY, *of_each]).astype(np.int32)
    return Backups(starts, nodes, np.zeros(len(nodes), np.int32))


def _with_row(instance: Instance, node: int, topics: list[int]) -> Instance:
    """The same where a node wants these topics."""
    first, end = instance.offsets[node], instance.offsets[node + 1]
    offsets = instance.offsets.copy()
    offsets[node + 1 :] += len(topics) - (end - first)
    wanted = np.concatenate([instance.topics[:first], np.array(topics, np.int32), instance.topics[end:]])
    return replace(instance, offsets=offsets, topics=wanted)


def _enlarged(instance: Instance) -> Instance:
    """The same with one more node, which wants nothing and whose links cost what those of node 0 do."""
    by_node = {name: getattr(instance.costs, name) for name in ("sites", "points", "heights")}
    costs = instance.costs._replace(**{name: np.append(rows, rows[:1], axis=0) for name, rows in by_node.items()})
    return replace(instance, offsets=np.append(instance.offsets, instance.offsets[-1]), costs=costs)
