"""One overlay problem as arrays, and an overlay as arrays: all that algorithms and kernels ever see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import Costs, costs_among, uniform
from overlay_spark.errors import GuardError

if TYPE_CHECKING:
    from overlay_spark.kernels.growing import Growing


LINK_COLUMNS = ("src", "dst", "cost", "contribution")
MOST_SUBSCRIPTIONS = 2**31 - 1
"""Kernels number them by 32 bits."""


@dataclass(frozen=True)
class Links:
    """An overlay: links in pick order, ``src < dst``, with what each joined when it was picked."""

    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    cost: NDArray[np.int64]
    contribution: NDArray[np.int32]
    lower_bound: float | None = None
    """A cost in units that no overlay can beat, where the algorithm proves one."""
    sum_of_trees: int | None = None
    """What the topics' trees cost when each is paid for by itself, where the algorithm builds trees."""

    @classmethod
    def from_picks(cls, rows: NDArray[np.int64], **told: Any) -> Links:
        """From rows (src, dst, cost, contribution, ...) in pick order, as kernels give them."""
        src, dst, cost, contribution = np.ascontiguousarray(rows[:, :4].T)
        return cls(src.astype(np.int32), dst.astype(np.int32), cost, contribution.astype(np.int32), **told)

    def __len__(self) -> int:
        return len(self.src)

    @property
    def total_cost(self) -> int:
        return int(self.cost.sum())

    def degrees(self, n_nodes: int) -> NDArray[np.int64]:
        """How many links each node has."""
        ends: NDArray[np.int64] = np.bincount(np.concatenate([self.src, self.dst]), minlength=n_nodes)
        return ends

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.src.tolist(), self.dst.tolist(), strict=True))

    @classmethod
    def one_after_the_other(cls, several: Sequence[Links]) -> Links:
        """Overlays as one, in this order; each link joins what it did in its own."""
        src, dst, cost, joins = (np.concatenate([getattr(one, name) for one in several]) for name in LINK_COLUMNS)
        return cls(src, dst, cost, joins)

    def renumbered(self, nodes: NDArray[Any]) -> Links:
        """The same links where node i is ``nodes[i]``; these must ascend."""
        return replace(self, src=nodes[self.src].astype(np.int32), dst=nodes[self.dst].astype(np.int32))

    def take(self, order: NDArray[Any]) -> Links:
        """Some of the links, in the order given; what was said of all stays."""
        columns = {name: getattr(self, name)[order] for name in LINK_COLUMNS}
        return replace(self, **columns)


@dataclass(frozen=True)
class Instance:
    """Who wants what, and what links cost.

    ``topics[offsets[v]:offsets[v + 1]]`` are the topics of node v, ascending (compressed sparse rows).
    Nodes and topics are numbered from 0 in the order of their ids.
    """

    n_topics: int
    offsets: NDArray[np.int64]
    topics: NDArray[np.int32]
    costs: Costs

    def __post_init__(self) -> None:
        if len(self.topics) > MOST_SUBSCRIPTIONS:
            raise GuardError(
                f"{len(self.topics):,} subscriptions are too many for one task: {MOST_SUBSCRIPTIONS:,} is the most. "
                "Design in parts: engine divide."
            )

    @classmethod
    def from_pairs(
        cls, n_nodes: int, n_topics: int, nodes: NDArray[Any], topics: NDArray[Any], costs: Costs
    ) -> Instance:
        """From subscriptions (node, topic) in any order, each once."""
        order = np.lexsort((topics, nodes))
        counts = np.bincount(np.asarray(nodes, np.int64), minlength=n_nodes)
        offsets = np.zeros(n_nodes + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return cls(n_topics, offsets, np.ascontiguousarray(np.asarray(topics, np.int32)[order]), costs)

    @property
    def n_nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_subscriptions(self) -> int:
        return len(self.topics)

    @cached_property
    def nodes(self) -> NDArray[np.int32]:
        """The node of each subscription."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def topic_sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.topics, minlength=self.n_topics).astype(np.int64)

    def with_unit_costs(self) -> Instance:
        """The same problem with every link at cost 1."""
        return replace(self, costs=uniform(self.costs))

    def among(self, nodes: NDArray[Any]) -> Instance:
        """The problem of these nodes, ascending, numbered anew; topics keep their numbers."""
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.diff(self.offsets)[nodes], out=offsets[1:])
        return Instance(self.n_topics, offsets, self.topics[self.rows_of(nodes)], costs_among(self.costs, nodes))

    def rows_of(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """The positions of all subscriptions of these nodes, one node's after the other's."""
        sizes = np.diff(self.offsets)[nodes]
        ends = np.cumsum(sizes)
        rows: NDArray[np.int64] = np.repeat(self.offsets[nodes] - ends + sizes, sizes) + np.arange(sizes.sum())
        return rows

    def only(self, wanted: NDArray[np.bool_]) -> Instance:
        """The same nodes where only these topics count."""
        kept = wanted[self.topics]
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Instance(self.n_topics, offsets, self.topics[kept], self.costs)

    def topics_of(self, node: int) -> NDArray[np.int32]:
        return self.topics[self.offsets[node] : self.offsets[node + 1]]

    def growing(self, start: Links | None = None) -> Growing:
        """The overlay that has the links of ``start`` and no others yet, in the form that kernels add links to."""
        from overlay_spark.kernels.growing import new_growing, replay

        state = new_growing(self.n_topics, self.offsets, self.topics)
        if start is not None:
            replay(state, start.src, start.dst)
        return state

    def grown_to(self, components: NDArray[Any]) -> Growing:
        """An overlay in which two subscriptions to a topic are connected where their components have one name."""
        order = np.lexsort((components, self.topics))
        topic, component = self.topics[order], components[order]
        alike = (topic[1:] == topic[:-1]) & (component[1:] == component[:-1])
        first = np.arange(len(order))
        first[1:][alike] = 0
        named_by = np.empty(len(order), np.int64)
        named_by[order] = order[np.maximum.accumulate(first)]
        return self.grown_at(named_by)

    def grown_at(self, named_by: NDArray[np.int64]) -> Growing:
        """An overlay in which each subscription is connected with the one at this position, of its topic too."""
        from overlay_spark.kernels.growing import join_positions

        state = self.growing()
        others = np.flatnonzero(named_by != np.arange(self.n_subscriptions))
        join_positions(state, named_by[others], others)
        return state

    def contributions(self, links: Links, start: Links | None = None) -> NDArray[np.int32]:
        """What each link joins when the links are added, in their order, to those of ``start``."""
        from overlay_spark.kernels.growing import replay

        return replay(self.growing(start), links.src, links.dst)

    def links_between(self, src: NDArray[Any], dst: NDArray[Any]) -> Links:
        """Pairs that may link (``src < dst``) as an overlay in this order, with their costs and contributions."""
        from overlay_spark.kernels.growing import replay
        from overlay_spark.kernels.link_costs import costs_of

        src, dst = np.asarray(src, np.int32), np.asarray(dst, np.int32)
        return Links(src, dst, costs_of(self.costs, src, dst), replay(self.growing(), src, dst))

    def component_labels(self, links: Links) -> NDArray[np.int32]:
        """The component of each subscription in its topic's sub-overlay, as the position of its first member."""
        from overlay_spark.kernels.components import connected_labels, shared_edges

        _, left, right = shared_edges(self.offsets, self.topics, links.src, links.dst)
        return connected_labels(self.n_subscriptions, left, right)

    def broken_topics(self, links: Links) -> NDArray[np.int32]:
        """Topics whose nodes the links leave in more than one component, ascending."""
        return np.flatnonzero(self.apart(self.component_labels(links))).astype(np.int32)

    def apart(self, components: NDArray[Any], counts: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Which topics are in several components, each of which has the position of one of its members for a name; of
        components whose name does not count, none."""
        is_name = components == np.arange(self.n_subscriptions)
        firsts = self.topics[is_name if counts is None else is_name & counts]
        several: NDArray[np.bool_] = np.bincount(firsts, minlength=self.n_topics) > 1
        return several

    def topic_shapes(self, links: Links, most_nodes: int = 1 << 30) -> NDArray[np.int64]:
        """(nodes, links, components, diameter, weighted diameter) of each topic; -1 for what is not measured.

        Topics with more than ``most_nodes`` nodes get no diameters.
        """
        return topic_shapes(self.n_topics, self.offsets, self.topics, links, most_nodes)


def topic_shapes(
    n_topics: int, offsets: NDArray[np.int64], topics: NDArray[np.int32], links: Links, most_nodes: int
) -> NDArray[np.int64]:
    """As :meth:`Instance.topic_shapes`, of subscriptions without costs."""
    from overlay_spark.kernels import diameters
    from overlay_spark.kernels.components import connected_labels, places_by_topic, shared_edges

    place = places_by_topic(n_topics, topics)
    counts, left, right = shared_edges(offsets, topics, links.src, links.dst)
    order = np.argsort(topics[left], kind="stable")
    edge_starts = np.searchsorted(topics[left][order], np.arange(n_topics + 1))
    starts = np.concatenate([[0], np.cumsum(np.bincount(topics, minlength=n_topics))])
    left, right = place[left[order]], place[right[order]]
    labels = connected_labels(len(topics), left, right)
    costs = np.repeat(links.cost, counts)[order]
    shapes: NDArray[np.int64] = diameters.topic_shapes(starts, edge_starts, left, right, costs, labels, most_nodes)
    return shapes
