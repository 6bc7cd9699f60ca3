"""What solving will take, before it is tried: candidates, memory of the solving task, and about how long."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import find
from overlay_spark.frames.indexing import IndexedProblem, with_shared_topics
from overlay_spark.options import Options

PAIRS_TO_COUNT = 5_000_000
"""Up to this many pairs, those of each topic by themselves, are listed to count the distinct ones."""

# What a solving task holds, in bytes; the sum was 1.1 to 2 times the measured peak from 800 to 20 000 nodes.
INTERPRETER = 480 << 20
"""Python, its libraries, and the compiler at work on kernels that are not cached yet, which is most of it."""
A_ROW = 110
A_LISTED_LINK = 120
A_SUBSCRIPTION = 60
A_WORD = 20
A_HELD_CANDIDATE = 16
A_TIED_CANDIDATE = 40
LEAST_HELD = 1 << 16
SHARE_HELD = 10
"""Candidates are held a band at a time; but those whose ranks are nearly equal all at once, as few costs make them."""

WORDS_A_SECOND = 1e8
"""Words of bitsets one core reads a second, re-evaluations among them; rough, and so are the classes."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """The numbers of a problem. ``candidates`` are exact, or at most this many where not ``is_exact``."""

    nodes: int
    topics: int
    subscriptions: int
    candidates: int
    is_exact: bool
    listed: int | None = None
    may_tie: bool = False
    """Whether many candidates may have the same rank: where costs are listed or by site, or all 1."""
    band: int = 0

    @property
    def task_bytes(self) -> int:
        """About how much memory the solving task needs; rather too much than too little."""
        words = self.nodes * -(-self.topics // 64)
        held = min(max(LEAST_HELD, self.candidates // SHARE_HELD, self.band), self.candidates)
        return (
            INTERPRETER
            + A_ROW * (self.subscriptions + self.nodes)
            + A_LISTED_LINK * (self.listed or 0)
            + A_SUBSCRIPTION * self.subscriptions
            + A_WORD * words
            + (A_TIED_CANDIDATE * self.candidates if self.may_tie else A_HELD_CANDIDATE * held)
        )

    @property
    def time_class(self) -> str:
        """seconds, minutes or hours: by words of bitsets to read."""
        seconds = self.candidates * -(-self.topics // 64) / WORDS_A_SECOND
        return "seconds" if seconds < 60 else "minutes" if seconds < 3600 else "hours"

    def say(self) -> str:
        bound = "" if self.is_exact else "at most "
        return (
            f"{self.nodes:,} nodes, {self.topics:,} topics, {self.subscriptions:,} subscriptions, "
            f"{bound}{self.candidates:,} candidate links"
        )


def known_size(problem: IndexedProblem, options: Options) -> Size:
    """The size by the numbers at hand; no job."""
    bounds = [problem.n_pairs] if problem.n_listed is None else [problem.n_pairs, problem.n_listed]
    by_distance = problem.link_costs is None and problem.site_costs is None
    return Size(
        nodes=problem.n_nodes,
        topics=problem.n_topics,
        subscriptions=problem.n_subscriptions,
        candidates=min(bounds),
        is_exact=min(bounds) == 0,
        listed=problem.n_listed,
        may_tie=not by_distance or find(options.design.algorithm).unit_costs,
        band=options.kernel.band,
    )


def exact_size(problem: IndexedProblem, options: Options) -> Size:
    """The size with candidates counted, where that is cheap. One job: two joins by node, or one by topic."""
    size = known_size(problem, options)
    if problem.link_costs is not None:
        shared = with_shared_topics(problem, problem.link_costs)
        counted = shared.where(F.size("shared") > 0)
    elif problem.n_topic_pairs <= PAIRS_TO_COUNT:
        a, b = (problem.members.select("topic", F.col("node").alias(end)) for end in ("src", "dst"))
        counted = a.join(b, "topic").where("src < dst").select("src", "dst").distinct()
    else:
        return size
    return replace(size, candidates=counted.count(), is_exact=True)
