"""Topic-connected components of an overlay: one seam, two methods; found at once, or kept up to date link by link.

Of a whole overlay both give (topic, node, component), one row a subscription; ``component`` is the least node of the
component. Of a growing one only the links just added are looked at, between the components there were.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.errors import SetupError
from overlay_spark.frames.buckets import Bucket, buckets_for, by_buckets, sub_overlays
from overlay_spark.frames.contraction import Contracted, by_contraction
from overlay_spark.frames.graphs import (
    graphframes_components,
    graphframes_is_available,
    graphframes_labels,
    topic_of,
    vertex_of,
)
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.workspace import Workspace, parts_of
from overlay_spark.options import ComponentOptions

log = logging.getLogger(__name__)

GROUPED, GRAPHFRAMES = "grouped", "graphframes"
LABELS_DDL = "topic int, node int, component int"


def require_method(spark: SparkSession, options: ComponentOptions) -> None:
    """Refuse GraphFrames where it is asked for by name and cannot be had."""
    if options.method == GRAPHFRAMES and not graphframes_is_available(spark):
        raise SetupError(
            "components.method is 'graphframes', but this Spark session cannot load GraphFrames. Add the jar "
            "io.graphframes:graphframes-spark4_2.13 to the session (a folder of jars: OVERLAY_SPARK_JARS), install "
            "graphframes-py, or use components.method = 'auto'."
        )


def choose_method(problem: IndexedProblem, options: ComponentOptions) -> str:
    """``grouped`` or ``graphframes``: the one asked for, else by the nodes of the largest topic; logs what and why."""
    if options.method != "auto":
        return options.method
    largest = f"the largest topic has {problem.largest_topic:,} nodes, components.huge_topic is {options.huge_topic:,}"
    if problem.largest_topic < options.huge_topic:
        log.debug("Components by grouped tasks: %s.", largest)
        return GROUPED
    if graphframes_is_available(problem.members.sparkSession):
        log.info("Components by GraphFrames: %s.", largest)
        return GRAPHFRAMES
    log.warning("Components by grouped tasks, though %s: GraphFrames cannot be loaded.", largest)
    return GROUPED


def topic_components(
    problem: IndexedProblem, links: DataFrame, method: str, workspace: Workspace, huge: Sequence[int] = ()
) -> DataFrame:
    """Links (src, dst, cost, shared) -> (topic, node, component), by the method chosen.

    In grouped tasks one shuffle, by topic, and another one of the topics that are ``huge``, whose links are contracted.
    """
    if method == GRAPHFRAMES:
        return graphframes_components(problem, sub_overlays(links), workspace)
    labels = by_buckets(problem, links, _label, LABELS_DDL, without=huge)
    return labels.union(by_contraction(problem, links, huge, _label_huge, LABELS_DDL)) if huge else labels


def _label(bucket: Bucket) -> pa.Table:
    """Compiled union-find."""
    from overlay_spark.kernels.components import connected_labels

    labels = connected_labels(len(bucket.node), bucket.left, bucket.right)
    return pa.table({"topic": bucket.topic, "node": bucket.node, "component": bucket.node[labels]})


def _label_huge(topic: Contracted) -> pa.Table:
    topics = np.full(len(topic.node), topic.topic, np.int32)
    return pa.table({"topic": topics, "node": topic.node, "component": topic.component})


@dataclass(frozen=True, kw_only=True)
class Components:
    """The components of a growing overlay, in the topics that it does not connect yet.

    ``by_node`` (node, topics, components) is settled: the component of a node in each such topic, side by side, by
    topic. A component is named by its least subscription (:func:`overlay_spark.frames.graphs.vertex_of`), so that those
    of different topics differ. Where they are ``small`` enough they are broadcast to the candidates.
    """

    by_node: DataFrame
    problem: IndexedProblem
    method: str
    small: bool
    apart: int
    """How many components there are still to join, over all topics."""

    @classmethod
    def apart_all(cls, problem: IndexedProblem, method: str, small: bool, workspace: Workspace) -> Components:
        """Those of the overlay without links: every subscription is one. Two shuffles, by topic and by node."""
        rows = problem.members.join(problem.topics.where("size > 1").select("topic"), "topic")
        component = vertex_of(F.col("topic"), F.col("node"), problem.n_nodes).alias("component")
        apart = problem.n_subscriptions - problem.n_topics
        empty = cls(by_node=rows, problem=problem, method=method, small=small, apart=apart)
        return empty._with(rows.select("node", "topic", component), workspace)

    @cached_property
    def n_parts(self) -> int:
        """Into how many partitions what has about as many rows as there are subscriptions goes."""
        return parts_of(self.problem.n_subscriptions)

    def topic_of(self, component: Column) -> Column:
        """The topic of a component."""
        return topic_of(component, self.problem.n_nodes)

    def met(self, links: DataFrame) -> DataFrame:
        """Links (src, dst, ...) with ``topics`` and ``components`` of both ends, as columns ``*_a`` and ``*_b``.

        A link with an end that has no topic left to connect is gone. Two joins by node.
        """
        for end, name in (("src", "a"), ("dst", "b")):
            known = self.by_node.select(
                F.col("node").alias(end),
                F.col("topics").alias(f"topics_{name}"),
                F.col("components").alias(f"components_{name}"),
            )
            links = links.join(F.broadcast(known) if self.small else known, end)
        return links

    def joining(self, joins: DataFrame, n_joins: int, workspace: Workspace) -> Components:
        """The same once links join components (a, b), of which ``n_joins`` fewer are then left.

        What is joined goes through one task (:meth:`_with` says why) and is shuffled by topic; what the components
        become is shuffled by node, and where they are not broadcast by component before.
        """
        labels = self._labels(joins.limit(n_joins), n_joins, workspace)
        into = labels.select(F.col("id").alias("component"), F.col("component").alias("into"))
        rows = self._rows().join(F.broadcast(into) if self.small else into, "component", "left")
        moved = rows.select("node", "topic", F.coalesce("into", "component").alias("component"))
        after = replace(self, apart=self.apart - n_joins)._with(moved, workspace)
        for done in (labels, self.by_node):
            workspace.drop(done)
        return after

    def only_open(self, workspace: Workspace) -> Components:
        """The same without the topics that are connected now. Two shuffles, by topic and by node."""
        rows = self._rows()
        ends = rows.groupBy("topic").agg(F.min("component").alias("least"), F.max("component").alias("most"))
        after = self._with(rows.join(ends.where("least < most").select("topic"), "topic"), workspace)
        workspace.drop(self.by_node)
        return after

    def _rows(self) -> DataFrame:
        both = F.explode(F.arrays_zip("topics", "components")).alias("at")
        at = (F.col("at.topics").alias("topic"), F.col("at.components").alias("component"))
        return self.by_node.select("node", both).select("node", *at)

    def _with(self, rows: DataFrame, workspace: Workspace) -> Components:
        """(node, topic, component) as the components.

        The limit takes nothing away: it is how Spark learns how few rows there are. Settled rows keep the size that was
        guessed for them, joins multiply guesses, and each round would build on the guesses of the last: after ten
        rounds they have millions of digits. A limit is one task's work, as what is broadcast is anyway.
        """
        listed = F.array_sort(F.collect_list(F.struct("topic", "component"))).alias("at")
        topics, components = F.col("at.topic").alias("topics"), F.col("at.component").alias("components")
        by_node = rows.repartition(self.n_parts, "node").groupBy("node").agg(listed)
        if self.small:
            by_node = by_node.limit(self.problem.n_nodes)
        return replace(self, by_node=workspace.settle(by_node.select("node", topics, components)))

    def _labels(self, joins: DataFrame, n_joins: int, workspace: Workspace) -> DataFrame:
        """Joins (a, b) -> (id, component): what the components at their ends become."""
        if self.method == GRAPHFRAMES:
            return graphframes_labels(joins, n_joins, workspace)
        bucket = F.pmod(self.topic_of(F.col("a")), F.lit(buckets_for(self.problem))).alias("bucket")
        spread = joins.repartition(self.n_parts, bucket).groupBy(bucket)
        return spread.applyInArrow(_labels_of, "id bigint, component bigint")


def _labels_of(joins: pa.Table) -> pa.Table:
    """Compiled union-find over the components that are joined."""
    from overlay_spark.kernels.components import connected_labels

    a, b = joins.column("a").to_numpy(), joins.column("b").to_numpy()
    vertices, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    labels = connected_labels(len(vertices), places[: len(a)], places[len(a) :])
    return pa.table({"id": vertices, "component": vertices[labels]})
