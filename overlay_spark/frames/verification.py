"""Prove or refute an overlay: every topic connected, every link known, allowed, rightly priced and of use."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from overlay_spark.frames.components import sub_overlays
from overlay_spark.frames.costs import distance_units, units
from overlay_spark.frames.graphs import topic_components
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.lineage import Holder
from overlay_spark.tables.audit import Audit, Finding, faults_of, rows

LINK_FAULTS: tuple[tuple[str, str], ...] = (
    ("src IS NULL", "a node that is not among the nodes"),
    ("src = dst", "the same node at both ends"),
    ("times > 1", "a pair that is given more than once"),
    ("src <> dst AND listed IS NULL", "a pair that is not among the links that may be used"),
    ("listed <> cost", "another cost than the costs given"),
    ("src <> dst AND n_shared = 0", "ends that share no topic"),
)
"""What may be wrong with a link, and how it is said."""


POSITIONS = tuple(f"{what}_{end}" for what in ("site", "coordinates", "height") for end in "ab")
"""Columns that say where the two ends of a link are."""


@dataclass(frozen=True)
class Findings:
    """What is wrong with an overlay, one sentence each; where ``topics_broken``, the first is on topics.

    ``broken_topics`` (topic_id, side, nodes) has a row for each side of each broken topic, named by its least node.
    """

    links: DataFrame
    """The links as :func:`described_links` gives them, held."""
    broken_topics: DataFrame
    topics_broken: bool
    faults: tuple[str, ...]


def described_links(links: DataFrame, problem: IndexedProblem, unit: float) -> DataFrame:
    """LINKS -> (src, dst, cost, shared, n_shared, listed, times, src_id, dst_id), one row a given row.

    ``src`` < ``dst`` are null where an end is unknown; ``shared`` are the topics both ends want; ``listed`` is the cost
    by the problem's costs, null where the link may not be used; ``times`` is how often the pair occurs. Two joins by
    id, one by link or site, one window by link.
    """
    a = problem.nodes.select(*[F.col(c).alias(f"{c}_a") for c in problem.nodes.columns])
    b = problem.nodes.select(*[F.col(c).alias(f"{c}_b") for c in problem.nodes.columns])
    known = links.join(a, F.col("src") == F.col("node_id_a"), "left").join(
        b, F.col("dst") == F.col("node_id_b"), "left"
    )
    both = F.col("node_a").isNotNull() & F.col("node_b").isNotNull()
    shared = F.array_intersect("topics_a", "topics_b")
    told = known.select(
        F.when(both, F.least("node_a", "node_b")).alias("src"),
        F.when(both, F.greatest("node_a", "node_b")).alias("dst"),
        units(F.col("cost"), unit).alias("cost"),
        shared.alias("shared"),
        F.size(shared).alias("n_shared"),
        F.col("src").alias("src_id"),
        F.col("dst").alias("dst_id"),
        *POSITIONS,
    )
    if problem.link_costs is not None:
        priced = told.join(problem.link_costs.withColumnRenamed("cost", "listed"), ["src", "dst"], "left")
    elif problem.site_costs is not None:
        priced = told.join(problem.site_costs.withColumnRenamed("cost", "listed"), ["site_a", "site_b"], "left")
    else:
        point_a, height_a, point_b, height_b = (
            F.col(f"{what}_{end}") for end in "ab" for what in ("coordinates", "height")
        )
        priced = told.withColumn("listed", distance_units(point_a, height_a, point_b, height_b, unit))
    times = F.count(F.lit(1)).over(Window.partitionBy("src", "dst"))
    return priced.drop(*POSITIONS).withColumn("times", F.when(F.col("src").isNotNull(), times))


def verify_links(links: DataFrame, problem: IndexedProblem, engine: str, unit: float, holder: Holder) -> Findings:
    """LINKS -> findings. One job counts all faults; GraphFrames, where it is the engine, runs jobs of its own."""
    described = holder.hold(described_links(links, problem, unit))
    known = described.where("src <> dst")
    components = topic_components(problem, sub_overlays(known), engine, holder)
    broken = holder.hold(sides_of_broken_topics(components, problem))
    topics = broken_topic_audit(components, broken, problem, "The overlay leaves {}")
    faults = faults_of([topics, _link_audit(described)])
    topics_broken = bool(faults) and faults[0].startswith("The overlay leaves")
    return Findings(described, broken, topics_broken, tuple(faults))


def sides_of_broken_topics(components: DataFrame, problem: IndexedProblem) -> DataFrame:
    """(topic, node, component) -> (topic_id, side, nodes) of topics in more than one piece. Two shuffles, by topic."""
    sides = components.groupBy("topic", "component").agg(F.count(F.lit(1)).alias("nodes"))
    split = sides.groupBy("topic").count().where("count > 1").select("topic")
    return (
        sides.join(split, "topic")
        .join(problem.topics, "topic")
        .join(problem.nodes.select(F.col("node").alias("component"), "node_id"), "component")
        .select("topic_id", F.col("node_id").alias("side"), "nodes")
    )


def broken_topic_audit(components: DataFrame, broken: DataFrame, problem: IndexedProblem, sentence: str) -> Audit:
    """Whether topics are in pieces; ``sentence`` has a place for how many, and examples name the first two sides.

    Each piece has one node that names it, so there are more of these than topics where one is in pieces: counting
    them takes no shuffle. Which topics those are is only looked for then.
    """
    sides = broken.groupBy("topic_id").agg(
        F.count(F.lit(1)).alias("pieces"), F.array_sort(F.collect_list(F.struct("side", "nodes"))).alias("sides")
    )
    first, second = (F.col("sides")[i] for i in range(2))
    named = sides.select(
        F.col("topic_id").alias("topic"),
        "pieces",
        first["side"].alias("one_with"),
        first["nodes"].alias("its_nodes"),
        second["side"].alias("another_with"),
        second["nodes"].alias("nodes_of_that"),
    )

    def say(_: int, found: str) -> str:
        n = broken.select("topic_id").distinct().count()
        return sentence.format(f"{n} topic{'' if n == 1 else 's'} in pieces (first: {found}).")

    pieces = components.agg(F.count_if(F.col("node") == F.col("component")) - F.lit(problem.n_topics))
    return Audit(pieces, (Finding(say, lambda: named, tuple(named.columns)),))


def _link_audit(described: DataFrame) -> Audit:
    def finding(bad: str, says: str) -> Finding:
        return Finding(
            lambda n, found: f"The overlay has {rows(n)} with {says} (first: {found}).",
            lambda: described.where(bad).select(F.col("src_id").alias("src"), F.col("dst_id").alias("dst")),
            ("src", "dst"),
        )

    counts: list[Column] = [F.count_if(F.expr(bad)) for bad, _ in LINK_FAULTS]
    return Audit(described.agg(*counts), tuple(finding(*fault) for fault in LINK_FAULTS))
