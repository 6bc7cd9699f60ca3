"""Write a seeded workload as tables, at any size: rows are made in tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from overlay_spark.api import Progress, silent
from overlay_spark.errors import InputError, OptionError
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.options import Options, WorkloadOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Destination
from overlay_spark.workloads.interests import Interests, subscriptions
from overlay_spark.workloads.latencies import (
    MeasuredPoints,
    MeasuredSites,
    cluster_costs,
    pair_costs,
    pairs_numbered,
    random_points,
    random_sites,
    read_measured,
)

ROWS_A_TASK = 20_000
OWN_JOBS = ("demo", "workload")
"""Jobs whose tables a new workload may replace."""

Columns = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """What will be written: who wants what, and where nodes are or what links cost."""

    options: WorkloadOptions
    interests: Interests
    seed: int
    measured: MeasuredPoints | MeasuredSites | None

    @property
    def points(self) -> MeasuredPoints | None:
        """The measured coordinates, None where no file was given; a file of anything else is refused."""
        if isinstance(self.measured, MeasuredSites):
            raise OptionError(f"{self.options.file}: has costs between sites, and this needs coordinates.")
        return self.measured

    @property
    def cost_flag(self) -> str:
        """How the command line is told of these costs."""
        if self.options.costs == "pairs":
            return "link-costs"
        if self.options.costs == "clusters" or isinstance(self.measured, MeasuredSites):
            return "site-costs"
        return "coordinates"


def plan_workload(options: Options) -> Workload:
    """The workload these options describe; refuses what cannot be made, before Spark starts."""
    chosen = options.workload
    interests = Interests(
        topics=chosen.topics, least=chosen.least, most=chosen.most, law=chosen.law, alpha=chosen.alpha
    )
    measured = read_measured(chosen.file, chosen.inner) if chosen.costs == "file" and chosen.file else None
    return Workload(chosen, interests, options.design.seed, measured)


def run_workload(
    spark: SparkSession, workload: Workload, output: Destination, options: Options, progress: Progress = silent
) -> Inputs:
    """Write the workload's tables, each in one commit, and its row in ``runs``."""
    run = Run("workload", options)
    with recorded(spark, output, run):
        return write_tables(workload_tables(spark, workload), output, run, progress)


def write_tables(tables: dict[Table, DataFrame], output: Destination, run: Run, progress: Progress = silent) -> Inputs:
    """Write a workload's tables; refuses to replace those no workload made, or to leave another's costs beside."""
    places = {table: output.table(table.name) for table in tables}
    spark = next(iter(tables.values())).sparkSession
    others = [str(p) for p in places.values() if delta.exists(spark, p) and _job(spark, p) not in OWN_JOBS]
    if others:
        raise InputError([f"{output} holds tables that no workload made ({', '.join(others)}). Give another --output."])
    unused = [output.table(table.name) for table in (catalog.LINK_COSTS, catalog.SITE_COSTS) if table not in tables]
    left = [str(place) for place in unused if delta.exists(spark, place)]
    if left:
        raise InputError([f"{output} holds costs of another workload ({', '.join(left)}). Give another --output."])
    for table, frame in tables.items():
        progress(f"write {table.name}")
        delta.overwrite(table, frame, places[table], run.metadata)
    return Inputs(**{table.name: place for table, place in places.items()})


def _job(spark: SparkSession, place: Any) -> Any:
    return delta.commit_metadata(spark, place).get("job")


def workload_tables(spark: SparkSession, workload: Workload) -> dict[Table, DataFrame]:
    """SUBSCRIPTIONS, NODES and, where links or sites have costs of their own, LINK_COSTS or SITE_COSTS."""
    tables = {
        catalog.SUBSCRIPTIONS: _made(spark, workload.options.nodes, catalog.SUBSCRIPTIONS, _wants(workload)),
        catalog.NODES: _made(spark, workload.options.nodes, catalog.NODES, _places(workload)),
    }
    n = workload.options.nodes
    if workload.cost_flag == "link-costs":
        tables[catalog.LINK_COSTS] = _made(spark, n * (n - 1) // 2, catalog.LINK_COSTS, _links(workload))
    elif workload.cost_flag == "site-costs":
        n_sites = len(_site_names(workload))
        n_pairs = n_sites * (n_sites + 1) // 2
        tables[catalog.SITE_COSTS] = _made(spark, n_pairs, catalog.SITE_COSTS, _site_links(workload))
    return tables


def _made(spark: SparkSession, n_rows: int, table: Table, make: Callable[[NDArray[np.int64]], Columns]) -> DataFrame:
    """Rows of the table, made in tasks from the numbers 0 to ``n_rows`` - 1."""

    def draw(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict(make(batch.column(0).to_numpy()))

    made = [c for c in table.columns if c.name in make(np.arange(0))]
    numbers = spark.range(0, n_rows, 1, 1 + n_rows // ROWS_A_TASK)
    return table.conform(numbers.mapInArrow(draw, ", ".join(f"{c.name} {c.type}" for c in made)))


def _wants(workload: Workload) -> Callable[[NDArray[np.int64]], Columns]:
    node, topic = _namer("node", workload.options.nodes), _namer("topic", workload.options.topics)

    def make(numbers: NDArray[np.int64]) -> Columns:
        nodes, topics = subscriptions(workload.interests, numbers, workload.seed)
        return {"node_id": node(nodes), "topic_id": topic(topics)}

    return make


def _places(workload: Workload) -> Callable[[NDArray[np.int64]], Columns]:
    options, measured, seed = workload.options, workload.measured, workload.seed
    node, names = _namer("node", options.nodes), _site_names(workload)

    def make(numbers: NDArray[np.int64]) -> Columns:
        ids = node(numbers)
        if workload.cost_flag == "link-costs":
            return {"node_id": ids}
        if workload.cost_flag == "site-costs":
            return {"node_id": ids, "site": names.take(pa.array(random_sites(numbers, len(names), seed)))}
        if isinstance(measured, MeasuredPoints):
            points, heights = measured.place(numbers, seed)
        else:
            points = random_points(numbers, options.dimensions, options.side, seed)
            heights = np.zeros(len(points))
        flat = pa.FixedSizeListArray.from_arrays(pa.array(points.ravel()), points.shape[1])
        return {"node_id": ids, "coordinates": flat.cast(pa.list_(pa.float64())), "height": heights}

    return make


def _links(workload: Workload) -> Callable[[NDArray[np.int64]], Columns]:
    options, node = workload.options, _namer("node", workload.options.nodes)

    def make(numbers: NDArray[np.int64]) -> Columns:
        src, dst = pairs_numbered(numbers)
        costs = pair_costs(numbers, options.low, options.high, workload.seed)
        return {"src": node(src), "dst": node(dst), "cost": costs}

    return make


def _site_names(workload: Workload) -> pa.Array:
    if isinstance(workload.measured, MeasuredSites):
        return pa.array(workload.measured.names)
    return _namer("cluster", workload.options.clusters)(np.arange(workload.options.clusters))


def _site_links(workload: Workload) -> Callable[[NDArray[np.int64]], Columns]:
    """Every pair of sites, and every site with itself."""
    options, measured, names = workload.options, workload.measured, _site_names(workload)

    def make(numbers: NDArray[np.int64]) -> Columns:
        a, after_b = pairs_numbered(numbers)
        b = after_b - 1
        if isinstance(measured, MeasuredSites):
            costs = measured.table[a, b]
        else:
            costs = cluster_costs(a, b, options.inner, options.outer, options.spread, workload.seed)
        return {"site_a": names.take(pa.array(a)), "site_b": names.take(pa.array(b)), "cost": costs}

    return make


def _namer(kind: str, n: int) -> Callable[[NDArray[np.int64]], pa.Array]:
    """Numbers to ids of one length, so that ids sort as numbers do."""
    width = len(str(max(0, n - 1)))

    def name(numbers: NDArray[np.int64]) -> pa.Array:
        digits = pc.utf8_lpad(pc.cast(pa.array(numbers, pa.int64()), pa.string()), width, padding="0")
        return pc.binary_join_element_wise(f"{kind}-", digits, "")

    return name
