"""Topic-connected components by GraphFrames: the only place that knows it."""

from __future__ import annotations

import contextlib
import uuid

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.workspace import Workspace, parts_of


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
    settled = workspace.settle(vertices), workspace.settle(edges)
    found = _connected(*settled, parts_of(problem.n_subscriptions), workspace)
    return found.select("topic", "node", node_of(F.col("component"), n).alias("component"))


def graphframes_labels(edges: DataFrame, n_edges: int, workspace: Workspace) -> DataFrame:
    """Edges (a, b) between any vertices -> (id, component) of their ends. Runs at once; the result is held.

    The label of a component is its least vertex.
    """
    edges = workspace.settle(edges.select(F.col("a").alias("src"), F.col("b").alias("dst")))
    vertices = edges.select(F.explode(F.array("src", "dst")).alias("id")).distinct()
    return _connected(workspace.settle(vertices), edges, parts_of(2 * n_edges), workspace)


def _connected(vertices: DataFrame, edges: DataFrame, n_parts: int, workspace: Workspace) -> DataFrame:
    """Settled vertices (id, ...) and edges (src, dst) -> vertices with ``component``.

    ``graphx`` is not used: below 0.12.3 it stops after 31 steps without a word. Each round is checkpointed: the next
    one's query is then short, and planning a long one takes more time.

    GraphFrames shuffles into as many partitions as its session says, some five times a round, and caches them all. So
    it gets a session of its own, with as many as the rows are worth; the one given keeps its settings.
    """
    from graphframes import GraphFrame

    given = vertices.sparkSession
    own = given.newSession()
    own.conf.set("spark.sql.shuffle.partitions", n_parts)
    found: DataFrame = GraphFrame(_seen_by(own, vertices), _seen_by(own, edges)).connectedComponents(
        algorithm="graphframes",
        checkpointInterval=1,
        broadcastThreshold=-1,
        useLabelsAsComponents=True,
        use_local_checkpoints=not _has_checkpoint_folder(given),
    )
    settled = workspace.settle(found)  # what is cached for one session is not for another
    found.unpersist()
    return _seen_by(given, settled)


def _seen_by(session: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows, settled already, as a frame of another session of this Spark."""
    name = f"overlay_spark_{uuid.uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        return session.table(f"{session.conf.get('spark.sql.globalTempDatabase', 'global_temp')}.{name}")
    finally:
        session.catalog.dropGlobalTempView(name)


def _has_checkpoint_folder(spark: SparkSession) -> bool:
    with contextlib.suppress(PySparkException):
        return bool(spark.conf.get("spark.checkpoint.dir", ""))
    return False
