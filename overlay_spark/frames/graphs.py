"""Topic-connected components by GraphFrames: the only place that knows it."""

from __future__ import annotations

import contextlib

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.workspace import Workspace


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


def vertex_of(topic: Column, node: Column, n_nodes: int) -> Column:
    """A subscription as one number; those of a topic ascend as its nodes do."""
    return topic.cast("bigint") * F.lit(n_nodes) + node


def node_of(vertex: Column, n_nodes: int) -> Column:
    """The node of such a number."""
    return F.pmod(vertex, F.lit(n_nodes)).cast("int")


def topic_of(vertex: Column, n_nodes: int) -> Column:
    """The topic of such a number."""
    return F.call_function("div", vertex, F.lit(n_nodes).cast("bigint"))


def graphframes_components(problem: IndexedProblem, overlays: DataFrame, workspace: Workspace) -> DataFrame:
    """Sub-overlays (topic, src, dst, cost) -> (topic, node, component). Runs at once; the result is held.

    One graph has all topics: a subscription is a vertex, and a link an edge in every topic its ends share. The label of
    a component is its least vertex, which names its least node.
    """
    n, topic = problem.n_nodes, F.col("topic")
    vertices = problem.members.select(vertex_of(topic, F.col("node"), n).alias("id"), "topic", "node")
    edges = overlays.select(*[vertex_of(topic, F.col(end), n).alias(end) for end in ("src", "dst")])
    found = _connected(workspace.settle(vertices), workspace.settle(edges), workspace)
    return found.select("topic", "node", node_of(F.col("component"), n).alias("component"))


def graphframes_labels(edges: DataFrame, workspace: Workspace) -> DataFrame:
    """Edges (a, b) between any vertices -> (id, component) of their ends. Runs at once; the result is held.

    The label of a component is its least vertex.
    """
    edges = workspace.settle(edges.select(F.col("a").alias("src"), F.col("b").alias("dst")))
    vertices = edges.select(F.explode(F.array("src", "dst")).alias("id")).distinct()
    return _connected(workspace.settle(vertices), edges, workspace)


def _connected(vertices: DataFrame, edges: DataFrame, workspace: Workspace) -> DataFrame:
    """Settled vertices (id, ...) and edges (src, dst) -> vertices with ``component``.

    ``graphx`` is not used: below 0.12.3 it stops after 31 steps without a word. Each round is checkpointed: the next
    one's query is then short, and planning a long one takes more time.
    """
    from graphframes import GraphFrame

    found: DataFrame = GraphFrame(vertices, edges).connectedComponents(
        algorithm="graphframes",
        checkpointInterval=1,
        broadcastThreshold=-1,
        useLabelsAsComponents=True,
        use_local_checkpoints=not _has_checkpoint_folder(vertices.sparkSession),
    )
    return workspace.adopt(found)


def _has_checkpoint_folder(spark: SparkSession) -> bool:
    with contextlib.suppress(PySparkException):
        return bool(spark.conf.get("spark.checkpoint.dir", ""))
    return False
