"""Small problems as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.options import CostOptions, Options
from overlay_spark.problems import ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog

UNIT = 1 / 1024
"""Costs of the golden cases are multiples of this."""


def options(**sections: Any) -> Options:
    return replace(Options(costs=CostOptions(unit=UNIT)), **sections)


def node(number: int) -> str:
    return f"n{number:03d}"


def topic(number: int) -> str:
    return f"t{number:03d}"


def subscriptions_of(case: dict[str, Any]) -> list[tuple[str, str]]:
    return [(node(v), topic(t)) for v, row in enumerate(case["X"]) for t, wanted in enumerate(row) if wanted]


def golden_problem(spark: SparkSession, case: dict[str, Any], listed: bool) -> OverlayProblem:
    """A golden case with its costs as listed links, or with every node a site of its own."""
    nodes, costs = range(case["V"]), case["W"]
    subscriptions = catalog.SUBSCRIPTIONS.rows(spark, subscriptions_of(case))
    if listed:
        pairs = [(node(u), node(v), costs[u][v]) for u in nodes for v in nodes if u < v]
        table = ListedCosts(catalog.LINK_COSTS.rows(spark, pairs))
        return OverlayProblem(subscriptions, table, catalog.NODES.rows(spark, [(node(v), None) for v in nodes]))
    sites = [(f"s{u:03d}", f"s{v:03d}", costs[u][v]) for u in nodes for v in nodes if u < v]
    table = SiteCosts(catalog.SITE_COSTS.rows(spark, sites))
    return OverlayProblem(subscriptions, table, catalog.NODES.rows(spark, [(node(v), f"s{v:03d}") for v in nodes]))


def problem(
    spark: SparkSession,
    subscriptions: Iterable[Sequence[Any]],
    link_costs: Iterable[Sequence[Any]],
    nodes: Iterable[str] | None = None,
) -> OverlayProblem:
    return OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, subscriptions),
        ListedCosts(catalog.LINK_COSTS.rows(spark, link_costs)),
        None if nodes is None else catalog.NODES.rows(spark, [(n, None) for n in nodes]),
    )


def sorted_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All rows, nulls last."""
    rows = (tuple(row) for row in frame.collect())
    return sorted(rows, key=lambda row: [(value is None, 0 if value is None else value) for value in row])


def links_in_order(links: DataFrame) -> list[tuple[str, str]]:
    return [(row["src"], row["dst"]) for row in links.orderBy("pick").collect()]
