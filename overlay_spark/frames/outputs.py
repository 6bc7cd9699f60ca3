"""What was solved and proved, as the tables a caller gets."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem, with_ids
from overlay_spark.frames.metrics import figures, node_degrees
from overlay_spark.frames.pricing import from_units
from overlay_spark.frames.verification import Findings
from overlay_spark.frames.workspace import Workspace
from overlay_spark.results import Metrics
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog
from overlay_spark.tables.contract import Table


def links_table(problem: IndexedProblem, links: DataFrame) -> DataFrame:
    """Solved links -> OVERLAY_LINKS. Two joins by node."""
    return priced(problem, with_ids(problem, links), catalog.OVERLAY_LINKS, "cost")


def links_only(links: DataFrame) -> DataFrame:
    """What there is to verify of a table of links -> LINKS."""
    wanted = catalog.LINKS.schema.names
    return catalog.LINKS.conform(links.select(*[c for c in links.columns if c in wanted]))


class Measured(NamedTuple):
    """What an overlay is to its topics and nodes, as OVERLAY_TOPICS and OVERLAY_NODES, and in figures."""

    topics: DataFrame
    nodes: DataFrame
    metrics: Metrics


def measure(problem: IndexedProblem, found: Findings, workspace: Workspace, parts: DataFrame | None = None) -> Measured:
    """Proved links -> measured. Shapes and degrees are settled, in whole numbers.

    ``parts`` (node, part, representative) are those the overlay was computed in, where it was.

    Shuffles: by topic for their ids, by node for degrees. Three jobs at the same time.
    """
    named = found.shapes.join(problem.topics.select("topic", "topic_id"), "topic")
    shapes, degrees, told = side_by_side(
        [
            partial(workspace.settle, named),
            partial(workspace.settle, node_degrees(problem, found.links, parts)),
            partial(figures, problem, found.links, found.shapes),
        ]
    )
    return Measured(
        priced(problem, shapes, catalog.OVERLAY_TOPICS, "weighted_diameter"),
        priced(problem, degrees, catalog.OVERLAY_NODES, "weighted_degree"),
        told,
    )


def priced(problem: IndexedProblem, frame: DataFrame, table: Table, counted: str) -> DataFrame:
    """The table's columns, of which ``counted`` is turned from units into costs."""
    cost = from_units(F.col(counted), problem.unit).alias(counted)
    return frame.select(*[cost if name == counted else F.col(name) for name in table.schema.names])
