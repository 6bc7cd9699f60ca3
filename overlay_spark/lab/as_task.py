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
from overlay_spark.frames import tasks
from overlay_spark.instance import Instance
from overlay_spark.lab.measure import peak_bytes
from overlay_spark.lab.shapes import shape
from overlay_spark.options import Options

ARROW = {"tinyint": pa.int8(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64()}
COLUMNS = pa.schema([(name, ARROW[type]) for name, type in tasks.ROW.items()])


def rows_of(instance: Instance) -> pa.Table:
    """The rows that a task gets for a problem."""
    costs, every = instance.costs, np.arange(instance.n_nodes)
    batches = [_rows(tasks.SUBSCRIPTION, instance.nodes, instance.topics)]
    if costs.kind == LISTED:
        batches.append(_rows(tasks.LINK_COST, costs.src, costs.dst, costs.values))
    elif costs.kind == SITES:
        a, b = (column.ravel() for column in np.indices(costs.table.shape))
        batches += [
            _rows(tasks.NODE_SITE, every, costs.sites),
            _rows(tasks.SITE_COST, a, b, costs.table.ravel()),
        ]
    else:
        for dimension, x in enumerate(costs.points.T):
            batches.append(_rows(tasks.COORDINATE, every, np.full(len(every), dimension), real=x))
        batches.append(_rows(tasks.HEIGHT, every, every, real=costs.heights))
    return pa.Table.from_batches(batches)


def _rows(kind: int, a: Any, b: Any, value: Any = None, real: Any = None) -> pa.RecordBatch:
    nothing = np.zeros(len(a))
    columns = [np.full(len(a), kind), a, b, *(nothing if c is None else c for c in (value, real))]
    return pa.RecordBatch.from_arrays(
        [pa.array(c).cast(f.type) for c, f in zip(columns, COLUMNS, strict=True)], schema=COLUMNS
    )


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
    task = tasks.task_from(tasks.by_kind(rows), n, n_topics, unit)
    started = time.perf_counter()
    answer = solve_instance(task, options)
    seconds = time.perf_counter() - started
    found = pa.Table.from_batches(tasks.answer_rows(0, task, answer))
    print(
        json.dumps({**told, "links": len(answer.links), "rows": len(found), "seconds": seconds, "peak": peak_bytes()})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
