"""Buckets of whole topics: the tasks that look at topics one by one, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem

SUBSCRIPTIONS_PER_BUCKET = 20_000
"""About how many subscriptions a bucket of topics has: enough to be worth a call, few enough to hold."""


def sub_overlays(links_with_shared: DataFrame) -> DataFrame:
    """(src, dst, cost, shared) -> (topic, src, dst, cost): every link once for every topic it serves. No shuffle."""
    return links_with_shared.select(F.explode("shared").alias("topic"), "src", "dst", "cost")


class Bucket(NamedTuple):
    """Whole topics as arrays: subscriptions by (topic, node), and edges between their positions by topic."""

    topics: NDArray[np.int64]
    """The topics, ascending; topic i has the positions from ``starts[i]`` and the edges from ``edge_starts[i]``."""
    starts: NDArray[np.int64]
    edge_starts: NDArray[np.int64]
    topic: NDArray[np.int32]
    node: NDArray[np.int32]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    cost: NDArray[np.int64]


def buckets_for(problem: IndexedProblem) -> int:
    """How many buckets of topics a problem's subscriptions are worth."""
    return max(1, problem.n_subscriptions // SUBSCRIPTIONS_PER_BUCKET)


def by_buckets(
    problem: IndexedProblem,
    links: DataFrame,
    work: Callable[[Bucket], pa.Table],
    schema: str,
    without: Sequence[int] = (),
) -> DataFrame:
    """Run ``work`` on buckets of topics, each with its subscriptions and its sub-overlay's links.

    Links are (src, dst, cost, shared); the topics ``without`` are left out. One shuffle, by topic; a task holds one
    bucket. Lazy. The answer does not depend on how topics fall into buckets.
    """
    n_buckets = buckets_for(problem)
    nothing = F.lit(-1)
    members = problem.members.select(
        "topic", F.col("node").alias("a"), nothing.alias("b"), nothing.cast("bigint").alias("cost")
    )
    edges = sub_overlays(links).select("topic", F.col("src").alias("a"), F.col("dst").alias("b"), "cost")
    if without:
        members, edges = (rows.where(~F.col("topic").isin(*without)) for rows in (members, edges))
    bucket = F.pmod(F.col("topic"), F.lit(n_buckets)).alias("bucket")

    def run(rows: pa.Table) -> pa.Table:
        return work(bucket_from_rows(rows))

    return members.union(edges).groupBy(bucket).applyInArrow(run, schema)


def bucket_from_rows(rows: pa.Table) -> Bucket:
    """Rows (topic, a, b, cost) in any order: subscriptions have b = -1, links of a sub-overlay are (a, b)."""
    topic, a, b, cost = (rows.column(name).to_numpy() for name in ("topic", "a", "b", "cost"))
    is_edge = b >= 0
    order = np.lexsort((a[~is_edge], topic[~is_edge]))
    topics_of, nodes_of = topic[~is_edge][order], a[~is_edge][order]
    topics, starts = np.unique(topics_of, return_index=True)
    edge_order = np.lexsort((b[is_edge], a[is_edge], topic[is_edge]))
    edge_topic, src, dst = (column[is_edge][edge_order] for column in (topic, a, b))
    width = np.int64(nodes_of.max()) + 1
    places = topics_of.astype(np.int64) * width + nodes_of

    def position(nodes: NDArray[Any]) -> NDArray[np.int64]:
        wanted: NDArray[np.int64] = np.searchsorted(places, edge_topic.astype(np.int64) * width + nodes)
        return wanted

    return Bucket(
        topics.astype(np.int64),
        np.append(starts, len(topics_of)).astype(np.int64),
        np.append(np.searchsorted(edge_topic, topics), len(edge_topic)).astype(np.int64),
        topics_of,
        nodes_of,
        position(src),
        position(dst),
        cost[is_edge][edge_order],
    )
