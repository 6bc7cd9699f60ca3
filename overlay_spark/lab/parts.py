"""What dividing and conquering saves and costs, beside the kernel on the whole, in one session."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from overlay_spark.costs import site_costs
from overlay_spark.engines import PARTED, WHOLE, named
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.preparing import prepare
from overlay_spark.frames.workspace import Workspace
from overlay_spark.instance import Instance
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.benchmark import Case
from overlay_spark.lab.figures import Figure
from overlay_spark.lab.measure import forget_peaks, peak_of_tasks
from overlay_spark.lab.shapes import problem_of
from overlay_spark.options import Options
from overlay_spark.problems import OverlayProblem, SiteCosts
from overlay_spark.workloads.interests import subscriptions
from overlay_spark.workloads.latencies import MeasuredPoints, cluster_costs, random_sites

CLUSTERS = "clusters"
"""A case of this name has a site for every hundred nodes: a link costs 1 within, 10 between them."""
CASES = (Case(10_000, 1000, CLUSTERS), Case(10_000, 1000))
LARGE = (*CASES, Case(40_000, 1000, CLUSTERS))
NODES_A_SITE, INNER, OUTER = 100, 1, 10


@dataclass(frozen=True)
class InParts:
    """One problem in parts and at once, in one session, after a run of each that is not counted."""

    case: Case
    parts: int
    levels: tuple[str, ...]
    seconds: float
    kernel_seconds: float
    cost: int
    kernel_cost: int
    links: int
    kernel_links: int
    task_bytes: int
    """The most that any Python of the tasks held while parts were solved and joined."""

    @property
    def ratio(self) -> float:
        return self.seconds / self.kernel_seconds

    @property
    def dearer(self) -> float:
        """How much more the links cost, as a share."""
        return self.cost / self.kernel_cost - 1


def measure_parts(
    spark: SparkSession, cases: Sequence[Case], points: MeasuredPoints | None, options: Options, steps: Steps
) -> Iterator[InParts]:
    """Run each case, the solve step alone, Spark included."""
    for case in cases:
        steps(f"{case.name}: make instance")
        problem = problem_of(spark, instance_of(case, points, options.workload.seed))
        with Workspace(spark, options.workspace) as workspace:
            indexed = prepare(_settled(problem, workspace), workspace, lambda step: None)
            yield _measured(case, indexed, options, workspace, steps)
            workspace.close()


def _settled(problem: OverlayProblem, workspace: Workspace) -> OverlayProblem:
    """The same tables as rows that are there: plans that hold them all, as those made from arrays do, are slow."""
    costs = problem.costs
    if isinstance(costs, SiteCosts):
        costs = SiteCosts(workspace.settle(costs.table))
    assert problem.nodes is not None
    wants, nodes = workspace.settle(problem.subscriptions), workspace.settle(problem.nodes)
    return replace(problem, subscriptions=wants, costs=costs, nodes=nodes)


def instance_of(case: Case, points: MeasuredPoints | None, seed: int) -> Instance:
    """The problem of a case."""
    if case.law != CLUSTERS:
        return case.make(points, seed)
    nodes = np.arange(case.nodes)
    n_sites = -(-case.nodes // NODES_A_SITE)
    a, b = np.indices((n_sites, n_sites))
    table = np.rint(1000 * cluster_costs(a.ravel(), b.ravel(), INNER, OUTER, 0.0, seed)).reshape(n_sites, n_sites)
    interests = Case(case.nodes, case.topics).interests
    wants = subscriptions(interests, nodes, seed)
    return Instance.from_pairs(case.nodes, case.topics, *wants, site_costs(random_sites(nodes, n_sites, seed), table))


def _measured(case: Case, indexed: IndexedProblem, options: Options, workspace: Workspace, steps: Steps) -> InParts:
    found = {}
    task_bytes = 0
    for name in (PARTED, WHOLE):
        forget_peaks()
        for counts in (False, True):
            steps(f"{case.name}: {name}" + ("" if counts else ", first"))
            started = time.perf_counter()
            solved = named(name).solve(indexed, options, workspace)
            links = workspace.settle(solved.links)
            found[name] = solved, links, time.perf_counter() - started
        task_bytes = task_bytes or peak_of_tasks()  # of the parts, which come first
    steps.done()
    totals = {}
    for name, (_, links, _) in found.items():
        (totals[name],) = links.agg(F.sum("cost").alias("cost"), F.count(F.lit(1)).alias("links")).collect()
    solved, links, seconds = found[PARTED]
    assert solved.parts is not None
    stages = links.groupBy("stage").agg(F.min("pick").alias("first")).orderBy("first").collect()
    return InParts(
        case=case,
        parts=solved.parts.select("part").distinct().count(),
        levels=tuple(row["stage"] for row in stages),
        seconds=seconds,
        kernel_seconds=found[WHOLE][2],
        cost=totals[PARTED]["cost"],
        kernel_cost=totals[WHOLE]["cost"],
        links=totals[PARTED]["links"],
        kernel_links=totals[WHOLE]["links"],
        task_bytes=task_bytes,
    )


def figures_of(found: Sequence[InParts], seed: int) -> list[Figure]:
    """Rows for the table ``experiments``."""
    figures: list[Figure] = []
    for one in found:
        where = ("benchmark", f"parts T={one.case.topics} {one.case.law}")
        x = float(one.case.nodes)
        told = {
            PARTED: {"seconds": one.seconds, "cost": one.cost, "links": one.links, "peak_bytes": one.task_bytes},
            WHOLE: {"seconds": one.kernel_seconds, "cost": one.kernel_cost, "links": one.kernel_links},
        }
        for engine, metrics in told.items():
            figures += [(*where, engine, x, seed, metric, float(value), None) for metric, value in metrics.items()]
    return figures
