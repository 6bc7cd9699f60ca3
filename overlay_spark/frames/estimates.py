"""What solving will take, before it is tried: candidates, memory of the solving task, and about how long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import find
from overlay_spark.frames.indexing import IndexedProblem, with_shared_topics
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
    """At most about this many candidates may have the same rank at a time."""
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
            + A_TIED_CANDIDATE * self.tied
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
        """How many nodes of such a problem one task could hold; 0 where it is not the nodes that need the room."""
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
    """The size with candidates counted, or told from those of some nodes, and with ties as there are costs alike.

    One job, or two: one join by topic, or two by node of listed links; and costs counted by value.
    """
    size, drawn = known_size(problem, options), 1
    if problem.link_costs is not None:
        shared = with_shared_topics(problem, problem.link_costs)
        contributions = shared.select(F.size("shared").alias("shared")).where("shared > 0")
    else:
        drawn = max(1, math.ceil(problem.n_topic_pairs / PAIRS_TO_COUNT))
        some = problem.members.where(F.pmod(F.hash("node"), F.lit(drawn)) == 0)
        a, b = some.select("topic", F.col("node").alias("src")), problem.members.withColumnRenamed("node", "dst")
        pairs = a.join(b, "topic").where("src < dst").groupBy("src", "dst")
        contributions = pairs.agg(F.count(F.lit(1)).alias("shared"))
    rows = contributions.groupBy("shared").agg(F.count(F.lit(1)).alias("n")).collect()  # a row for each contribution
    found = {row["shared"]: row["n"] * drawn for row in rows}
    if drawn > 1 and not found:
        return size  # nobody was drawn
    candidates = min(sum(found.values()), size.candidates)
    tied = size.tied
    if tied and candidates:
        joins = problem.n_subscriptions - problem.n_topics
        tied = int(most_alike(found, joins) * _share_of_one_cost(problem, options))
    tied = min(tied, candidates)
    return replace(size, candidates=candidates, is_exact=drawn == 1, is_sampled=drawn > 1, tied=tied)


def most_alike(found: Mapping[int, int], joins: int) -> int:
    """The most candidates of one contribution, among those of contributions high enough to be of use.

    ``found`` is how many candidates have each, ``joins`` how many components there are to join.
    """
    most, enough = 0, 0
    for contribution, n in sorted(found.items(), reverse=True):
        most = max(most, n)
        enough += contribution * n
        if enough >= JOINS_ENOUGH * joins:
            break
    return most


def _may_tie(problem: IndexedProblem, options: Options) -> bool:
    by_distance = problem.link_costs is None and problem.site_costs is None
    return not by_distance or find(options.design.algorithm).unit_costs


def _share_of_one_cost(problem: IndexedProblem, options: Options) -> float:
    """The share of the pairs that may link which have the commonest cost. One job."""
    if find(options.design.algorithm).unit_costs:
        return 1.0
    if problem.link_costs is not None:
        return _share(problem.link_costs, F.count(F.lit(1)))
    assert problem.site_costs is not None
    used = problem.nodes.groupBy("site").agg(F.count(F.lit(1)).alias("nodes"))
    a, b = (used.select(F.col("site").alias(f"site_{end}"), F.col("nodes").alias(f"nodes_{end}")) for end in "ab")
    return _share(problem.site_costs.join(a, "site_a").join(b, "site_b"), F.sum(F.col("nodes_a") * F.col("nodes_b")))


def _share(costs: DataFrame, weight: Column) -> float:
    row = costs.groupBy("cost").agg(weight.alias("n")).agg(F.max("n").alias("most"), F.sum("n").alias("all")).first()
    return 1.0 if row is None or not row["all"] else row["most"] / row["all"]
