"""Where the time of a design job goes, step by step."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.figures import Figure, record_figures
from overlay_spark.jobs.runs import Run
from overlay_spark.jobs.workload import plan_workload, workload_tables, write_tables
from overlay_spark.options import Options
from overlay_spark.tables.references import Destination

SIZES = ((1000, 200), (1000, 200), (10_000, 1000))
"""Nodes and topics; the first is run twice, because a new session is slow at first."""


@dataclass
class Stopwatch:
    """Told of each step as it begins; ``seconds`` has how long each took."""

    seconds: dict[str, float] = field(default_factory=dict)
    _step: str | None = None
    _since: float = 0.0

    def __call__(self, step: str) -> None:
        now = time.perf_counter()
        if self._step is not None:
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + now - self._since
        self._step, self._since = step, now

    def stop(self) -> None:
        self("")
        self._step = None


@dataclass(frozen=True)
class Profile:
    """One design job: seconds by step, and the solving algorithm's own."""

    nodes: int
    topics: int
    seconds: dict[str, float]
    algorithm_seconds: float

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def profile_design(
    spark: SparkSession, options: Options, output: Destination | None, say: Callable[[str], None]
) -> list[Profile]:
    """Design workloads of rising size, from Delta tables to Delta tables; costs as ``options.workload`` says."""
    profiles = []
    with tempfile.TemporaryDirectory(prefix="overlay-spark-") as folder:
        for i, (nodes, topics) in enumerate(SIZES):
            sized = replace(options, workload=replace(options.workload, nodes=nodes, topics=topics))
            place = Destination.parse(f"{folder}/{i}")
            say(f"V={nodes:,} T={topics:,}: write the workload")
            tables = workload_tables(spark, plan_workload(sized))
            inputs = write_tables(tables, place, Run("workload", sized))
            say(f"V={nodes:,} T={topics:,}: design")
            watch = Stopwatch()
            overlay = run_design(spark, inputs, place, sized, progress=watch)
            watch.stop()
            overlay.release()
            profiles.append(Profile(nodes, topics, watch.seconds, overlay.facts["solve_seconds"]))
    if output is not None:
        rows = [row for i, profile in enumerate(profiles) for row in _figures(i, profile, options.design.seed)]
        record_figures(spark, rows, output, Run("benchmark", options))
    return profiles


def _figures(number: int, profile: Profile, seed: int) -> Iterator[Figure]:
    where = ("benchmark", f"design, run {number + 1} of the session", f"T={profile.topics}", float(profile.nodes), seed)
    for step, seconds in {**profile.seconds, "algorithm": profile.algorithm_seconds}.items():
        yield (*where, f"seconds, {step}", seconds, None)
