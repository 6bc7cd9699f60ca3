"""Topic-connected components of an overlay: one seam, two methods.

Both give (topic, node, component), one row a subscription; ``component`` is the least node of the component.
"""

from __future__ import annotations

import logging

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from overlay_spark.errors import SetupError
from overlay_spark.frames.buckets import Bucket, by_buckets
from overlay_spark.frames.graphs import graphframes_components, graphframes_is_available
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import ComponentOptions

log = logging.getLogger(__name__)

GROUPED, GRAPHFRAMES = "grouped", "graphframes"


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


def topic_components(problem: IndexedProblem, overlays: DataFrame, method: str, workspace: Workspace) -> DataFrame:
    """Sub-overlays (topic, src, dst, cost) -> (topic, node, component), by the method chosen."""
    if method == GRAPHFRAMES:
        return graphframes_components(problem, overlays, workspace)
    return by_buckets(problem, overlays, _label, "topic int, node int, component int")


def _label(bucket: Bucket) -> pa.Table:
    """Compiled union-find."""
    from overlay_spark.kernels.components import connected_labels

    labels = connected_labels(len(bucket.node), bucket.left, bucket.right)
    return pa.table({"topic": bucket.topic, "node": bucket.node, "component": bucket.node[labels]})
