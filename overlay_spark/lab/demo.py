"""The first minute: a geo-distributed workload in Delta tables, its overlay, and what the overlay saves."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import overlay_spark
from overlay_spark.api import Progress, silent
from overlay_spark.engines.warming import Warming
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.runs import Run
from overlay_spark.jobs.verify import run_verify
from overlay_spark.lab.workload import made_before, write_tables
from overlay_spark.options import Options
from overlay_spark.side_by_side import Ahead, beginning
from overlay_spark.tables import catalog
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Destination
from overlay_spark.workloads.interests import Interests, subscriptions
from overlay_spark.workloads.sites import CITIES, round_trip_ms

if TYPE_CHECKING:
    from overlay_spark.results import Metrics

NODES_PER_SITE = 30
INTERESTS = Interests(topics=200, least=5, most=40, law="zipf", alpha=0.8)


@dataclass(frozen=True)
class DemoResult:
    """What the demo found: the overlay in figures, one of a tree per topic beside it, and the stored tables' faults."""

    inputs: Inputs
    overlay: Metrics
    trees: Metrics
    faults: tuple[str, ...]
    seconds: float


def run_demo(spark: SparkSession, output: Destination, options: Options, progress: Progress = silent) -> DemoResult:
    """Write a workload, design its overlay, verify it from the stored tables; also design a tree for each topic.

    The trees are for comparison only and not written; they are designed from when the overlay is written on.
    """
    started = time.monotonic()
    progress("make workload")
    warming = Warming(spark, options)
    inputs = write_workload(spark, output, options)
    warming.wait()
    trees = Ahead(partial(_trees, spark, inputs, output, options))
    with run_design(spark, inputs, output, options, progress=beginning(trees, "write", progress)) as overlay:
        found = overlay.metrics
    with run_verify(spark, inputs, output, options, progress=progress) as verification:
        faults = verification.faults
    return DemoResult(inputs, found, trees(), faults, time.monotonic() - started)


def _trees(spark: SparkSession, inputs: Inputs, output: Destination, options: Options) -> Metrics:
    trees = replace(options, design=replace(options.design, algorithm="trees", then=(), bound=None))
    with run_design(spark, inputs, output, trees, dry_run=True) as overlay:
        return overlay.metrics


def write_workload(spark: SparkSession, output: Destination, options: Options) -> Inputs:
    """Ten sites with thirty nodes each, and two hundred topics of uneven popularity, as Delta tables. Those of an
    earlier demonstration that are still as it made them stay."""
    made_of = ("demo", overlay_spark.__version__, options.workload.seed)
    there = made_before(spark, output, (catalog.NODES, catalog.SITE_COSTS, catalog.SUBSCRIPTIONS), made_of)
    if there is not None:
        return there
    sites = sorted(CITIES)
    pairs = [(a, b, round_trip_ms(a, b)) for a in sites for b in sites if a <= b]
    tables: dict[Table, DataFrame] = {
        catalog.NODES: _nodes(spark, sites),
        catalog.SITE_COSTS: catalog.SITE_COSTS.rows(spark, pairs),
        catalog.SUBSCRIPTIONS: _subscriptions(spark, sites, options.workload.seed),
    }
    return write_tables(
        {table: frame.coalesce(1) for table, frame in tables.items()},
        output,
        Run(job="demo", options=options, seed=options.workload.seed),
        made_of=made_of,
    )


def _node_id(sites: list[str], node: int) -> str:
    return f"{sites[node // NODES_PER_SITE]}-{node % NODES_PER_SITE:02d}"


def _nodes(spark: SparkSession, sites: list[str]) -> DataFrame:
    rows = [(_node_id(sites, n), sites[n // NODES_PER_SITE]) for n in range(len(sites) * NODES_PER_SITE)]
    return catalog.NODES.rows(spark, rows)


def _subscriptions(spark: SparkSession, sites: list[str], seed: int) -> DataFrame:
    def draw(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            nodes, topics = subscriptions(INTERESTS, np.asarray(batch.column(0)), seed)
            node_ids = [_node_id(sites, n) for n in nodes.tolist()]
            topic_ids = [f"topic-{t:03d}" for t in topics.tolist()]
            yield pa.RecordBatch.from_pydict({"node_id": node_ids, "topic_id": topic_ids})

    numbers = spark.range(len(sites) * NODES_PER_SITE)
    return numbers.mapInArrow(draw, "node_id string, topic_id string")
