"""What greedy in rounds takes on Spark, beside the kernel: rounds, candidates read, rows shuffled, seconds, memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.engines import WHOLE, Engine, named
from overlay_spark.engines.frames import ENGINE, Round
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.preparing import prepare
from overlay_spark.frames.workspace import Workspace
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.benchmark import Case
from overlay_spark.lab.events import Shuffled, shuffled_between
from overlay_spark.lab.figures import Figure
from overlay_spark.lab.measure import MeasureError, peak_below
from overlay_spark.lab.shapes import problem_of
from overlay_spark.options import Options
from overlay_spark.workloads.latencies import MeasuredPoints

CASES = tuple(Case(nodes, 200, law) for nodes in (300, 1000) for law in ("unif", "zipf", "expo"))
LOG_SECONDS = 1.0
"""Spark writes its event log a little later than things happen."""
LARGE = (*CASES, Case(3000, 200))


@dataclass(frozen=True)
class InRounds:
    """One problem in rounds to the end, in rounds that the kernel finishes, and by the kernel alone, in one session."""

    case: Case
    topic_pairs: int
    """Rows of candidates, once for each topic its ends share."""
    rounds: tuple[Round, ...]
    seconds: float
    finished_seconds: float
    kernel_seconds: float
    links: int
    peak_bytes: int
    """The most that this process and those below it held so far, each at its own time; what they share counts twice."""
    shuffled: tuple[Shuffled, ...] | None
    """Until the first round ended, in each later one, and after the last; None where there is no event log."""

    @property
    def read_per_candidate(self) -> float:
        """How often a candidate was looked at."""
        return sum(one.read for one in self.rounds) / self.rounds[0].read if self.rounds else 0.0


def measure_rounds(
    spark: SparkSession,
    cases: Sequence[Case],
    points: MeasuredPoints | None,
    options: Options,
    steps: Steps,
    events: Path | None = None,
) -> Iterator[InRounds]:
    """Run each case; refuses to go on where the two engines find different links."""
    for case in cases:
        steps(f"{case.name}: make instance")
        problem = problem_of(spark, case.make(points, options.workload.seed))
        with Workspace(spark, options.workspace) as workspace:
            indexed = prepare(problem, workspace, lambda step: None)
            yield _measured(case, indexed, options, workspace, steps, events)
            workspace.close()


def _measured(
    case: Case, indexed: IndexedProblem, options: Options, workspace: Workspace, steps: Steps, events: Path | None
) -> InRounds:
    rounds: list[Round] = []
    times = [time.time()]

    def tell(one: Round) -> None:
        times.append(time.time())
        rounds.append(one)
        steps(f"{case.name}: after round {one.number}, {one.left:,} candidates left")

    def solve(engine: Engine, chosen: Options, **told: Any) -> tuple[list[tuple[int, ...]], float]:
        started = time.perf_counter()
        solved = engine.solve(indexed, chosen, workspace, **told)
        seconds = time.perf_counter() - started
        times.append(time.time())
        return picks(solved.links), seconds

    steps(f"{case.name}: {WHOLE}")
    solve(named(WHOLE), options)  # compiles, and starts Python where there is none yet
    expected, kernel_seconds = solve(named(WHOLE), options)
    steps(f"{case.name}: {ENGINE.name}, finished by the kernel")
    finished, finished_seconds = solve(ENGINE, options, tell=lambda one: None)
    steps(f"{case.name}: {ENGINE.name}")
    times[:] = [time.time()]
    found, seconds = solve(ENGINE, replace(options, frames=replace(options.frames, finish_in_task=0)), tell=tell)
    steps.done()
    if not found == finished == expected:
        raise MeasureError(f"{case.name}: the engines pick different links.")
    time.sleep(LOG_SECONDS if events else 0)
    return InRounds(
        case=case,
        topic_pairs=indexed.n_topic_pairs,
        rounds=tuple(rounds),
        seconds=seconds,
        finished_seconds=finished_seconds,
        kernel_seconds=kernel_seconds,
        links=len(found),
        peak_bytes=peak_below(),
        shuffled=None if events is None else tuple(shuffled_between(events, times)),
    )


def picks(links: DataFrame) -> list[tuple[int, ...]]:
    """(src, dst, cost, contribution) in pick order, collected: for benchmarks."""
    rows = links.orderBy("pick").select("src", "dst", "cost", "contribution").toArrow()
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def figures_of(found: Sequence[InRounds], seed: int) -> list[Figure]:
    """Rows for the table ``experiments``."""
    figures: list[Figure] = []
    for one in found:
        where = ("benchmark", f"rounds T={one.case.topics} {one.case.law}", ENGINE.name, float(one.case.nodes), seed)
        told = {
            "rounds": len(one.rounds),
            "candidates read": one.read_per_candidate,
            "seconds": one.seconds,
            "seconds, finished in a task": one.finished_seconds,
            "peak_bytes": one.peak_bytes,
        }
        if one.shuffled is not None:
            told["rows shuffled"] = sum(s.rows for s in one.shuffled)
            told["bytes shuffled"] = sum(s.n_bytes for s in one.shuffled)
        figures += [(*where, metric, float(value), None) for metric, value in told.items()]
        figures.append((*where[:2], WHOLE, *where[3:], "seconds", one.kernel_seconds, None))
    return figures
