"""Who wants what: sizes of interests, then that many topics by popularity (000 section IX); or each topic by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.options.checks import require, require_one_of
from overlay_spark.workloads.draws import uniforms

SIZES = ("uniform", "power", "bernoulli")
LAWS = ("unif", "zipf", "expo")

SIZE_STREAM, TOPIC_STREAM = 1, 2
"""Streams of the seed."""

MOST_DRAWS = 1 << 21
"""Numbers drawn at a time: what a task holds of them stays small, however many nodes it makes."""

LEAST_POPULARITY = float(np.finfo(np.float64).tiny)
"""The smallest number that doubles hold without loss."""


@dataclass(frozen=True, kw_only=True)
class Interests:
    """How many topics a node wants is drawn by ``sizes``; topic i of ``topics`` has popularity ``law``.

    Sizes
        ``uniform``: from ``least`` to ``most``, all equally often. ``power``: from ``least`` to ``most``, size s by
        s^-exponent. ``bernoulli``: ``mean`` on average, each topic wanted or not by itself, by its popularity.
    Laws
        ``unif``: all alike. ``zipf``: i^-alpha. ``expo``: exp(-4 i / topics).
    """

    topics: int = 200
    sizes: str = "uniform"
    least: int = 20
    most: int = 100
    exponent: float = 2.0
    mean: float = 10.0
    law: str = "unif"
    alpha: float = 2.0

    def __post_init__(self) -> None:
        require_one_of("interests.sizes", SIZES, self.sizes)
        require_one_of("interests.law", LAWS, self.law)
        for name in ("alpha", "exponent"):
            value = getattr(self, name)
            require(0 <= value < math.inf, f"interests.{name} must be a number of at least 0, got {value}.")
        if self.sizes == "bernoulli":
            self._require_chances()
            return
        low = 1 if self.sizes == "power" else 0
        require(
            low <= self.least <= self.most <= self.topics,
            f"interests: sizes must be {low} <= least <= most <= topics, got {self.least}, {self.most}, {self.topics}.",
        )

    def _require_chances(self) -> None:
        require(0 <= self.mean <= self.topics, f"interests.mean must be from 0 to {self.topics}, got {self.mean}.")
        first = self.chances()[:1].sum()
        require(
            first <= 1,
            f"interests: of {self.mean:g} topics a node on average, the first would be wanted with a chance of "
            f"{first:.3g}; lower the mean, or take a law that falls less.",
        )

    @property
    def draws(self) -> int:
        """How many numbers are drawn for the topics of a node."""
        return self.topics if self.sizes == "bernoulli" else self.most

    def popularity(self) -> NDArray[np.float64]:
        """Of each topic, that of the first being 1; what doubles cannot hold is LEAST_POPULARITY: any can be drawn."""
        rank = np.arange(1.0, self.topics + 1)
        if self.law == "zipf":
            return np.maximum(rank**-self.alpha, LEAST_POPULARITY)
        return np.exp(-4.0 * (rank - 1) / self.topics) if self.law == "expo" else np.ones(self.topics)

    def chances(self) -> NDArray[np.float64]:
        """Of each topic that a node wants it, where each is drawn by itself: by popularity, ``mean`` in sum."""
        popularity = self.popularity()
        chances: NDArray[np.float64] = self.mean * popularity / popularity.sum()
        return chances


def subscriptions(interests: Interests, nodes: NDArray[Any], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(node, topic) for the numbered nodes: distinct topics in drawn order, each by its popularity among those left.

    Topics that are each drawn by themselves come in their own order. Work: log(topics) a subscription, or the number of
    topics a node.
    """
    nodes = np.asarray(nodes, np.int64)
    draw = _each_by_itself if interests.sizes == "bernoulli" else _one_after_the_other
    parts = np.array_split(nodes, 1 + len(nodes) * interests.draws // MOST_DRAWS)
    found = [draw(interests, part, seed) for part in parts]
    return np.concatenate([nodes for nodes, _ in found]), np.concatenate([topics for _, topics in found])


def _one_after_the_other(
    interests: Interests, nodes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from overlay_spark.kernels.drawing import draw_items

    sizes = _sizes(interests, uniforms(seed, SIZE_STREAM, nodes, 1)[:, 0])
    topics = draw_items(interests.popularity(), sizes, uniforms(seed, TOPIC_STREAM, nodes, interests.most))
    return np.repeat(nodes, sizes), topics


def _sizes(interests: Interests, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """The size of interest at each share, from 0 to 1, of all nodes in the order of their sizes."""
    span = interests.most - interests.least + 1
    if interests.sizes == "uniform":
        return interests.least + np.floor(shares * span).astype(np.int64)
    up_to = np.cumsum((1 + np.arange(span) / interests.least) ** -interests.exponent)
    beyond: NDArray[np.int64] = np.searchsorted(up_to[:-1], shares * up_to[-1], side="right")
    return interests.least + beyond


def _each_by_itself(
    interests: Interests, nodes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows, topics = np.nonzero(uniforms(seed, TOPIC_STREAM, nodes, interests.topics) < interests.chances())
    return nodes[rows], topics.astype(np.int64)
