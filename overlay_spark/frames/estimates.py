"""What solving will take, before it is tried: candidates, memory of the solving task, and about how long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import Algorithm, find
from overlay_spark.frames.indexing import IndexedProblem, with_ends, with_shared_topics
from overlay_spark.frames.pricing import with_price
from overlay_spark.options import Options

PAIRS_TO_COUNT = 2_000_000
"""Up to about this many pairs of members are listed to count those of different nodes; of more, those of some nodes."""

# What a solving task holds, in bytes; the sum is 1 to 2 times the measured peak over ten shapes of problems.
INTERPRETER = 416 << 20
"""Python, its libraries, and the compiler at work on kernels that are not kept yet, which is 40 % of it."""
A_ROW = 110
A_LISTED_LINK = 120
A_SUBSCRIPTION = 60
A_HELD_CANDIDATE = 20
A_TIED_CANDIDATE = 40
LEAST_HELD, MOST_HELD = 1 << 16, 1 << 26
SHARE_HELD = 20
"""Candidates are held a band at a time (kernels/bands.py); those whose ranks tie are in one."""
JOINS_ENOUGH = 8
"""Links that together could join everything so many times over leave next to nothing to those of lower contribution."""

BINS_A_DOUBLING = 512
"""Ranks less than this part of a doubling apart are alike to the kernels (kernels/waiting.py)."""

PAIRS_A_SECOND, LISTED_A_SECOND = 1e8, 5e6
"""Pairs of members, or listed links, that a core gets through in a second, all told; rough, and so are the classes."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """The numbers of a problem.

    ``candidates`` are counted where ``is_exact``, about so many where ``is_sampled``, and else at most so many.
    """

    nodes: int
    topics: int
    subscriptions: int
    candidates: int
    is_exact: bool
    is_sampled: bool = False
    pairs: int = 0
    """Pairs of members, over all topics."""
    listed: int | None = None
    tied: int = 0
    """At most about this many candidates may rank alike: no band can part them."""
    band: int = 0

    @property
    def task_bytes(self) -> int:
        """About how much memory the solving task needs; rather too much than too little."""
        chosen = self.band or min(MOST_HELD, max(LEAST_HELD, self.candidates // SHARE_HELD))
        return (
            INTERPRETER
            + A_ROW * (self.subscriptions + self.nodes)
            + A_LISTED_LINK * (self.listed or 0)
            + A_SUBSCRIPTION * self.subscriptions
            + A_HELD_CANDIDATE * min(self.candidates, chosen)
            + A_TIED_CANDIDATE * max(0, self.tied - chosen)
        )

    @property
    def time_class(self) -> str:
        """seconds, minutes or hours: by pairs of members, or listed links, to go over."""
        seconds = self.pairs / PAIRS_A_SECOND if self.listed is None else self.listed / LISTED_A_SECOND
        return "seconds" if seconds < 60 else "minutes" if seconds < 3600 else "hours"

    def say(self) -> str:
        bound = "" if self.is_exact else "about " if self.is_sampled else "at most "
        return (
            f"{self.nodes:,} nodes, {self.topics:,} topics, {self.subscriptions:,} subscriptions, "
            f"{bound}{self.candidates:,} candidate links"
        )

    def part(self, share: float) -> Size:
        """The size of such a problem with this share of its nodes."""
        pairs = share**2
        return replace(
            self,
            nodes=int(self.nodes * share),
            subscriptions=int(self.subscriptions * share),
            candidates=int(self.candidates * pairs),
            pairs=int(self.pairs * pairs),
            listed=None if self.listed is None else int(self.listed * pairs),
            tied=int(self.tied * pairs),
        )

    def nodes_within(self, task_bytes: int) -> int:
        """How many nodes of such a problem one task could hold; 0 where not even a small part of them would fit."""
        low, high = 0, 64
        while high - low > 1:
            share = (low + high) // 2
            low, high = (share, high) if self.part(share / 64).task_bytes <= task_bytes else (low, share)
        return int(self.nodes * low / 64)


def known_size(problem: IndexedProblem, options: Options) -> Size:
    """The size by the numbers at hand; no job."""
    bounds = [problem.n_pairs] if problem.n_listed is None else [problem.n_pairs, problem.n_listed]
    return Size(
        nodes=problem.n_nodes,
        topics=problem.n_topics,
        subscriptions=problem.n_subscriptions,
        candidates=min(bounds),
        is_exact=min(bounds) == 0,
        pairs=problem.n_topic_pairs,
        listed=problem.n_listed,
        tied=min(bounds) if _may_tie(problem, options) else 0,
        band=options.kernel.band,
    )


def exact_size(problem: IndexedProblem, options: Options) -> Size:
    """The size with candidates counted, or told from those of some nodes, and how many of them rank alike.

    One job: of listed links two joins by node, else one by topic and what prices take (:func:`with_price`).
    """
    size, drawn = known_size(problem, options), 1
    if problem.link_costs is not None:
        shared = with_shared_topics(problem, problem.link_costs)
        priced = shared.select(F.size("shared").alias("shared"), F.col("cost").alias("price")).where("shared > 0")
    else:
        drawn = max(1, math.ceil(problem.n_topic_pairs / PAIRS_TO_COUNT))
        some = problem.members.where(F.pmod(F.hash("node"), F.lit(drawn)) == 0)
        a, b = some.select("topic", F.col("node").alias("src")), problem.members.withColumnRenamed("node", "dst")
        pairs = a.join(b, "topic").where("src < dst").groupBy("src", "dst").agg(F.count(F.lit(1)).alias("shared"))
        priced = with_price(problem, with_ends(problem, pairs)).select("shared", "price")
    alike = priced.groupBy(*_rank(find(options.design.algorithm))).agg(F.count(F.lit(1)).alias("n"))
    rows = alike.groupBy("joins").agg(F.sum("n").alias("all"), F.max("n").alias("alike")).collect()  # few: one each
    if drawn > 1 and not rows:
        return size  # nobody was drawn
    found = {row["joins"]: (row["all"] * drawn, row["alike"] * drawn) for row in rows}
    candidates = min(sum(n for n, _ in found.values()), size.candidates)
    tied = min(candidates, most_alike(found, problem.n_subscriptions - problem.n_topics))
    return replace(size, candidates=candidates, is_exact=drawn == 1, is_sampled=drawn > 1, tied=tied)


def _rank(algorithm: Algorithm) -> tuple[Column, Column]:
    """What a candidate joins (``joins``), and the bin of its rank in the kernels, of (shared, price)."""
    joins = F.lit(1) if algorithm.by_cost_alone else F.col("shared")
    rank = (F.lit(1) if algorithm.unit_costs else F.col("price")) / joins
    return joins.alias("joins"), F.floor(F.log2(rank) * BINS_A_DOUBLING).alias("bin")


def most_alike(found: Mapping[int, tuple[int, int]], joins: int) -> int:
    """The most candidates of one bin, among those of contributions high enough to be of use.

    ``found`` is how many candidates have each contribution, and how many of them one bin; ``joins`` how many components
    there are to join.
    """
    most, enough = 0, 0
    for contribution, (n, alike) in sorted(found.items(), reverse=True):
        most = max(most, alike)
        enough += contribution * n
        if enough >= JOINS_ENOUGH * joins:
            break
    return most


def _may_tie(problem: IndexedProblem, options: Options) -> bool:
    by_distance = problem.link_costs is None and problem.site_costs is None
    return not by_distance or find(options.design.algorithm).unit_costs
