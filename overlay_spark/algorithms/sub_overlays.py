"""The sub-overlays of all topics under some links, as one graph over subscriptions that links are added to and taken
from: finding which subscriptions a link joins takes longer than most of what is done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from overlay_spark.instance import Instance, Links

if TYPE_CHECKING:
    from overlay_spark.kernels.reverse_delete import Graph


@dataclass(frozen=True)
class SubOverlays:
    """Link i joins, in ``counts[i]`` topics, the subscriptions ``left`` and ``right``, link after link, by position."""

    instance: Instance
    counts: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    @classmethod
    def of(cls, instance: Instance, links: Links) -> SubOverlays:
        from overlay_spark.kernels.components import shared_edges

        return cls(instance, *shared_edges(instance.offsets, instance.topics, links.src, links.dst))

    def plus(self, more: SubOverlays) -> SubOverlays:
        """With more links, after those there are."""
        parts = [np.concatenate([getattr(s, name) for s in (self, more)]) for name in ("counts", "left", "right")]
        return SubOverlays(self.instance, *parts)

    def take(self, kept: NDArray[np.bool_]) -> SubOverlays:
        """With some of the links only."""
        edges = np.repeat(kept, self.counts)
        return SubOverlays(self.instance, self.counts[kept], self.left[edges], self.right[edges])

    def served(self, topics: NDArray[np.bool_]) -> NDArray[np.int64]:
        """In how many of these topics each link joins anything."""
        upto = np.concatenate([[0], np.cumsum(topics[self.topics])])
        ends = np.cumsum(self.counts)
        found: NDArray[np.int64] = upto[ends] - upto[ends - self.counts]
        return found

    @property
    def topics(self) -> NDArray[np.int32]:
        """The topic of each edge."""
        return self.instance.topics[self.left]

    def components(self) -> NDArray[np.int32]:
        """The component of each subscription, as the position of its first member."""
        from overlay_spark.kernels.components import connected_labels

        return connected_labels(self.instance.n_subscriptions, self.left, self.right)

    def joined(self, components: NDArray[np.int32]) -> NDArray[np.int32]:
        """The components, named so too, of those told once the links are added to whatever made them."""
        from overlay_spark.kernels.components import joined_labels

        return joined_labels(components.copy(), self.left, self.right)

    def graph(self) -> Graph:
        """In the form in which links are tried one by one. There a topic's subscriptions lie together: a search stays
        in its topic, and so in the processor's cache."""
        from overlay_spark.kernels.components import places_by_topic
        from overlay_spark.kernels.reverse_delete import new_graph

        instance = self.instance
        places = places_by_topic(instance.n_topics, instance.topics)
        return new_graph(instance.n_subscriptions, self.counts, places[self.left], places[self.right])


def holding(instance: Instance, links: Links) -> Graph:
    """The sub-overlays of these links in the form in which links are tried one by one."""
    return SubOverlays.of(instance, links).graph()
