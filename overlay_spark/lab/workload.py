"""Write a seeded workload as tables, of any size: rows are made in tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from overlay_spark.api import Progress, silent
from overlay_spark.errors import InputError
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.lab.plan import Workload
from overlay_spark.options import Options
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Destination, Reference
from overlay_spark.workloads.interests import subscriptions
from overlay_spark.workloads.latencies import (
    MeasuredPoints,
    MeasuredSites,
    cluster_costs,
    pair_costs,
    pairs_numbered,
    random_points,
    random_sites,
)

ROWS_A_TASK = 20_000
OWN_JOBS = ("demo", "workload")
"""Jobs whose tables a new workload may replace."""

MADE_OF = "made_of"
"""Under which a commit says what its workload was made of."""

Columns = dict[str, Any]
Maker = Callable[[NDArray[np.int64]], Columns]
"""From the numbers of rows to their columns."""


def run_workload(
    spark: SparkSession, workload: Workload, output: Destination, options: Options, progress: Progress = silent
) -> Inputs:
    """Write the workload's tables, each in one commit, and its row in ``runs``."""
    run = Run(job="workload", options=options, seed=options.workload.seed)
    with recorded(spark, output, run):
        return write_tables(workload_tables(spark, workload), output, run, progress)


def write_tables(
    tables: dict[Table, DataFrame],
    output: Destination,
    run: Run,
    progress: Progress = silent,
    made_of: Sequence[Any] | None = None,
) -> Inputs:
    """Write a workload's tables; refuses to replace those no workload made, or to leave another's costs beside. Their
    commits say what they were ``made_of``, for :func:`made_before`."""
    unused = [table for table in (catalog.LINK_COSTS, catalog.SITE_COSTS) if table not in tables]
    places = {table: output.table(table.name) for table in (*tables, *unused)}
    spark = next(iter(tables.values())).sparkSession
    looked = side_by_side([partial(_newest_commit, spark, place) for place in places.values()])
    there = {table: commit for table, commit in zip(places, looked, strict=True) if commit is not None}
    others = [str(places[t]) for t, commit in there.items() if t in tables and commit.get("job") not in OWN_JOBS]
    if others:
        raise InputError([f"{output} holds tables that no workload made ({', '.join(others)}). Give another --output."])
    left = [str(places[table]) for table in unused if table in there]
    if left:
        raise InputError([f"{output} holds costs of another workload ({', '.join(left)}). Give another --output."])
    run.opened()
    progress(f"write {', '.join(table.name for table in tables)}")
    about = run.metadata if made_of is None else {**run.metadata, MADE_OF: list(made_of)}
    side_by_side(
        [
            partial(delta.overwrite, table, frame, places[table], about, is_new=table not in there)
            for table, frame in tables.items()
        ]
    )
    return Inputs(**{table.name: places[table] for table in tables})


def made_before(
    spark: SparkSession, output: Destination, tables: Sequence[Table], made_of: Sequence[Any]
) -> Inputs | None:
    """A workload's tables where they are already, made of the same, and nobody has written since; else None."""
    places = {table.name: output.table(table.name) for table in tables}
    looked = side_by_side([partial(_newest_commit, spark, place) for place in places.values()])
    is_there = all(commit is not None and commit.get(MADE_OF) == list(made_of) for commit in looked)
    return Inputs(**places) if is_there else None


def _newest_commit(spark: SparkSession, place: Reference) -> dict[str, Any] | None:
    """What the newest commit of a table says of itself; None where there is no table."""
    found = delta.commits_if_any(spark, place, 1)
    return None if found is None else next((commit.metadata for commit in found), {})


def workload_tables(spark: SparkSession, workload: Workload, rows_a_task: int = ROWS_A_TASK) -> dict[Table, DataFrame]:
    """SUBSCRIPTIONS, NODES and, where links or sites have costs of their own, LINK_COSTS or SITE_COSTS."""
    n = workload.options.nodes
    makers: dict[Table, tuple[int, Maker]] = {
        catalog.SUBSCRIPTIONS: (n, _wants(workload)),
        catalog.NODES: (n, _places(workload)),
    }
    if workload.has_link_costs:
        makers[catalog.LINK_COSTS] = (n * (n - 1) // 2, _links(workload))
    elif workload.has_site_costs:
        n_sites = len(_site_names(workload))
        makers[catalog.SITE_COSTS] = (n_sites * (n_sites + 1) // 2, _site_links(workload))
    return {table: _made(spark, table, n_rows, make, rows_a_task) for table, (n_rows, make) in makers.items()}


def _made(spark: SparkSession, table: Table, n_rows: int, make: Maker, rows_a_task: int) -> DataFrame:
    """Rows of the table, made in tasks from the numbers 0 to ``n_rows`` - 1."""

    def draw(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict(make(batch.column(0).to_numpy()))

    names = make(np.arange(0)).keys()
    ddl = ", ".join(f"{column.name} {column.type}" for column in table.columns if column.name in names)
    numbers = spark.range(0, n_rows, 1, 1 + n_rows // rows_a_task)
    return table.conform(numbers.mapInArrow(draw, ddl))


def _wants(workload: Workload) -> Maker:
    node, topic = _namer("node", workload.options.nodes), _namer("topic", workload.options.topics)

    def make(numbers: NDArray[np.int64]) -> Columns:
        nodes, topics = subscriptions(workload.interests, numbers, workload.seed)
        return {"node_id": node(nodes), "topic_id": topic(topics)}

    return make


def _places(workload: Workload) -> Maker:
    options, measured, seed = workload.options, workload.measured, workload.seed
    node, names = _namer("node", options.nodes), _site_names(workload)

    def make(numbers: NDArray[np.int64]) -> Columns:
        ids = node(numbers)
        if workload.has_link_costs:
            return {"node_id": ids}
        if workload.has_site_costs:
            return {"node_id": ids, "site": names.take(pa.array(random_sites(numbers, len(names), seed)))}
        if isinstance(measured, MeasuredPoints):
            points, heights = measured.place(numbers, seed)
        else:
            points = random_points(numbers, options.dimensions, options.side, seed)
            heights = np.zeros(len(points))
        flat = pa.FixedSizeListArray.from_arrays(pa.array(points.ravel()), points.shape[1])
        return {"node_id": ids, "coordinates": flat.cast(pa.list_(pa.float64())), "height": heights}

    return make


def _links(workload: Workload) -> Maker:
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


def _site_links(workload: Workload) -> Maker:
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
