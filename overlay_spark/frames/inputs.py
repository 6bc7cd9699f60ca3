"""The input check: everything wrong with the given tables, before anything is computed or written."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import MAX_UNITS
from overlay_spark.frames.costs import CoordinateCosts, LinkCosts, ListedCosts, SiteCosts, overflows, vanishes
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import Audit, Finding, rows
from overlay_spark.tables.contract import Table


def input_audits(
    subscriptions: DataFrame, nodes: DataFrame | None, costs: LinkCosts, unit: float
) -> tuple[list[Audit], list[Audit]]:
    """SUBSCRIPTIONS, NODES, costs -> audits of each table by itself, and of the tables with one another.

    The second are of interest only where the first find nothing: a null id would be reported twice.
    """
    alone = [catalog.SUBSCRIPTIONS.audit(subscriptions)]
    if not isinstance(costs, CoordinateCosts):
        cost_table = catalog.LINK_COSTS if isinstance(costs, ListedCosts) else catalog.SITE_COSTS
        alone += [cost_table.audit(costs.table), _unit_audit(cost_table, costs.table, unit)]
    together = []
    if nodes is not None:
        alone.append(catalog.NODES.audit(nodes))
        together.append(_unknown_nodes(subscriptions, nodes))
    if isinstance(costs, ListedCosts):
        together.append(_nodes_without_links(subscriptions, costs.table))
    elif nodes is not None:
        if isinstance(costs, SiteCosts):
            together += [_nodes_without(nodes, "site", "site costs"), _site_pairs_without_cost(nodes, costs.table)]
        else:
            together += [_nodes_without(nodes, "coordinates", "costs by coordinates")]
            together += [_other_dimensions(nodes), _too_far_apart(nodes, unit)]
    return alone, together


def _count(frame: DataFrame) -> DataFrame:
    return frame.agg(F.count(F.lit(1)))


def _unit_audit(table: Table, given: DataFrame, unit: float) -> Audit:
    """Costs that are 0 or too many as whole numbers of ``unit``."""
    cost = F.col("cost")
    small, large = vanishes(cost, unit), overflows(cost, unit)
    shown = tuple(given.columns)
    where = f"Table '{table.name}': column 'cost' has"
    return Audit(
        given.agg(F.count_if(small), F.count_if(large)),
        (
            Finding(
                lambda n, found: (
                    f"{where} {rows(n)} that are less than half of costs.unit = {unit:g} and would count "
                    f"as 0 (first: {found}). Set a smaller costs.unit, or correct these rows."
                ),
                lambda: given.where(small),
                shown,
            ),
            Finding(
                lambda n, found: (
                    f"{where} {rows(n)} that are more than {MAX_UNITS} times costs.unit = {unit:g} "
                    f"(first: {found}). Set a larger costs.unit, or correct these rows."
                ),
                lambda: given.where(large),
                shown,
            ),
        ),
    )


def _unknown_nodes(subscriptions: DataFrame, nodes: DataFrame) -> Audit:
    strangers = subscriptions.join(nodes, "node_id", "left_anti")
    finding = Finding(
        lambda n, found: (
            f"Table 'subscriptions' has {rows(n)} of nodes that table 'nodes' does not know "
            f"(first: {found}). Add these nodes or remove their subscriptions."
        ),
        lambda: strangers,
        ("node_id",),
    )
    return Audit(_count(strangers), (finding,))


def _nodes_without_links(subscriptions: DataFrame, link_costs: DataFrame) -> Audit:
    """Nodes that share a topic with others but stand in no listed link."""
    shared = subscriptions.groupBy("topic_id").count().where("count > 1").select("topic_id")
    ends = link_costs.select(F.col("src").alias("node_id")).union(link_costs.select("dst"))
    sharing = subscriptions.join(shared, "topic_id", "left_semi").select("node_id").distinct()
    alone = sharing.join(ends, "node_id", "left_anti")
    finding = Finding(
        lambda n, found: (
            f"Table 'link_costs' does not know {n} of the nodes that share a topic with others "
            f"(first: {found}). List links for these nodes."
        ),
        lambda: alone,
        ("node_id",),
    )
    return Audit(_count(alone), (finding,))


def _nodes_without(nodes: DataFrame, column: str, model: str) -> Audit:
    bare = nodes.where(F.col(column).isNull())
    finding = Finding(
        lambda n, found: (
            f"Table 'nodes': column '{column}' has {rows(n)} that are null (first: {found}). "
            f"With {model} every node needs {'a site' if column == 'site' else column}."
        ),
        lambda: bare,
        ("node_id",),
    )
    return Audit(_count(bare), (finding,))


def _other_dimensions(nodes: DataFrame) -> Audit:
    """Nodes with other dimensions than most; of two equally common numbers of dimensions the lesser is right."""
    nodes, size = nodes.where("coordinates IS NOT NULL"), F.array_size("coordinates")
    common = nodes.groupBy(size.alias("size")).count().orderBy(F.desc("count"), "size").limit(1).select("size")
    others = nodes.withColumn("dimensions", size).join(common, F.col("dimensions") != F.col("size"))
    finding = Finding(
        lambda n, found: (
            f"Table 'nodes': column 'coordinates' has {rows(n)} with another number of dimensions than the others "
            f"(first: {found}). All nodes need coordinates in the same space."
        ),
        lambda: others,
        ("node_id", "dimensions"),
    )
    return Audit(_count(others), (finding,))


def _too_far_apart(nodes: DataFrame, unit: float) -> Audit:
    """Whether the box around all nodes has a diagonal, with the greatest height at both ends, that is too long."""
    highest = nodes.agg(F.coalesce(F.max("height"), F.lit(0.0)).alias("height"))
    sides = (
        nodes.select(F.posexplode("coordinates").alias("dimension", "x"))
        .groupBy("dimension")
        .agg((F.max("x") - F.min("x")).alias("side"))
    )
    diagonal = sides.agg(F.coalesce(F.sqrt(F.sum(F.col("side") * F.col("side"))), F.lit(0.0)).alias("diagonal"))
    farthest = highest.crossJoin(diagonal).select((F.col("diagonal") + 2 * F.col("height")).alias("distance"))
    far = farthest.where(F.col("distance") / F.lit(unit) + F.lit(0.5) >= MAX_UNITS)
    finding = Finding(
        lambda n, found: (
            f"Table 'nodes': columns 'coordinates' and 'height' allow distances of more than {MAX_UNITS} times "
            f"costs.unit = {unit:g} (across all nodes: {found}). Set a larger costs.unit, or correct these columns."
        ),
        lambda: far,
        ("distance",),
    )
    return Audit(_count(far), (finding,))


def _site_pairs_without_cost(nodes: DataFrame, site_costs: DataFrame) -> Audit:
    """Two sites in use need a cost between them, and one site a cost within it where it has two nodes."""
    used = nodes.groupBy("site").count()
    a = used.select(F.col("site").alias("site_a"), F.col("count").alias("n"))
    b = used.select(F.col("site").alias("site_b"))
    low, high = F.least("site_a", "site_b").alias("site_a"), F.greatest("site_a", "site_b").alias("site_b")
    needed = a.join(b, (F.col("site_a") < F.col("site_b")) | ((F.col("site_a") == F.col("site_b")) & (F.col("n") > 1)))
    missing = needed.select("site_a", "site_b").join(site_costs.select(low, high), ["site_a", "site_b"], "left_anti")
    finding = Finding(
        lambda n, found: (
            f"Table 'site_costs' has no cost for {n} pairs of sites in use (first: {found}). "
            "Add these rows; the cost within a site has site_a = site_b."
        ),
        lambda: missing,
        ("site_a", "site_b"),
    )
    return Audit(_count(missing), (finding,))
