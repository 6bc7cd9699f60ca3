"""Greedy as DataFrame and GraphFrames operations, for candidates beyond one task: the same links, in rounds that pick
many at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import Algorithm, find
from overlay_spark.engines import Solved
from overlay_spark.engines.kernel import solve_instance
from overlay_spark.errors import VerificationError
from overlay_spark.frames.answers import Answer, TaskFacts
from overlay_spark.frames.candidates import candidates
from overlay_spark.frames.components import Components, choose_method
from overlay_spark.frames.contributions import contributions, rank
from overlay_spark.frames.estimates import Size, fits_a_task, known_size, left_of, size_in_rounds
from overlay_spark.frames.indexing import IndexedProblem, with_shared_topics
from overlay_spark.frames.selection import Band, next_band, safe_links
from overlay_spark.frames.task_rows import Task
from overlay_spark.frames.tasks import in_one_task
from overlay_spark.frames.workspace import Workspace, parts_of
from overlay_spark.options import Options

log = logging.getLogger(__name__)

ROUND, FINISH = "round", "finish"
"""Stages of links: picked in a round, or by the kernel at the end."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One look at a band: the links it found, and what there is after it."""

    number: int
    """From 1."""
    threshold: float
    read: int
    """Candidates looked at, those of a new band's choice included."""
    band: int
    """Candidates of the band that are still up to its threshold."""
    left: int
    """Candidates that may still join something."""
    links: int
    apart: int
    seconds: float

    def say(self) -> str:
        return (
            f"round {self.number}: {self.links:,} links of {self.band:,} candidates up to {self.threshold:g}; "
            f"{self.left:,} candidates and {self.apart:,} components left; {self.seconds:.1f} s"
        )


ROUNDS_APART = 32
"""Links of so many rounds are kept apart, then as one frame."""
WORKED_OFF = 50
"""A band goes with the next once it has so many times fewer candidates than it had: a look costs about a second."""

Tell = Callable[[Round], None]


def log_round(seen: Round) -> None:
    log.info("%s", seen.say())


def only_row(frame: DataFrame) -> Row:
    """The row of an aggregate."""
    (row,) = frame.collect()
    return row


class FramesEngine:
    """See the module."""

    name = "frames"
    takes_steps = False

    def has(self, algorithm: Algorithm) -> bool:
        return algorithm.in_rounds

    def size(self, whole: Size, problem: IndexedProblem, options: Options) -> Size:
        return size_in_rounds(whole, problem, options)

    def refusal(self, size: Size, options: Options) -> str | None:
        most, memory = options.frames.most_candidates, options.design.task_memory
        if size.candidates > most:
            return (
                f"This problem is too large to solve in rounds: {size.say()}; frames.most_candidates allows {most:,}. "
                "Set it higher, if your cluster has the time, or design fewer nodes at a time."
            )
        if size.task_bytes > options.design.task_bytes:
            return (
                f"This problem is too large to solve in rounds: {size.say()}; a task would need about "
                f"{size.task_bytes / 2**30:.1f} GiB, and design.task_memory allows {memory}. A lower frames.topic_rows "
                "takes less."
            )
        return None

    def solve(self, problem: IndexedProblem, options: Options, workspace: Workspace, tell: Tell = log_round) -> Solved:
        """Rounds, until every topic is connected or the rest fits one task."""
        started = time.perf_counter()
        rounds = Rounds(problem, options, workspace, tell)
        rounds.run()
        links = workspace.settle(rounds.in_pick_order())
        return Solved(links, TaskFacts(time.perf_counter() - started))


class Rounds:
    """Greedy under way. The driver holds counts and thresholds; candidates and components are settled frames."""

    def __init__(self, problem: IndexedProblem, options: Options, workspace: Workspace, tell: Tell):
        self._problem, self._options, self._workspace, self._tell = problem, options, workspace, tell
        self._unit_costs = find(options.design.algorithm).unit_costs
        self._rank = rank(self._unit_costs)
        small = problem.n_subscriptions <= options.frames.broadcast_subscriptions
        method = choose_method(problem, options.components)
        self._components = Components.apart_all(problem, method, small, workspace)
        self._n_left = problem.n_pairs if problem.n_listed is None else problem.n_listed
        found = candidates(problem, small).withColumnRenamed("shared_topics", "contribution")
        self._left = workspace.settle(found, self._n_left)
        self._aside = [self._left]
        self._picked: list[DataFrame] = []
        self._finished: DataFrame | None = None
        self._n_rounds = self._n_picked = 0

    def run(self) -> None:
        """Work off one band after the other."""
        since = time.perf_counter()
        while self._components.apart:
            self._parts = parts_of(self._n_left)
            band = next_band(self._problem, self._left, self._unit_costs, self._options.frames, self._parts)
            if band is None:
                return  # listed links cannot connect every topic; the proof will say which
            self._n_left = band.left
            if self._fits_a_task():
                self._finish()
                return
            self._work(band, since)
            if self._components.apart:
                since = time.perf_counter()
                self._refresh()

    def _refresh(self) -> None:
        """Bring the contributions of all that is left up to date; what joins nothing any more is gone for good."""
        self._components = self._components.only_open(self._workspace)
        self._left = self._workspace.settle(contributions(self._left, self._components), self._n_left)
        self._let_go()

    def _let_go(self) -> None:
        """Forget candidates as they were before the last refresh."""
        for frame in self._aside:
            self._workspace.drop(frame)
        self._aside = [self._left]

    def _work(self, band: Band, since: float) -> None:
        """Pick the safe links of a band, again and again, until it is worked off but for a few candidates."""
        within = band.holds(self._rank)
        beyond = ~within
        seen, n_seen, n_read = self._left.where(within), band.size, band.left
        waiting, n_waiting = [self._left.where(beyond)], band.left - band.size
        while True:
            n_links = self._pick(seen)
            now = time.perf_counter()
            self._tell(
                Round(
                    number=self._n_rounds,
                    threshold=band.threshold,
                    read=n_read,
                    band=n_seen,
                    left=n_waiting + n_seen - n_links,
                    links=n_links,
                    apart=self._components.apart,
                    seconds=now - since,
                )
            )
            since, n_read = now, n_seen
            if not self._components.apart:
                return
            known = self._workspace.settle(contributions(seen, self._components), n_seen)
            self._aside.append(known)
            counts = only_row(known.agg(F.count_if(within).alias("within"), F.count_if(beyond).alias("beyond")))
            seen, n_seen = known.where(within), counts["within"]
            waiting.append(known.where(beyond))
            n_waiting += counts["beyond"]
            if n_seen <= band.size / WORKED_OFF:
                break
        self._left, self._n_left = reduce(DataFrame.union, [*waiting, seen]), n_waiting + n_seen

    def _pick(self, band: DataFrame) -> int:
        """Add the safe links of a band to the overlay; how many there are."""
        safe = self._workspace.settle(
            safe_links(self._problem, band, self._components, self._unit_costs, self._parts, self._options.frames)
        )
        counts = only_row(safe.agg(F.count(F.lit(1)).alias("links"), F.sum("contribution").alias("joins")))
        if not counts["links"]:
            raise VerificationError(
                "A round found no link, though the least candidate always is one; please report this."
            )
        self._n_rounds += 1
        self._n_picked += counts["links"]
        joins = safe.select(F.inline("joined"))
        self._components = self._components.joining(joins, counts["joins"], self._workspace)
        self._picked.append(safe)
        if len(self._picked) == ROUNDS_APART:
            merged = self._workspace.settle(self._all_picked(), self._n_picked)
            for frame in self._picked:
                self._workspace.drop(frame)
            self._picked = [merged]
        return int(counts["links"])

    def _fits_a_task(self) -> bool:
        return fits_a_task(left_of(known_size(self._problem, self._options), self._n_left), self._options)

    def _finish(self) -> None:
        """Let the kernel pick the rest, from the components reached, among the candidates that are left."""
        picked = self._all_picked()
        listed = self._left.select("src", "dst", "cost").union(picked.select("src", "dst", "cost"))
        rest = replace(self._problem, link_costs=listed, site_costs=None, n_listed=self._n_left)
        sections = self._options.to_mapping()

        def work(task: Task) -> Answer:
            return replace(solve_instance(task, Options.from_mapping(sections)), stage=FINISH)

        answers = in_one_task(rest, work, self._workspace, picked.select("src", "dst", F.lit(0).alias("pick")))
        self._finished = answers.links

    def in_pick_order(self) -> DataFrame:
        """All links as an engine gives them, in greedy's order: by rank at the pick."""
        columns = ("src", "dst", "cost", "contribution", "stage")
        links = self._all_picked().withColumn("stage", F.lit(ROUND))
        if self._finished is not None:
            links = links.union(self._finished.select(*columns))
        order = Window.orderBy(self._rank, "src", "dst")
        numbered = links.withColumn("pick", F.row_number().over(order).cast("bigint") - 1)
        shared = with_shared_topics(self._problem, numbered)
        return shared.select(
            "src", "dst", "cost", F.size("shared").alias("shared_topics"), "contribution", "stage", "pick"
        )

    def _all_picked(self) -> DataFrame:
        none = self._problem.nodes.sparkSession.createDataFrame([], "src int, dst int, cost bigint, contribution int")
        return reduce(DataFrame.union, (frame.select(none.columns) for frame in self._picked), none)


ENGINE = FramesEngine()
