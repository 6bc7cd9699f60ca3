"""What a refresh takes beside a whole design, in one session: whole jobs, from Delta tables to Delta tables."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.frames.workspace import Workspace
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.progress import Steps
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.lab.figures import Figure
from overlay_spark.lab.plan import plan_workload
from overlay_spark.lab.workload import workload_tables
from overlay_spark.options import Options
from overlay_spark.results import RefreshMetrics
from overlay_spark.tables import catalog, delta, feed
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Destination
from overlay_spark.workloads.draws import uniforms

SIZES = ((10_000, 1000),)
LARGE = (*SIZES, (100_000, 1000))
SHARES = (0.001, 0.01, 0.1)
"""How many of the nodes leave and come between refreshes: half of them each."""
CHURNED = (catalog.SUBSCRIPTIONS, catalog.NODES)
STREAM = 41
"""Of the draws of who leaves."""


@dataclass(frozen=True)
class Refreshing:
    """One refresh: of an overlay of so many ``nodes`` of which a ``share`` came or went; and a whole ``design`` of what
    is there then, by the same job in the same session, each in seconds. ``drift`` is how much dearer the refreshed
    overlay is, as a share."""

    nodes: int
    topics: int
    share: float
    seconds: float
    design_seconds: float
    drift: float
    metrics: RefreshMetrics
    steps: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.seconds / self.design_seconds


def measure_refreshes(
    spark: SparkSession, options: Options, sizes: Sequence[tuple[int, int]], steps: Steps
) -> Iterator[Refreshing]:
    """Design an overlay of each size; then, share after share, let nodes go and come, refresh it, and design it anew at
    another place. One more refresh before is not counted."""
    unguarded = replace(options.refresh, most_added=1.0, most_removed=1.0, most_nodes_lost=1.0, most_drift=10.0)
    options = replace(options, refresh=unguarded)
    for nodes, topics in sizes:
        with (
            tempfile.TemporaryDirectory(prefix="overlay-spark-") as folder,
            Workspace(spark, options.workspace) as kept,
        ):
            tables = _Tables(spark, options, nodes, topics, Path(folder), kept, steps)
            output, anew = (Destination.parse(str(Path(folder) / name)) for name in ("overlay", "anew"))
            for _ in range(2):  # the second is as quick as any
                run_design(spark, tables.inputs, output, options, progress=steps).close()
            tables.churn(2)
            run_refresh(spark, tables.inputs, output, options, progress=steps)
            for share in SHARES:
                tables.churn(max(2, round(nodes * share)))
                steps.done()
                steps.seconds.clear()
                started = time.perf_counter()
                found = run_refresh(spark, tables.inputs, output, options, progress=steps)
                steps.done()
                seconds, told = time.perf_counter() - started, dict(steps.seconds)
                assert found.metrics is not None
                started = time.perf_counter()
                with run_design(spark, tables.inputs, anew, options, progress=steps) as designed:
                    design_seconds = time.perf_counter() - started
                    drift = found.metrics.cost / designed.metrics.cost - 1
                yield Refreshing(nodes, topics, share, seconds, design_seconds, drift, found.metrics, told)
            kept.close()


class _Tables:
    """Input tables whose nodes come and go; those to come are drawn beforehand."""

    def __init__(
        self,
        spark: SparkSession,
        options: Options,
        nodes: int,
        topics: int,
        folder: Path,
        kept: Workspace,
        steps: Steps,
    ):
        spare = sum(max(2, round(nodes * share)) for share in (0.0, *SHARES))
        made = replace(options, workload=replace(options.workload, nodes=nodes + spare, topics=topics))
        steps(f"{nodes:,} nodes: make tables")
        everything = workload_tables(spark, plan_workload(made))
        self._all = {table: kept.settle(everything[table], (nodes + spare) * 50) for table in CHURNED}
        ids = self._all[catalog.NODES].select("node_id").toArrow().column(0).to_numpy(zero_copy_only=False)
        order = np.argsort(uniforms(made.workload.seed, STREAM, np.arange(len(ids)), 1)[:, 0])
        drawn: NDArray[np.str_] = np.sort(ids.astype(str))[order]
        self._present, self._to_come = drawn[:nodes], drawn[nodes:]
        source = Destination.parse(str(folder / "tables"))
        self._places = {table: source.table(table.name) for table in CHURNED}
        for table, place in self._places.items():
            delta.overwrite(table, self._of(table, self._present), place, {})
        self.inputs = Inputs(**{table.name: place for table, place in self._places.items()})

    def churn(self, count: int) -> None:
        """Half so many nodes leave, as many come."""
        half = count // 2
        gone, self._present = self._present[:half], self._present[half:]
        come, self._to_come = self._to_come[:half], self._to_come[half:]
        self._present = np.concatenate([self._present, come])
        for table, place in self._places.items():
            changes = self._of(table, gone).withColumn(feed.ACTION, F.lit("remove"))
            changes = changes.union(self._of(table, come).withColumn(feed.ACTION, F.lit("add")))
            feed.merge(table, changes, place, {})

    def _of(self, table: Table, ids: NDArray[np.str_]) -> DataFrame:
        wanted = self._all[table].sparkSession.createDataFrame([(name,) for name in ids.tolist()], "node_id string")
        return self._all[table].join(F.broadcast(wanted), "node_id").select(*table.schema.names)


def figures_of(found: Sequence[Refreshing], seed: int) -> list[Figure]:
    """Rows for the table ``experiments``."""
    figures: list[Figure] = []
    for one in found:
        m = one.metrics
        told = {
            "seconds": one.seconds,
            "seconds / design": one.ratio,
            "design seconds": one.design_seconds,
            "solve seconds": m.solve_seconds,
            "links added": m.added,
            "links removed": m.removed,
            "drift": one.drift,
        }
        where = ("benchmark", f"refresh V={one.nodes} T={one.topics}", "refresh", one.share, seed)
        figures += [(*where, metric, float(value), None) for metric, value in told.items()]
    return figures
