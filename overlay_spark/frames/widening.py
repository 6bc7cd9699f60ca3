"""Where listed links do not let representatives meet: which links may still connect what is apart."""

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
    """Nodes that listed links can join to other pieces of a topic, as the one group of a task, with all they want."""

    groups: Groups
    n_nodes: int
    n_wanted: int


def apart_after(
    problem: IndexedProblem, links: DataFrame, copies: int | None, options: ComponentOptions, workspace: Workspace
) -> Apart | None:
    """Ends of listed links between different pieces of a topic that the links leave in pieces; None where there are no
    such links: what is in pieces then cannot be connected.

    Of each piece ``copies`` ends, the least, or all. Shuffles: those of the method of finding components; listed links
    twice by topic and node, their ends by piece, and what they want by node. Two jobs.
    """
    assert problem.link_costs is not None
    shared, method = with_shared_topics(problem, links), choose_method(problem, options)
    found = topic_components(problem, shared, method, workspace, huge_topics(problem, options.contract_above))
    components = workspace.settle(found, problem.n_subscriptions)
    spread = components.groupBy("topic").agg(F.min("component").alias("least"), F.max("component").alias("most"))
    in_pieces = components.join(spread.where("least < most").select("topic"), "topic")
    a, b = (
        in_pieces.select("topic", F.col("node").alias(end), F.col("component").alias(f"piece_{end}"))
        for end in ("src", "dst")
    )
    between = problem.link_costs.join(a, "src").join(b, ["topic", "dst"]).where("piece_src <> piece_dst")
    both = F.explode(
        F.array(*[F.struct(F.col(f"piece_{e}").alias("piece"), F.col(e).alias("node")) for e in ("src", "dst")])
    )
    ends = between.select("topic", both.alias("end")).select("topic", "end.*").distinct()
    if copies is not None:
        by_piece = Window.partitionBy("topic", "piece").orderBy("node")
        ends = ends.withColumn("place", F.row_number().over(by_piece)).where(F.col("place") <= copies)
    standing = components.join(ends.select("node").distinct(), "node")
    wanting = standing.groupBy("node").agg(F.array_sort(F.collect_list(F.struct("topic", "component"))).alias("at"))
    nodes = wanting.select(
        F.lit(0).alias("group"), "node", F.col("at.topic").alias("topics"), F.col("at.component").alias("components")
    )
    nodes = workspace.settle(nodes)
    counts = nodes.agg(F.count(F.lit(1)).alias("nodes"), F.sum(F.size("topics")).alias("wanted")).collect()[0]
    if not counts["nodes"]:
        return None
    return Apart(Groups(nodes, 1, counts["wanted"]), counts["nodes"], counts["wanted"])
