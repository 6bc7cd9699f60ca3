"""The tables a job reads, and at which versions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.problems import CoordinateCosts, LinkCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog, delta, files
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Reference


@dataclass(frozen=True)
class Inputs:
    """Where the tables of an overlay problem are; with neither table of costs, coordinates of the nodes give them."""

    subscriptions: Reference
    nodes: Reference | None = None
    link_costs: Reference | None = None
    site_costs: Reference | None = None

    def by_table(self) -> dict[Table, Reference]:
        given = {
            catalog.SUBSCRIPTIONS: self.subscriptions,
            catalog.NODES: self.nodes,
            catalog.LINK_COSTS: self.link_costs,
            catalog.SITE_COSTS: self.site_costs,
        }
        return {table: reference for table, reference in given.items() if reference is not None}


def describe(spark: SparkSession, inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Reference and, for Delta tables, newest version of each input and when it was committed, by table name."""
    given = inputs.by_table()
    told = side_by_side([partial(_version, spark, reference) for reference in given.values()])
    return {
        table.name: {"reference": str(reference), "version": version, "at": at}
        for (table, reference), (version, at) in zip(given.items(), told, strict=True)
    }


def load_problem(spark: SparkSession, inputs: Inputs, described: dict[str, dict[str, Any]]) -> OverlayProblem:
    """The problem, each Delta table read at the version described."""
    frames: dict[Table, DataFrame] = {
        table: _read(spark, table, reference, described[table.name]["version"])
        for table, reference in inputs.by_table().items()
    }
    costs: LinkCosts = CoordinateCosts()
    if catalog.LINK_COSTS in frames:
        costs = ListedCosts(frames[catalog.LINK_COSTS])
    elif catalog.SITE_COSTS in frames:
        costs = SiteCosts(frames[catalog.SITE_COSTS])
    return OverlayProblem(frames[catalog.SUBSCRIPTIONS], costs, frames.get(catalog.NODES))


def _version(spark: SparkSession, reference: Reference) -> tuple[int | None, int | None]:
    found = delta.commits(spark, reference, 1) if reference.kind in ("delta", "table") else []
    return (found[0].version, found[0].at) if found else (None, None)


def _read(spark: SparkSession, table: Table, reference: Reference, version: int | None) -> DataFrame:
    if reference.kind in ("delta", "table"):
        return delta.read(spark, reference, version)
    return files.read(spark, table, reference)
