"""What solving will take, before it is tried: candidates, memory of the solving task, and about how long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import Algorithm, find
from overlay_spark.frames.candidates import candidates
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.selection import BYTES_AN_EDGE, edges_of
from overlay_spark.frames.workspace import parts_of
from overlay_spark.options import Options

PAIRS_TO_COUNT = 2_000_000
"""Up to about this many pairs of members are listed to count those of different nodes; of more, those of some nodes."""

# What a solving task holds, in bytes; the sum is 1 to 2 times the measured peak over ten shapes of problems.
INTERPRETER = 416 << 20
"""Python, its libraries, and the compiler at work on kernels that are not kept yet, which is 40 % of it."""
A_ROW = 110
A_LISTED_LINK = 120
A_SITE_PAIR = 70
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

PAIRS_A_SECOND_IN_FRAMES, CANDIDATES_A_SECOND, SECONDS_OF_ROUNDS = 5e6, 15e3, 40.0
"""In rounds, on two cores: pairs of members met, candidates worked off, and what rounds take however few those are."""


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
    site_pairs: int = 0
    tied: int = 0
    """At most about this many candidates may rank alike: no band can part them."""
    band: int = 0
    bytes_a_pair: int = 0
    """What the algorithm holds of each two nodes."""

    @property
    def tasks(self) -> int:
        """About how many tasks solve it."""
        return 1

    @property
    def driver_bytes(self) -> int:
        """About what the driver solves itself."""
        return 0

    @property
    def task_bytes(self) -> int:
        """About how much memory the solving task needs; rather too much than too little."""
        chosen = self.band or min(MOST_HELD, max(LEAST_HELD, self.candidates // SHARE_HELD))
        return (
            INTERPRETER
            + A_ROW * (self.subscriptions + self.nodes)
            + A_LISTED_LINK * (self.listed or 0)
            + A_SITE_PAIR * self.site_pairs
            + self.bytes_a_pair * self.nodes**2
            + A_SUBSCRIPTION * self.subscriptions
            + A_HELD_CANDIDATE * min(self.candidates, chosen)
            + A_TIED_CANDIDATE * max(0, self.tied - chosen)
        )

    @property
    def time_class(self) -> str:
        """seconds, minutes or hours: by pairs of members, or listed links, to go over."""
        seconds = self.pairs / PAIRS_A_SECOND if self.listed is None else self.listed / LISTED_A_SECOND
        return class_of(seconds)

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
        site_pairs=problem.n_site_pairs,
        tied=min(bounds) if _may_tie(problem, options) else 0,
        band=options.kernel.band,
        bytes_a_pair=find(options.design.algorithm).bytes_a_pair,
    )


def exact_size(problem: IndexedProblem, options: Options) -> Size:
    """The size with candidates counted, or told from those of some nodes, and how many of them rank alike.

    One job, over what :func:`overlay_spark.frames.candidates.candidates` takes.
    """
    size, drawn = known_size(problem, options), 1
    if problem.link_costs is None:
        drawn = max(1, math.ceil(problem.n_topic_pairs / PAIRS_TO_COUNT))
    small = problem.n_subscriptions <= options.frames.broadcast_subscriptions
    alike = (
        candidates(problem, small, drawn)
        .groupBy(*_rank(find(options.design.algorithm)))
        .agg(F.count(F.lit(1)).alias("n"))
    )
    rows = alike.groupBy("joins").agg(F.sum("n").alias("all"), F.max("n").alias("alike")).collect()  # few: one each
    if drawn > 1 and not rows:
        return size  # nobody was drawn
    found = {row["joins"]: (row["all"] * drawn, row["alike"] * drawn) for row in rows}
    n = min(sum(n for n, _ in found.values()), size.candidates)
    tied = min(n, most_alike(found, problem.n_subscriptions - problem.n_topics))
    return replace(size, candidates=n, is_exact=drawn == 1, is_sampled=drawn > 1, tied=tied)


@dataclass(frozen=True, kw_only=True)
class SizeInRounds(Size):
    """The numbers of a problem that is solved in rounds, until what is left fits a task."""

    edges: int
    """About the most edges that a task of a round brings down to their forest."""
    at_once: bool
    """Whether all of it fits a task from the start, once the candidates are listed."""
    finish_bytes: int
    """What the task needs that finishes; 0 where none may."""

    @property
    def tasks(self) -> int:
        return parts_of(self.candidates)

    @property
    def task_bytes(self) -> int:
        return max(self.finish_bytes, 0 if self.at_once else INTERPRETER + BYTES_AN_EDGE * self.edges)

    @property
    def time_class(self) -> str:
        seconds = self.pairs / PAIRS_A_SECOND_IN_FRAMES
        if not self.at_once:
            seconds += SECONDS_OF_ROUNDS + self.candidates / CANDIDATES_A_SECOND
        return class_of(seconds)


def size_in_rounds(size: Size, problem: IndexedProblem, options: Options) -> SizeInRounds:
    """The same numbers, for an engine that works in rounds."""
    edges = edges_of(problem, parts_of(size.candidates), options.frames)
    last = left_of(size, min(size.candidates, options.frames.finish_in_task))
    finish_bytes = last.task_bytes if options.frames.finish_in_task and fits_a_task(last, options) else 0
    at_once = fits_a_task(left_of(size, size.candidates), options)
    return SizeInRounds(**asdict(size), edges=edges, at_once=at_once, finish_bytes=finish_bytes)


def left_of(size: Size, candidates: int) -> Size:
    """The size of a problem in rounds when so many candidates are left, given as listed links."""
    return replace(size, candidates=candidates, listed=candidates, tied=min(size.tied, candidates))


def fits_a_task(left: Size, options: Options) -> bool:
    """Whether the kernel may do what is left."""
    return left.candidates <= options.frames.finish_in_task and left.task_bytes <= options.design.task_bytes


def class_of(seconds: float) -> str:
    """seconds, minutes or hours."""
    return "seconds" if seconds < 60 else "minutes" if seconds < 3600 else "hours"


def _rank(algorithm: Algorithm) -> tuple[Column, Column]:
    """What a candidate joins (``joins``), and the bin of its rank in the kernels, of (shared_topics, cost)."""
    joins = F.lit(1) if algorithm.by_cost_alone else F.col("shared_topics")
    rank = (F.lit(1) if algorithm.unit_costs else F.col("cost")) / joins
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
