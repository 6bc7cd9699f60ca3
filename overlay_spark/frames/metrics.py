"""What an overlay is to its topics and its nodes, and in figures. All sums are sums of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import from_units
from overlay_spark.frames.buckets import Bucket, by_buckets
from overlay_spark.frames.contraction import Contracted, by_contraction
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.results import Metrics

SHAPES = pa.schema(
    [(name, pa.int32()) for name in ("topic", "nodes", "links", "components", "diameter")]
    + [("weighted_diameter", pa.int64())]
)
SHAPES_DDL = "topic int, nodes int, links int, components int, diameter int, weighted_diameter bigint"


def topic_shapes(
    problem: IndexedProblem, links: DataFrame, diameter_max_nodes: int, huge: Sequence[int] = ()
) -> DataFrame:
    """Links (src, dst, cost, shared) -> one row a topic, diameters in whole numbers. One shuffle, by topic.

    Another one, by topic, of those that are ``huge``: their links are contracted, their diameters not measured.
    """

    def measure(bucket: Bucket) -> pa.Table:
        return _shapes(bucket, diameter_max_nodes)

    shapes = by_buckets(problem, links, measure, SHAPES_DDL, without=huge)
    return shapes.union(by_contraction(problem, links, huge, _shape, SHAPES_DDL)) if huge else shapes


def _shapes(bucket: Bucket, diameter_max_nodes: int) -> pa.Table:
    from overlay_spark.kernels.components import connected_labels
    from overlay_spark.kernels.diameters import topic_shapes as measure

    labels = connected_labels(len(bucket.node), bucket.left, bucket.right)
    edges = (bucket.edge_starts, bucket.left, bucket.right, bucket.cost)
    shapes = measure(bucket.starts, *edges, labels, diameter_max_nodes)
    names = ("nodes", "links", "components", "diameter", "weighted_diameter")
    columns = {name: pa.array(shapes[:, i], mask=shapes[:, i] < 0) for i, name in enumerate(names)}
    whole = {n: c if n == "weighted_diameter" else c.cast(pa.int32()) for n, c in columns.items()}
    return pa.table({"topic": pa.array(bucket.topics).cast(pa.int32()), **whole})


def _shape(topic: Contracted) -> pa.Table:
    components = int(np.count_nonzero(topic.component == topic.node))
    row = (topic.topic, len(topic.node), topic.links, components, None, None)
    return pa.table([pa.array([value], field.type) for value, field in zip(row, SHAPES, strict=True)], SHAPES)


def node_degrees(problem: IndexedProblem, links: DataFrame, parts: DataFrame | None = None) -> DataFrame:
    """Links (src, dst, cost) -> (node, node_id, topics, degree, weighted_degree, part_id, representative), one row a
    node. One join by node; another where there are parts (node, part, representative)."""
    known = problem.nodes.select("node", "node_id", "topics").join(_linked(links), "node", "left")
    if parts is None:
        known = known.withColumns({"part": F.lit(None).cast("int"), "representative": F.lit(False)})
    else:
        known = known.join(parts, "node")
    return known.select(
        "node",
        "node_id",
        F.size("topics").alias("topics"),
        F.coalesce("degree", F.lit(0)).alias("degree"),
        F.coalesce("weighted_degree", F.lit(0).cast("bigint")).alias("weighted_degree"),
        F.col("part").alias("part_id"),
        "representative",
    )


def _linked(links: DataFrame) -> DataFrame:
    """(node, degree, weighted_degree) of nodes with links. One shuffle, by node."""
    ends = links.select(F.explode(F.array("src", "dst")).alias("node"), "cost")
    return ends.groupBy("node").agg(
        F.count(F.lit(1)).cast("int").alias("degree"), F.sum("cost").alias("weighted_degree")
    )


class Figures(NamedTuple):
    """An overlay in whole numbers: costs are in units, and sums of diameters those of the topics ``measured``."""

    topics: int
    links: int
    cost: int
    max_degree: int
    measured: int
    largest: int | None
    hops: int | None
    path: int | None


def figures(problem: IndexedProblem, links: DataFrame, shapes: DataFrame) -> Metrics:
    """The overlay in figures, of costs in units; one job, three sums."""
    total = links.agg(F.count(F.lit(1)).alias("links"), F.coalesce(F.sum("cost"), F.lit(0)).alias("cost"))
    measured = shapes.agg(
        F.count(F.lit(1)).alias("topics"),
        F.count("diameter").alias("measured"),
        F.max("diameter").alias("largest"),
        F.sum("diameter").alias("hops"),
        F.sum("weighted_diameter").alias("path"),
    )
    most = _linked(links).agg(F.coalesce(F.max("degree"), F.lit(0)).alias("max_degree"))
    row = total.crossJoin(measured).crossJoin(most).first()
    assert row is not None
    return metrics_of(problem, Figures(**row.asDict()))


def metrics_of(problem: IndexedProblem, counted: Figures) -> Metrics:
    """Figures per node and per topic, costs in the user's unit."""
    unit, nodes, n, cost = problem.unit, problem.n_nodes, counted.measured, counted.cost
    return Metrics(
        nodes=nodes,
        topics=counted.topics,
        links=counted.links,
        cost=from_units(cost, unit),
        average_degree=2 * counted.links / nodes,
        average_weighted_degree=from_units(2 * cost, unit) / nodes,
        max_degree=counted.max_degree,
        topics_measured=n,
        largest_diameter=counted.largest if n else None,
        average_diameter=(counted.hops or 0) / n if n else None,
        average_weighted_diameter=from_units(counted.path or 0, unit) / n if n else None,
    )
