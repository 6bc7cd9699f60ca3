"""Where listed links do not let representatives meet: who else may connect what is apart."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from overlay_spark.frames.components import choose_method, topic_components
from overlay_spark.frames.contraction import huge_topics
from overlay_spark.frames.indexing import IndexedProblem, with_shared_topics
from overlay_spark.frames.tasks import Groups
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import ComponentOptions


@dataclass(frozen=True)
class Apart:
    """Nodes of topics that are in pieces, as the one group of a task, with all that these nodes want."""

    groups: Groups
    n_nodes: int
    n_wanted: int


def apart_after(
    problem: IndexedProblem, links: DataFrame, copies: int | None, options: ComponentOptions, workspace: Workspace
) -> Apart | None:
    """Of each piece of each topic that the links leave in pieces ``copies`` nodes, the least, or all; None where no
    topic is.

    Shuffles: those of the method of finding components, by topic and piece, and by node. Two jobs.
    """
    shared, method = with_shared_topics(problem, links), choose_method(problem, options)
    found = topic_components(problem, shared, method, workspace, huge_topics(problem, options.contract_above))
    components = workspace.settle(found, problem.n_subscriptions)
    ends = components.groupBy("topic").agg(F.min("component").alias("least"), F.max("component").alias("most"))
    pieces = components.join(ends.where("least < most").select("topic"), "topic")
    if copies is not None:
        by_piece = Window.partitionBy("topic", "component").orderBy("node")
        pieces = pieces.withColumn("place", F.row_number().over(by_piece)).where(F.col("place") <= copies)
    standing = components.join(pieces.select("node").distinct(), "node")
    wanting = standing.groupBy("node").agg(F.array_sort(F.collect_list(F.struct("topic", "component"))).alias("at"))
    nodes = wanting.select(
        F.lit(0).alias("group"), "node", F.col("at.topic").alias("topics"), F.col("at.component").alias("components")
    )
    counts = nodes.agg(F.count(F.lit(1)).alias("nodes"), F.sum(F.size("topics")).alias("wanted")).collect()[0]
    if not counts["nodes"]:
        return None
    return Apart(Groups(nodes, 1, counts["wanted"]), counts["nodes"], counts["wanted"])
