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
"""Numbers drawn at a time: what a task holds of them stays small, whatever the number of topics."""


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

    def log_popularity(self) -> NDArray[np.float64]:
        rank = np.arange(1, self.topics + 1)
        if self.law == "zipf":
            return -self.alpha * np.log(rank)
        return -4.0 * rank / self.topics if self.law == "expo" else np.zeros(self.topics)


def subscriptions(interests: Interests, nodes: NDArray[Any], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(node, topic) for the numbered nodes: distinct topics, drawn with probability proportional to popularity.

    Drawing without replacement is taking the largest of log popularity + Gumbel noise.
    """
    nodes = np.asarray(nodes, np.int64)
    parts = np.array_split(nodes, 1 + len(nodes) * interests.topics // MOST_DRAWS)
    found = [_subscriptions(interests, part, seed) for part in parts]
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([topics for _, topics in found])


def _subscriptions(
    interests: Interests, nodes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    span = interests.most - interests.least + 1
    sizes = interests.least + np.floor(uniforms(seed, SIZES, nodes, 1)[:, 0] * span).astype(np.int64)
    noise = -np.log(-np.log(uniforms(seed, TOPICS, nodes, interests.topics)))
    order = np.argsort(-(interests.log_popularity()[None, :] + noise), axis=1, kind="stable")
    wanted = np.arange(interests.topics)[None, :] < sizes[:, None]
    return np.repeat(nodes, sizes), order[wanted]
