"""Solve a shape as a Spark task would, in this process and without Spark, to see what memory that takes.

``python -m overlay_spark.lab.as_task SHAPE SCALE ALGORITHM`` prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa

from overlay_spark.costs import LISTED, SITES
from overlay_spark.engines.kernel import solve_instance
from overlay_spark.engines.warming import solve_tiny
from overlay_spark.frames import task_rows
from overlay_spark.frames.answers import answer_rows
from overlay_spark.instance import Instance
from overlay_spark.lab.measure import peak_bytes
from overlay_spark.lab.shapes import shape
from overlay_spark.options import Options

ARROW = {"tinyint": pa.int8(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64()}
COLUMNS = pa.schema(
    [(n, pa.list_(ARROW[t[6:-1]]) if t.startswith("array") else ARROW[t]) for n, t in task_rows.ROW.items()]
)


def rows_of(instance: Instance) -> pa.Table:
    """The rows that a task gets for a problem."""
    costs, nodes = instance.costs, {"a": np.arange(instance.n_nodes)}
    nodes["topics"] = pa.ListArray.from_arrays(pa.array(instance.offsets, pa.int32()), pa.array(instance.topics))
    if costs.kind == LISTED:
        listed = _rows(task_rows.LINK_COST, a=costs.src, b=costs.dst, value=costs.values)
        batches = [_rows(task_rows.NODE, **nodes), listed]
    elif costs.kind == SITES:
        a, b = (column.ravel() for column in np.indices(costs.table.shape))
        sites = _rows(task_rows.SITE_COST, a=a, b=b, value=costs.table.ravel())
        batches = [_rows(task_rows.NODE, **nodes, b=costs.sites), sites]
    else:
        points = pa.FixedSizeListArray.from_arrays(pa.array(costs.points.ravel()), costs.points.shape[1])
        batches = [_rows(task_rows.NODE, **nodes, real=costs.heights, point=points)]
    return pa.Table.from_batches(batches)


def _rows(kind: int, **columns: Any) -> pa.RecordBatch:
    n = len(columns["a"])
    given = {"kind": np.full(n, kind), **columns}
    arrays = [
        pa.array(given.get(f.name, [[]] * n if pa.types.is_list(f.type) else np.full(n, -1))).cast(f.type)
        for f in COLUMNS
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=COLUMNS)


def main(name: str, scale: str, algorithm: str) -> None:
    """Print sizes, seconds and peak memory."""
    options = Options().designing(algorithm)
    instance = shape(name, float(scale))
    n, n_topics, unit = instance.n_nodes, instance.n_topics, instance.costs.unit
    sizes = instance.topic_sizes
    told = {
        "nodes": n,
        "topics": n_topics,
        "subscriptions": instance.n_subscriptions,
        "topic_pairs": int((sizes * (sizes - 1) // 2).sum()),
        "listed": len(instance.costs.src) if instance.costs.kind == LISTED else None,
    }
    rows = rows_of(instance)
    del instance
    solve_tiny(options)
    task = task_rows.whole_task(rows, n, n_topics, unit)
    started = time.perf_counter()
    answer = solve_instance(task, options)
    seconds = time.perf_counter() - started
    found = pa.Table.from_batches(answer_rows(0, task, answer))
    print(
        json.dumps({**told, "links": len(answer.links), "rows": len(found), "seconds": seconds, "peak": peak_bytes()})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
