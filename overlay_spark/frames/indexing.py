"""Ids to dense whole numbers, in the order of the ids' UTF-8 bytes, and back."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from overlay_spark.costs import from_units
from overlay_spark.frames.inputs import Counts
from overlay_spark.frames.pricing import units
from overlay_spark.frames.workspace import Workspace
from overlay_spark.problems import ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog

NOT_COUNTED = Counts(-1, -1, -1)
"""No proof holds against it."""


@dataclass(frozen=True, kw_only=True)
class IndexedProblem:
    """A problem in whole numbers; ``unit`` is the cost that counts as 1.

    ``nodes`` (node, node_id, site, label, coordinates, height, topics: the numbers of its topics, ascending),
    ``topics`` (topic, topic_id, size: how many want it), ``members`` (topic, node). ``site`` numbers the sites where
    costs are between them; ``label`` is the site as given.
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
    n_site_pairs: int
    """How many costs there are between sites, both ways."""
    n_topic_pairs: int
    """Pairs of nodes that share a topic, counted once for each topic."""
    largest_topic: int
    """How many nodes want the topic that most want."""
    unit: float
    raw: Counts = NOT_COUNTED
    """What was counted in the tables themselves, apart from the index: what a proof stands on."""
    packed: DataFrame | None = None
    """All of it as :mod:`overlay_spark.frames.small_rows` gives it, where one task made it."""

    def cost(self, units: float | None) -> float | None:
        """A number of units as a cost; None stays None."""
        return None if units is None else float(from_units(units, self.unit))

    @property
    def priced_by(self) -> str:
        """The name of what says what links cost: ``link_costs``, ``site_costs`` or ``nodes``."""
        if self.link_costs is not None:
            return "link_costs"
        return "nodes" if self.site_costs is None else "site_costs"

    @property
    def n_pairs(self) -> int:
        """At most this many pairs of nodes share a topic."""
        return min(self.n_topic_pairs, self.n_nodes * (self.n_nodes - 1) // 2)


def index_problem(problem: OverlayProblem, workspace: Workspace) -> IndexedProblem:
    """A problem whose tables are right -> the same in whole numbers, but for what is counted in the tables themselves.

    Two windows over one partition number the nodes and the topics: each id table must be sortable by one task, which
    spills. One job counts; all frames are held.
    """
    subscriptions, nodes, costs, unit = problem.subscriptions, problem.nodes, problem.costs, problem.unit_cost
    known = catalog.NODES.conform(subscriptions.select("node_id").distinct()) if nodes is None else nodes
    known = known.withColumns({"height": F.coalesce("height", F.lit(0.0)), "label": F.col("site")})
    numbered = _numbered(known, "node_id", "node")
    sizes = subscriptions.groupBy("topic_id").agg(F.count(F.lit(1)).alias("size"))
    topics = workspace.hold(_numbered(sizes, "topic_id", "topic"))
    link_costs = site_costs = None
    if isinstance(costs, SiteCosts):
        sites = workspace.hold(_numbered(known.select("site").distinct(), "site", "site_number"))
        numbered = numbered.join(sites, "site").withColumn("site", F.col("site_number"))
        site_costs = workspace.hold(_indexed_sites(costs.table, sites, unit))
    else:
        numbered = numbered.withColumn("site", F.lit(None).cast("int"))
    wanted = (
        subscriptions.join(topics.select("topic", "topic_id"), "topic_id")
        .groupBy("node_id")
        .agg(F.array_sort(F.collect_list("topic")).alias("topics"))
    )
    indexed = workspace.hold(
        numbered.join(wanted, "node_id", "left").select(
            "node",
            "node_id",
            "site",
            "label",
            "coordinates",
            "height",
            F.coalesce("topics", F.array().cast("array<int>")).alias("topics"),
        )
    )
    if isinstance(costs, ListedCosts):
        link_costs = workspace.hold(_indexed_links(costs.table, indexed, unit))
    counts = indexed.agg(F.count(F.lit(1)).alias("nodes"), F.sum(F.size("topics")).alias("subscriptions"))
    pairs = F.sum(F.col("size") * (F.col("size") - 1)) / 2
    counts = counts.crossJoin(
        topics.agg(F.count(F.lit(1)).alias("topics"), pairs.alias("pairs"), F.max("size").alias("largest"))
    )
    if link_costs is not None:
        counts = counts.crossJoin(link_costs.agg(F.count(F.lit(1)).alias("listed")))
    if site_costs is not None:
        counts = counts.crossJoin(site_costs.agg(F.count(F.lit(1)).alias("site_pairs")))
    row = counts.first()
    assert row is not None
    return IndexedProblem(
        nodes=indexed,
        topics=topics,
        members=indexed.select(F.explode("topics").alias("topic"), "node"),
        link_costs=link_costs,
        site_costs=site_costs,
        n_nodes=row["nodes"],
        n_topics=row["topics"],
        n_subscriptions=row["subscriptions"],
        n_listed=None if link_costs is None else row["listed"],
        n_site_pairs=0 if site_costs is None else row["site_pairs"],
        n_topic_pairs=int(row["pairs"]),
        largest_topic=row["largest"],
        unit=unit,
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


def with_ids(problem: IndexedProblem, links: DataFrame) -> DataFrame:
    """Links between numbered nodes with their ids for ``src`` and ``dst``; other columns stay. Two joins by node."""
    others = [c for c in links.columns if c not in ("src", "dst")]
    src = problem.nodes.select(F.col("node").alias("src"), F.col("node_id").alias("src_id"))
    dst = problem.nodes.select(F.col("node").alias("dst"), F.col("node_id").alias("dst_id"))
    return (
        links.join(src, "src")
        .join(dst, "dst")
        .select(F.col("src_id").alias("src"), F.col("dst_id").alias("dst"), *others)
    )


def with_ends(problem: IndexedProblem, links: DataFrame, by: str = "node") -> DataFrame:
    """Links with all that is known of both ends, as columns ``*_a`` and ``*_b``; null where an end is unknown.

    ``src`` and ``dst`` are numbers of nodes, or with ``by`` = "node_id" their ids. Two joins by node.
    """
    a, b = (problem.nodes.select(*[F.col(c).alias(f"{c}_{end}") for c in problem.nodes.columns]) for end in "ab")
    joined = links.join(a, F.col("src") == F.col(f"{by}_a"), "left")
    return joined.join(b, F.col("dst") == F.col(f"{by}_b"), "left")


def with_shared_topics(problem: IndexedProblem, links: DataFrame) -> DataFrame:
    """Links between numbered nodes -> the same with ``shared``: the topics both ends want. Two joins by node."""
    shared = F.array_intersect("topics_a", "topics_b").alias("shared")
    return with_ends(problem, links).select(*links.columns, shared)
