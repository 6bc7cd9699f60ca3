"""The input check: everything wrong with the given tables, before anything is computed or written."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import MAX_UNITS
from overlay_spark.errors import InputError
from overlay_spark.frames.pricing import overflows, vanishes
from overlay_spark.problems import ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import Audit, Finding, report, sentence
from overlay_spark.tables.contract import RowCheck, Table


@dataclass(frozen=True)
class Counts:
    """How much the given tables hold, counted without the index."""

    nodes: int
    topics: int
    subscriptions: int


def check_input(problem: OverlayProblem, *more: Audit) -> Counts:
    """Refuse tables with anything wrong, and say all of it; else tell how much there is.

    ``more`` is checked beside the tables by themselves. One job counts; another looks at nodes that stand in no listed
    link, where there are any. What is told depends on the rows only.
    """
    alone, together = input_audits(problem)
    found = report([*alone, *more], together)
    if found.faults:
        raise InputError([str(fault) for fault in found.faults])
    return Counts(*(found.facts[name] for name in ("nodes", "topics", "subscriptions")))


def check_beside(problem: OverlayProblem) -> None:
    """Refuse nodes and costs with anything wrong, by themselves and with one another; subscriptions are not looked at.
    One job."""
    found = report(*_audits_beside(problem))
    if found.faults:
        raise InputError([str(fault) for fault in found.faults])


def input_audits(problem: OverlayProblem) -> tuple[list[Audit], list[Audit]]:
    """The audits of each table by itself, and of the tables with one another.

    The second are of interest only where the first find nothing: a null id would be reported twice. Between them they
    have the facts nodes, topics and subscriptions.
    """
    subscriptions, nodes, costs = problem.subscriptions, problem.nodes, problem.costs
    alone, together = _audits_beside(problem)
    alone = [catalog.SUBSCRIPTIONS.audit(subscriptions), _distinct(subscriptions, "topic_id", "topics"), *alone]
    if nodes is None:
        alone.append(_distinct(subscriptions, "node_id", "nodes"))
    else:
        together = [_unknown_nodes(subscriptions, nodes), *together]
    if isinstance(costs, ListedCosts):
        together = [_nodes_without_links(subscriptions, costs.table), *together]
    return alone, together


def checked_tables(problem: OverlayProblem) -> list[tuple[Table, DataFrame, tuple[RowCheck, ...]]]:
    """Each given table, and what must hold in its rows beside its own rules."""
    costs, of_cost = problem.costs, _unit_checks(problem.unit_cost)
    found: list[tuple[Table, DataFrame, tuple[RowCheck, ...]]] = [(catalog.SUBSCRIPTIONS, problem.subscriptions, ())]
    of_node: tuple[RowCheck, ...] = ()
    if isinstance(costs, ListedCosts):
        found.append((catalog.LINK_COSTS, costs.table, of_cost))
    elif isinstance(costs, SiteCosts):
        found.append((catalog.SITE_COSTS, costs.table, of_cost))
        of_node = (_given("site", "With site costs every node needs a site."),)
    else:
        of_node = (_given("coordinates", "With costs by coordinates every node needs coordinates."),)
    return found if problem.nodes is None else [*found, (catalog.NODES, problem.nodes, of_node)]


def _audits_beside(problem: OverlayProblem) -> tuple[list[Audit], list[Audit]]:
    """Those of nodes and costs."""
    nodes, costs = problem.nodes, problem.costs
    alone = [table.audit(frame, also) for table, frame, also in checked_tables(problem)[1:]]
    if nodes is None or isinstance(costs, ListedCosts):
        return alone, []
    if isinstance(costs, SiteCosts):
        return alone, [_site_pairs_without_cost(nodes, costs.table)]
    return alone, [_other_dimensions(nodes), _too_far_apart(nodes, problem.unit_cost)]


def _distinct(frame: DataFrame, column: str, fact: str) -> Audit:
    return Audit((_count(frame.select(column).distinct()),), facts=(fact,))


def _count(frame: DataFrame) -> DataFrame:
    return frame.agg(F.count(F.lit(1)))


def _unit_checks(unit: float) -> tuple[RowCheck, ...]:
    """Costs that are 0 or too large as whole numbers of ``unit``."""
    cost = F.col("cost")
    return (
        RowCheck(
            "cost_is_not_lost",
            "cost",
            vanishes(cost, unit),
            f"that [is|are] less than half of costs.unit = {unit:g} and would count as 0",
            "Set a smaller costs.unit, or correct [this row|these rows].",
        ),
        RowCheck(
            "cost_is_not_too_large",
            "cost",
            overflows(cost, unit),
            f"that [is|are] more than {MAX_UNITS} times costs.unit = {unit:g}",
            "Set a larger costs.unit, or correct [this row|these rows].",
        ),
    )


def _given(column: str, fix: str) -> RowCheck:
    """A column of ``nodes`` that the costs need."""
    return RowCheck(f"{column}_is_given", column, F.col(column).isNull(), "that [is|are] null", fix, ("node_id",))


def _unknown_nodes(subscriptions: DataFrame, nodes: DataFrame) -> Audit:
    subscribed = subscriptions.groupBy("node_id").agg(F.count(F.lit(1)).alias("n"))
    strangers = subscribed.join(nodes, "node_id", "left_anti")
    finding = Finding(
        "node_is_known",
        sentence(
            "Table 'subscriptions' has",
            "row[|s] of [a node|nodes] that table 'nodes' does not know",
            "Add [this node|these nodes], or remove [its|their] subscriptions.",
        ),
        lambda: strangers,
        ("node_id",),
    )
    return Audit((strangers.agg(F.sum("n")),), (finding,))


def _nodes_without_links(subscriptions: DataFrame, link_costs: DataFrame) -> Audit:
    """Nodes that share a topic with others but stand in no listed link.

    Nodes in no listed link are suspected; which of them share a topic is looked at only if there are any.
    """
    ends = link_costs.select(F.explode(F.array("src", "dst")).alias("node_id")).distinct()
    unlisted = subscriptions.select("node_id").distinct().join(ends, "node_id", "left_anti")
    shared = subscriptions.groupBy("topic_id").count().where("count > 1")
    wanted = subscriptions.join(unlisted, "node_id", "left_semi")
    alone = wanted.join(shared, "topic_id", "left_semi").select("node_id").distinct()
    finding = Finding(
        "node_has_links",
        sentence(
            "Table 'link_costs' does not know",
            "node[|s] that share[s|] a topic with others",
            "List links for [this node|these nodes].",
        ),
        lambda: alone,
        ("node_id",),
        alone.count,
    )
    return Audit((_count(unlisted),), (finding,))


def _other_dimensions(nodes: DataFrame) -> Audit:
    """Nodes with other dimensions than most; of two equally common numbers of dimensions the lesser is right."""
    located = nodes.where("coordinates IS NOT NULL").withColumn("dimensions", F.array_size("coordinates"))
    sizes = located.groupBy("dimensions").count()
    common = sizes.orderBy(F.desc("count"), "dimensions").limit(1).select(F.col("dimensions").alias("right"))
    finding = Finding(
        "coordinates_are_in_one_space",
        sentence(
            "Table 'nodes': column 'coordinates' has",
            "row[|s] with another number of dimensions than the others",
            "All nodes need coordinates in the same space.",
        ),
        lambda: located.join(common, F.col("dimensions") != F.col("right")),
        ("node_id", "dimensions"),
    )
    return Audit((sizes.agg(F.sum("count") - F.max("count")),), (finding,))


def _too_far_apart(nodes: DataFrame, unit: float) -> Audit:
    """Whether the box around all nodes has a diagonal, with the greatest height at both ends, that is too long."""
    sides = (
        nodes.select(F.posexplode("coordinates").alias("dimension", "x"))
        .groupBy("dimension")
        .agg((F.max("x") - F.min("x")).alias("side"))
    )
    diagonal = sides.agg(F.sqrt(F.sum(F.col("side") * F.col("side"))).alias("length"))
    lengths = diagonal.union(nodes.agg(2 * F.max("height")))
    farthest = lengths.agg(F.coalesce(F.sum("length"), F.lit(0.0)).alias("distance"))
    far = farthest.where(F.col("distance") / F.lit(unit) + F.lit(0.5) >= MAX_UNITS)

    def say(count: int, found: str) -> str:
        return (
            f"Table 'nodes': columns 'coordinates' and 'height' allow distances of more than {MAX_UNITS} times "
            f"costs.unit = {unit:g} (across all nodes: {found}). Set a larger costs.unit, or correct these columns."
        )

    return Audit((_count(far),), (Finding("nodes_are_near_enough", say, lambda: far, ("distance",)),))


def _site_pairs_without_cost(nodes: DataFrame, site_costs: DataFrame) -> Audit:
    """Two sites in use need a cost between them, and one site a cost within it where it has two nodes."""
    used = nodes.groupBy("site").count()
    a = used.select(F.col("site").alias("site_a"), F.col("count").alias("n"))
    b = used.select(F.col("site").alias("site_b"))
    low, high = F.least("site_a", "site_b").alias("site_a"), F.greatest("site_a", "site_b").alias("site_b")
    needed = a.join(b, (F.col("site_a") < F.col("site_b")) | ((F.col("site_a") == F.col("site_b")) & (F.col("n") > 1)))
    missing = needed.select("site_a", "site_b").join(site_costs.select(low, high), ["site_a", "site_b"], "left_anti")
    finding = Finding(
        "site_pair_has_a_cost",
        sentence(
            "Table 'site_costs' has no cost for",
            "pair[|s] of sites in use",
            "Add [this row|these rows]; the cost within a site has site_a = site_b.",
        ),
        lambda: missing,
        ("site_a", "site_b"),
    )
    return Audit((_count(missing),), (finding,))
