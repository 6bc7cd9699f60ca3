"""Small problems as DataFrames."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.preparing import prepare
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import CostOptions, Options
from overlay_spark.problems import ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog

UNIT = 1 / 1024
"""Costs of the golden cases are multiples of this."""


def options(**sections: Any) -> Options:
    return replace(Options(costs=CostOptions(unit=UNIT)), **sections)


def node(case: dict[str, Any], number: int) -> str:
    return f"{case['name']}/n{number:03d}"


def golden_problem(spark: SparkSession, cases: Sequence[dict[str, Any]], listed: bool) -> OverlayProblem:
    """Golden cases beside one another, with their costs as listed links, or with every node a site of its own."""
    subscriptions = [
        (node(case, v), f"{case['name']}/t{t:03d}")
        for case in cases
        for v, row in enumerate(case["X"])
        for t, wanted in enumerate(row)
        if wanted
    ]
    ends = [(case, v) for case in cases for v in range(case["V"])]
    pairs = [
        (node(a, u), node(b, v), a["W"][u][v] if a is b else 1.0) for (a, u), (b, v) in itertools.combinations(ends, 2)
    ]
    nodes = [node(case, v) for case, v in ends]
    table: ListedCosts | SiteCosts
    if listed:
        table = ListedCosts(catalog.LINK_COSTS.rows(spark, pairs))
    else:
        table = SiteCosts(catalog.SITE_COSTS.rows(spark, pairs))
    return OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, subscriptions),
        table,
        catalog.NODES.rows(spark, [(name, None if listed else name) for name in nodes]),
    )


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


def silent(step: str) -> None:
    return None


def indexed(problem: OverlayProblem, workspace: Workspace) -> IndexedProblem:
    """A problem checked and in whole numbers."""
    return prepare(problem, workspace, silent)


def sorted_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All rows, nulls last."""
    rows = (tuple(row) for row in frame.collect())
    return sorted(rows, key=lambda row: [(value is None, 0 if value is None else value) for value in row])


def links_in_order(links: DataFrame) -> list[tuple[str, str]]:
    return [(row["src"], row["dst"]) for row in links.orderBy("pick").collect()]
