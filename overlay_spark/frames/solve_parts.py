"""Solve an indexed problem in a Spark task: rows in through Arrow, compiled kernel inside, links out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import find
from overlay_spark.algorithms.registry import solve as solve_instance
from overlay_spark.costs import Costs, listed_costs, point_costs, site_costs
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options

SUBSCRIPTION, LINK_COST, NODE_SITE, SITE_COST, COORDINATE, HEIGHT = range(6)
"""Kinds of rows a solving task reads, all of the same columns."""

ROW = {"kind": "tinyint", "a": "int", "b": "int", "value": "bigint", "real": "double"}

SOLVED = pa.schema(
    [
        ("src", pa.int32()),
        ("dst", pa.int32()),
        ("cost", pa.int64()),
        ("shared_topics", pa.int32()),
        ("contribution", pa.int32()),
        ("pick", pa.int64()),
        ("facts", pa.string()),
    ]
)
SOLVED_DDL = "src int, dst int, cost bigint, shared_topics int, contribution int, pick bigint, facts string"


def solve_whole(problem: IndexedProblem, options: Options) -> DataFrame:
    """Indexed problem -> rows of ``SOLVED``: the links, and one row of facts about the run (pick = -1).

    One shuffle into one task, which holds the whole problem. Lazy: runs no action. The answer depends neither on row
    order nor on partitioning.
    """
    solver = _solver(problem.n_nodes, problem.n_topics, options.to_mapping())
    return _instance_rows(problem).repartition(1).mapInArrow(solver, SOLVED_DDL)


def _instance_rows(problem: IndexedProblem) -> DataFrame:
    def of_kind(
        kind: int, frame: DataFrame, a: str, b: str | None, value: str | None = None, real: str | None = None
    ) -> DataFrame:
        columns = [F.lit(kind), *[F.col(c) if c else F.lit(0) for c in (a, b, value, real)]]
        return frame.select(*[c.cast(type).alias(name) for c, (name, type) in zip(columns, ROW.items(), strict=True)])

    rows = [of_kind(SUBSCRIPTION, problem.members, "node", "topic")]
    if problem.link_costs is not None:
        rows += [of_kind(LINK_COST, problem.link_costs, "src", "dst", "cost")]
    elif problem.site_costs is not None:
        rows += [of_kind(NODE_SITE, problem.nodes, "node", "site")]
        rows += [of_kind(SITE_COST, problem.site_costs, "site_a", "site_b", "cost")]
    else:
        placed = problem.nodes.select("node", "height", F.posexplode("coordinates").alias("dimension", "x"))
        rows += [of_kind(COORDINATE, placed, "node", "dimension", real="x")]
        rows += [of_kind(HEIGHT, problem.nodes, "node", None, real="height")]
    return reduce(DataFrame.union, rows)


def _solver(
    n_nodes: int, n_topics: int, sections: dict[str, dict[str, Any]]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def solve(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        options = Options.from_mapping(sections)
        instance = instance_from_rows(n_nodes, n_topics, pa.Table.from_batches(batches), options.costs.unit)
        started = time.perf_counter()
        links = solve_instance(instance, options)
        facts: dict[str, Any] = {"solve_seconds": time.perf_counter() - started}
        if links.sum_of_trees is not None:
            facts["sum_of_trees"] = links.sum_of_trees
        bound = links.lower_bound
        if bound is None and options.design.bound is not None:
            bound = find(options.design.bound)(instance, options).lower_bound
        if bound is not None:
            facts["lower_bound"] = bound
        if options.design.compare is not None:
            facts["compared"] = _compared(instance, options.design.compare, options)
        yield from _solved_rows(instance, links, facts)

    return solve


def _compared(instance: Instance, algorithm: str, options: Options) -> dict[str, Any]:
    """The figures of another algorithm's overlay, costs in units."""
    chosen = find(algorithm)
    links = chosen(instance, options)
    degrees = np.bincount(np.concatenate([links.src, links.dst]), minlength=instance.n_nodes)
    return {
        "algorithm": chosen.name,
        "links": len(links),
        "cost": links.total_cost,
        "max_degree": int(degrees.max()),
    }


def instance_from_rows(n_nodes: int, n_topics: int, rows: pa.Table, unit: float) -> Instance:
    """The arrays of an instance from rows of the kinds above, in any order."""
    kind = _column(rows, "kind")

    def of_kind(wanted: int) -> list[NDArray[Any]]:
        chosen = kind == wanted
        return [_column(rows, name)[chosen] for name in ("a", "b", "value", "real")]

    nodes, topics, _, _ = of_kind(SUBSCRIPTION)
    return Instance.from_pairs(n_nodes, n_topics, nodes, topics, _costs_from_rows(n_nodes, of_kind, unit))


def _costs_from_rows(n_nodes: int, of_kind: Callable[[int], list[NDArray[Any]]], unit: float) -> Costs:
    node, _, _, height = of_kind(HEIGHT)
    if len(node):
        heights = np.empty(n_nodes)
        heights[node] = height
        node, dimension, _, x = of_kind(COORDINATE)
        points = np.empty((n_nodes, int(dimension.max()) + 1))
        points[node, dimension] = x
        return point_costs(points, heights, unit)
    node, site, _, _ = of_kind(NODE_SITE)
    if len(node):
        sites = np.empty(n_nodes, np.int32)
        sites[node] = site
        table = np.zeros((int(site.max()) + 1,) * 2, np.int64)
        site_a, site_b, value, _ = of_kind(SITE_COST)
        table[site_a, site_b] = value
        return site_costs(sites, table)
    return listed_costs(*of_kind(LINK_COST)[:3])


def _column(rows: pa.Table, name: str) -> NDArray[Any]:
    values: NDArray[Any] = rows.column(name).to_numpy()
    return values


def _solved_rows(instance: Instance, links: Links, facts: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    from overlay_spark.kernels.components import shared_counts

    n = len(links)
    columns = [
        links.src,
        links.dst,
        links.cost,
        shared_counts(instance.offsets, instance.topics, links.src, links.dst),
        links.contribution,
        np.arange(n),
        pa.nulls(n, pa.string()),
    ]
    yield from pa.Table.from_arrays([pa.array(c) for c in columns], schema=SOLVED).to_batches(max_chunksize=1 << 16)
    about = {"src": -1, "dst": -1, "cost": 0, "shared_topics": 0, "contribution": 0, "pick": -1}
    yield pa.RecordBatch.from_pylist([{**about, "facts": json.dumps(facts)}], schema=SOLVED)
