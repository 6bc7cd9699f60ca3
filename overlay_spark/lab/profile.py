"""Where the time of a design job goes, step by step."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.progress import Steps
from overlay_spark.jobs.runs import Run
from overlay_spark.lab.figures import Figure, record_figures
from overlay_spark.lab.measure import peak_below, peak_of_tasks
from overlay_spark.lab.plan import plan_workload
from overlay_spark.lab.workload import workload_tables, write_tables
from overlay_spark.options import Options
from overlay_spark.results import Overlay
from overlay_spark.tables.references import Destination

SIZES = ((1000, 200), (1000, 200), (10_000, 1000))
"""Nodes and topics; the first is run twice, because a new session is slow at first."""
GROWING = ((10_000, 10_000), (10_000, 10_000), (100_000, 10_000))
GROWING_LARGE = (*GROWING, (1_000_000, 10_000))
"""Sizes of a job that grows; the first is run twice here too."""
PEAKS = ("peak_bytes", "task_bytes")


@dataclass(frozen=True)
class Profile:
    """One design job: seconds by step, and the solving algorithm's own, summed over tasks.

    ``peak_bytes`` is the most that this process, its Spark and its tasks held so far, ``task_bytes`` the most that any
    Python of the tasks did.
    """

    nodes: int
    topics: int
    subscriptions: int
    engine: str
    links: int
    seconds: dict[str, float]
    algorithm_seconds: float
    peak_bytes: int
    task_bytes: int

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def growth(profiles: Sequence[Profile]) -> float:
    """The power of the number of nodes by which the whole job grows, from the smallest to the largest."""
    least, most = min(profiles, key=lambda p: p.nodes), max(profiles, key=lambda p: p.nodes)
    return math.log(most.total / least.total) / math.log(most.nodes / least.nodes)


def profile_design(
    spark: SparkSession,
    options: Options,
    output: Destination | None,
    steps: Steps,
    sizes: Sequence[tuple[int, int]] = SIZES,
) -> list[Profile]:
    """Design workloads of these sizes, from Delta tables to Delta tables; costs as ``options.workload`` says."""
    profiles = []
    with tempfile.TemporaryDirectory(prefix="overlay-spark-") as folder:
        for i, (nodes, topics) in enumerate(sizes):
            sized = replace(options, workload=replace(options.workload, nodes=nodes, topics=topics))
            place = Destination.parse(f"{folder}/{i}")
            steps(f"V={nodes:,} T={topics:,}: write the workload")
            inputs = write_tables(
                workload_tables(spark, plan_workload(sized)),
                place,
                Run(job="workload", options=sized, seed=sized.workload.seed),
            )
            steps.done()
            with Steps(steps.stream) as clock, run_design(spark, inputs, place, sized, progress=clock) as overlay:
                clock.done()  # what follows is no part of the job
                profiles.append(_profile(nodes, topics, overlay, clock))
    if output is not None:
        rows = [row for i, profile in enumerate(profiles) for row in _figures(i, profile, options.workload.seed)]
        steps("write experiments")
        record_figures(spark, rows, output, Run(job="benchmark", options=options, seed=options.workload.seed))
    steps.done()
    return profiles


def _profile(nodes: int, topics: int, overlay: Overlay, clock: Steps) -> Profile:
    subscriptions = overlay.topics.agg(F.sum("nodes")).collect()[0][0]
    return Profile(
        nodes=nodes,
        topics=topics,
        subscriptions=subscriptions,
        engine=overlay.engine,
        links=overlay.metrics.links,
        seconds=clock.seconds,
        algorithm_seconds=overlay.facts.solve_seconds,
        peak_bytes=peak_below(),
        task_bytes=peak_of_tasks(),
    )


def _figures(number: int, profile: Profile, seed: int) -> Iterator[Figure]:
    where = ("benchmark", f"design, run {number + 1} of the session", f"T={profile.topics}", float(profile.nodes), seed)
    for step, seconds in {**profile.seconds, "algorithm": profile.algorithm_seconds}.items():
        yield (*where, f"seconds, {step}", seconds, None)
    for metric in PEAKS:
        yield (*where, metric, float(getattr(profile, metric)), None)
