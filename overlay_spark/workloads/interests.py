"""Who wants what: the size of each node's interest first, then that many topics by popularity (000 section IX)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.errors import OptionError
from overlay_spark.workloads.draws import uniforms

SIZES, TOPICS = 1, 2
"""Streams of the seed."""

MOST_DRAWS = 1 << 21
"""Numbers drawn at a time: what a task holds of them stays small, however many nodes it makes."""

LEAST_POPULARITY = float(np.finfo(np.float64).tiny)
"""The smallest number that doubles hold without loss."""


@dataclass(frozen=True, kw_only=True)
class Interests:
    """Every node wants between ``least`` and ``most`` topics; topic i of ``topics`` has popularity ``law``.

    ``unif``: all alike. ``zipf``: i^-alpha. ``expo``: exp(-4 i / topics).
    """

    topics: int = 200
    least: int = 20
    most: int = 100
    law: str = "unif"
    alpha: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most <= self.topics:
            raise OptionError(
                f"interests: sizes must be 0 <= least <= most <= topics, got {self.least}, {self.most}, {self.topics}."
            )
        if self.law not in ("unif", "zipf", "expo"):
            raise OptionError(f"interests.law must be one of unif, zipf, expo, got {self.law!r}.")

        if not 0 <= self.alpha < math.inf:
            raise OptionError(f"interests.alpha must be a number of at least 0, got {self.alpha}.")

    def popularity(self) -> NDArray[np.float64]:
        """Of each topic, that of the first being 1; what doubles cannot hold is LEAST_POPULARITY: any can be drawn."""
        rank = np.arange(1.0, self.topics + 1)
        if self.law == "zipf":
            return np.maximum(rank**-self.alpha, LEAST_POPULARITY)
        return np.exp(-4.0 * (rank - 1) / self.topics) if self.law == "expo" else np.ones(self.topics)


def subscriptions(interests: Interests, nodes: NDArray[Any], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(node, topic) for the numbered nodes: distinct topics in drawn order, each by its popularity among those left.

    Work: log(topics) a subscription.
    """
    nodes = np.asarray(nodes, np.int64)
    parts = np.array_split(nodes, 1 + len(nodes) * interests.most // MOST_DRAWS)
    found = [_subscriptions(interests, part, seed) for part in parts]
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([topics for _, topics in found])


def _subscriptions(
    interests: Interests, nodes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from overlay_spark.kernels.drawing import draw_items

    span = interests.most - interests.least + 1
    sizes = interests.least + np.floor(uniforms(seed, SIZES, nodes, 1)[:, 0] * span).astype(np.int64)
    topics = draw_items(interests.popularity(), sizes, uniforms(seed, TOPICS, nodes, interests.most))
    return np.repeat(nodes, sizes), topics
