"""Topic-connected components of an overlay: one seam, two ways to compute them. The only place that knows GraphFrames.

Both give (topic, node, component), one row a subscription; ``component`` is the least node of the component.
"""

from __future__ import annotations

import contextlib

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.errors import SetupError
from overlay_spark.frames.components import Bucket, by_buckets
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.lineage import Holder


def graphframes_is_available(spark: SparkSession) -> bool:
    """Whether GraphFrames can run in this session: its Python half here, its JVM half in the session."""
    try:
        from graphframes import GraphFrame
    except ImportError:
        return False
    from pyspark.sql.utils import is_remote

    if is_remote():  # a Connect session cannot be asked before it runs a graph, and serverless Spark refuses it
        return False
    try:
        GraphFrame(spark.createDataFrame([(0,)], "id long"), spark.createDataFrame([], "src long, dst long"))
    except Exception as error:  # py4j's error for a class that is not there
        if "ClassNotFoundException" in str(error) or "GraphFramePythonAPI" in str(error):
            return False
        raise
    return True


def choose_engine(spark: SparkSession, wanted: str) -> str:
    """``graphframes`` or ``grouped``; GraphFrames asked for by name and not to be had is refused."""
    if wanted == "grouped":
        return "grouped"
    if graphframes_is_available(spark):
        return "graphframes"
    if wanted == "graphframes":
        raise SetupError(
            "components.engine is 'graphframes', but this Spark session cannot load GraphFrames. Add the jar "
            "io.graphframes:graphframes-spark4_2.13 to the session (a folder of jars: OVERLAY_SPARK_JARS), install "
            "graphframes-py, or use components.engine = 'auto'."
        )
    return "grouped"


def topic_components(problem: IndexedProblem, overlays: DataFrame, engine: str, holder: Holder) -> DataFrame:
    """Sub-overlays (topic, src, dst, cost) -> (topic, node, component), by the engine chosen."""
    if engine == "graphframes":
        return _by_graphframes(problem, overlays, holder)
    return _by_grouped_tasks(problem, overlays)


def _by_grouped_tasks(problem: IndexedProblem, overlays: DataFrame) -> DataFrame:
    """Compiled union-find over buckets of topics; one shuffle, by topic. Lazy."""
    return by_buckets(problem, overlays, _label, "topic int, node int, component int")


def _label(bucket: Bucket) -> pa.Table:
    from overlay_spark.kernels.components import connected_labels

    labels = connected_labels(len(bucket.node), bucket.left, bucket.right)
    return pa.table({"topic": bucket.topic, "node": bucket.node, "component": bucket.node[labels]})


def _by_graphframes(problem: IndexedProblem, overlays: DataFrame, holder: Holder) -> DataFrame:
    """GraphFrames' distributed algorithm over vertices topic * n_nodes + node. It runs at once; the result is held.

    The label of a component is its least vertex, which names its least node. ``graphx`` is not used: below 0.12.3 it
    stops after 31 steps without a word.
    """
    from graphframes import GraphFrame

    n = problem.n_nodes

    def vertex(node: str) -> Column:
        return F.col("topic").cast("bigint") * F.lit(n) + F.col(node)

    vertices = problem.members.select(vertex("node").alias("id"), "topic", "node")
    edges = overlays.select(vertex("src").alias("src"), vertex("dst").alias("dst"))
    spark = problem.members.sparkSession
    found: DataFrame = GraphFrame(vertices, edges).connectedComponents(
        algorithm="graphframes",
        broadcastThreshold=-1,
        useLabelsAsComponents=True,
        use_local_checkpoints=not _has_checkpoint_folder(spark),
    )
    holder.adopt(found)
    return found.select("topic", "node", F.pmod(F.col("component"), F.lit(n)).cast("int").alias("component"))


def _has_checkpoint_folder(spark: SparkSession) -> bool:
    with contextlib.suppress(PySparkException):
        return bool(spark.conf.get("spark.checkpoint.dir", ""))
    return False
