"""What greedy in rounds takes on Spark, beside the kernel: rounds, candidates read, rows shuffled, seconds, memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.engines import WHOLE, named
from overlay_spark.engines.frames import ENGINE, Pass
from overlay_spark.frames.indexing import IndexedProblem, prepare
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
LARGE = (*CASES, Case(3000, 200))


@dataclass(frozen=True)
class InRounds:
    """One problem in rounds, and by the kernel in the same session."""

    case: Case
    topic_pairs: int
    """Rows of candidates, once for each topic its ends share."""
    passes: tuple[Pass, ...]
    seconds: float
    kernel_seconds: float
    links: int
    peak_bytes: int
    """The most that this process and those below it held, each at its own time."""
    shuffled: tuple[Shuffled, ...] | None
    """Until the first pass ended, in each later one, and after the last; None where there is no event log."""

    @property
    def rounds(self) -> int:
        """Passes that found links."""
        return sum(one.links > 0 for one in self.passes)

    @property
    def read_per_candidate(self) -> float:
        """How often a candidate was looked at."""
        return sum(one.read for one in self.passes) / max(1, self.passes[0].read if self.passes else 1)


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
            steps(f"{case.name}: kernel")
            expected, kernel_seconds = _timed(indexed, options, workspace)
            yield _measured(case, indexed, options, workspace, steps, events, expected, kernel_seconds)
            workspace.close()


def _timed(indexed: IndexedProblem, options: Options, workspace: Workspace) -> tuple[list[tuple[int, ...]], float]:
    started = time.perf_counter()
    found = picks(named(WHOLE).solve(indexed, options, workspace).links)
    return found, time.perf_counter() - started


def _measured(
    case: Case,
    indexed: IndexedProblem,
    options: Options,
    workspace: Workspace,
    steps: Steps,
    events: Path | None,
    expected: list[tuple[int, ...]],
    kernel_seconds: float,
) -> InRounds:
    passes: list[Pass] = []
    times = [time.time()]

    def tell(one: Pass) -> None:
        times.append(time.time())
        passes.append(one)
        steps(f"{case.name}: after round {one.number}, {one.left:,} candidates left")

    steps(f"{case.name}: candidates")
    solved = ENGINE.solve(indexed, options, workspace, tell)
    found = picks(solved.links)
    times.append(time.time())
    steps.done()
    if found != expected:
        raise MeasureError(f"{case.name}: the engines pick different links.")
    return InRounds(
        case=case,
        topic_pairs=indexed.n_topic_pairs,
        passes=tuple(passes),
        seconds=solved.facts.seconds,
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
            "rounds": one.rounds,
            "passes": len(one.passes),
            "candidates read": one.read_per_candidate,
            "seconds": one.seconds,
            "peak_bytes": one.peak_bytes,
        }
        if one.shuffled is not None:
            told["rows shuffled"] = sum(s.rows for s in one.shuffled)
            told["bytes shuffled"] = sum(s.n_bytes for s in one.shuffled)
        figures += [(*where, metric, float(value), None) for metric, value in told.items()]
        figures.append((*where[:2], WHOLE, *where[3:], "seconds", one.kernel_seconds, None))
    return figures
