"""Ids to dense whole numbers, in the order of the ids' UTF-8 bytes, and back."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from overlay_spark.frames.costs import LinkCosts, ListedCosts, SiteCosts, units
from overlay_spark.frames.lineage import Holder
from overlay_spark.tables import catalog


@dataclass(frozen=True)
class IndexedProblem:
    """A problem in whole numbers.

    ``nodes`` (node, node_id, site, coordinates, height, topics: the numbers of its topics, ascending), ``topics``
    (topic, topic_id, size: how many want it), ``members`` (topic, node).
    ``link_costs`` (src, dst, cost) with src < dst, where listed; ``site_costs`` (site_a, site_b, cost), both ways,
    where costs are between sites; neither where the coordinates give the costs.
    """

    nodes: DataFrame
    topics: DataFrame
    members: DataFrame
    link_costs: DataFrame | None
    site_costs: DataFrame | None
    n_nodes: int
    n_topics: int
    n_subscriptions: int
    n_listed: int | None
    """How many links are listed, where links are."""
    n_topic_pairs: int
    """Pairs of nodes that share a topic, counted once for each topic."""

    @property
    def n_pairs(self) -> int:
        """At most this many pairs of nodes share a topic."""
        return min(self.n_topic_pairs, self.n_nodes * (self.n_nodes - 1) // 2)


def index_problem(
    subscriptions: DataFrame, nodes: DataFrame | None, costs: LinkCosts, unit: float, holder: Holder
) -> IndexedProblem:
    """SUBSCRIPTIONS, NODES and costs -> the same in whole numbers.

    Two windows over one partition number the nodes and the topics: each id table must be sortable by one task, which
    spills. One job counts; all frames are held.
    """
    known = catalog.NODES.conform(subscriptions.select("node_id").distinct()) if nodes is None else nodes
    known = known.withColumn("height", F.coalesce("height", F.lit(0.0)))
    numbered = _numbered(known, "node_id", "node")
    sizes = subscriptions.groupBy("topic_id").agg(F.count(F.lit(1)).alias("size"))
    topics = holder.hold(_numbered(sizes, "topic_id", "topic"))
    link_costs = site_costs = None
    if isinstance(costs, SiteCosts):
        sites = holder.hold(_numbered(known.select("site").distinct(), "site", "site_number"))
        numbered = numbered.join(sites, "site").withColumn("site", F.col("site_number"))
        site_costs = holder.hold(_indexed_sites(costs.table, sites, unit))
    else:
        numbered = numbered.withColumn("site", F.lit(None).cast("int"))
    wanted = (
        subscriptions.join(topics.select("topic", "topic_id"), "topic_id")
        .groupBy("node_id")
        .agg(F.array_sort(F.collect_list("topic")).alias("topics"))
    )
    indexed = holder.hold(
        numbered.join(wanted, "node_id", "left").select(
            "node",
            "node_id",
            "site",
            "coordinates",
            "height",
            F.coalesce("topics", F.array().cast("array<int>")).alias("topics"),
        )
    )
    if isinstance(costs, ListedCosts):
        link_costs = holder.hold(_indexed_links(costs.table, indexed, unit))
    counts = indexed.agg(F.count(F.lit(1)).alias("nodes"), F.sum(F.size("topics")).alias("subscriptions"))
    pairs = F.sum(F.col("size") * (F.col("size") - 1)) / 2
    counts = counts.crossJoin(topics.agg(F.count(F.lit(1)).alias("topics"), pairs.alias("pairs")))
    if link_costs is not None:
        counts = counts.crossJoin(link_costs.agg(F.count(F.lit(1)).alias("listed")))
    row = counts.first()
    assert row is not None
    return IndexedProblem(
        indexed,
        topics,
        indexed.select(F.explode("topics").alias("topic"), "node"),
        link_costs,
        site_costs,
        row["nodes"],
        row["topics"],
        row["subscriptions"],
        None if link_costs is None else row["listed"],
        int(row["pairs"]),
    )


def _numbered(ids: DataFrame, id_column: str, number: str) -> DataFrame:
    """Number the rows from 0 in the order of the ids, which Spark compares by their UTF-8 bytes."""
    return ids.withColumn(number, F.row_number().over(Window.orderBy(id_column)) - 1)


def _indexed_links(table: DataFrame, nodes: DataFrame, unit: float) -> DataFrame:
    """Listed links between known nodes, each once; a link of unknown nodes is of no use and left out."""
    src = nodes.select(F.col("node").alias("a"), F.col("node_id").alias("src"))
    dst = nodes.select(F.col("node").alias("b"), F.col("node_id").alias("dst"))
    return (
        table.join(src, "src")
        .join(dst, "dst")
        .groupBy(F.least("a", "b").alias("src"), F.greatest("a", "b").alias("dst"))
        .agg(F.max(units(F.col("cost"), unit)).alias("cost"))
    )


def _indexed_sites(table: DataFrame, sites: DataFrame, unit: float) -> DataFrame:
    """Costs between used sites, in both directions."""
    a = sites.select(F.col("site_number").alias("a"), F.col("site").alias("site_a"))
    b = sites.select(F.col("site_number").alias("b"), F.col("site").alias("site_b"))
    one_way = table.join(a, "site_a").join(b, "site_b").select("a", "b", units(F.col("cost"), unit).alias("cost"))
    return (
        one_way.union(one_way.select(F.col("b"), F.col("a"), "cost"))
        .groupBy(F.col("a").alias("site_a"), F.col("b").alias("site_b"))
        .agg(F.max("cost").alias("cost"))
    )


def with_ids(links: DataFrame, nodes: DataFrame) -> DataFrame:
    """Links between numbered nodes with their ids for ``src`` and ``dst``; other columns stay."""
    others = [c for c in links.columns if c not in ("src", "dst")]
    src = nodes.select(F.col("node").alias("src"), F.col("node_id").alias("src_id"))
    dst = nodes.select(F.col("node").alias("dst"), F.col("node_id").alias("dst_id"))
    return (
        links.join(src, "src")
        .join(dst, "dst")
        .select(F.col("src_id").alias("src"), F.col("dst_id").alias("dst"), *others)
    )
