"""Problems of a million rows or so: checked and indexed at once, in one task, where frames would take many jobs.

What is wrong with a table, and how it is said, only :mod:`overlay_spark.frames.inputs` tells: here a problem is given
up as soon as there may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from overlay_spark.frames import small_rows as rows
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.inputs import Counts, checked_tables
from overlay_spark.frames.pricing import units
from overlay_spark.frames.workspace import Workspace
from overlay_spark.problems import ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import unreadable_files_told


def index_small(problem: OverlayProblem, workspace: Workspace) -> IndexedProblem | None:
    """A problem checked and indexed; None where anything may be wrong with it. One shuffle into one task."""
    unit, kinds = problem.unit_cost, _kinds(problem)
    ddl = from_arrow_schema(rows.ANSWER)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from rows.answer(list(batches), kinds, unit)

    read = reduce(DataFrame.union, _rows(problem)).repartition(1)
    with unreadable_files_told():
        found = workspace.settle(read.mapInArrow(run, ddl))
    [told] = found.where("facts IS NOT NULL").select("facts").collect()
    if not told["facts"]:
        return None
    facts = rows.Facts(*told["facts"])
    costs = problem.costs

    def items(name: str) -> DataFrame:
        return found.select(F.inline(name))

    nodes = items("nodes")
    return IndexedProblem(
        nodes=nodes,
        topics=items("topics"),
        members=nodes.select(F.explode("topics").alias("topic"), "node"),
        link_costs=items("link_costs") if isinstance(costs, ListedCosts) else None,
        site_costs=items("site_costs") if isinstance(costs, SiteCosts) else None,
        n_nodes=facts.nodes,
        n_topics=facts.topics,
        n_subscriptions=facts.subscriptions,
        n_listed=facts.listed if isinstance(costs, ListedCosts) else None,
        n_site_pairs=facts.site_pairs,
        n_topic_pairs=facts.topic_pairs,
        largest_topic=facts.largest,
        unit=unit,
        raw=Counts(facts.raw_nodes, facts.raw_topics, facts.raw_subscriptions),
        packed=found,
    )


def _kinds(problem: OverlayProblem) -> tuple[int, ...]:
    """The kinds of rows that there must be."""
    costs = problem.costs
    priced = {ListedCosts: rows.LINK_COST, SiteCosts: rows.SITE_COST}.get(type(costs), rows.DIMENSION)
    return (rows.WANTED, priced) if problem.nodes is None else (rows.WANTED, rows.NODE, priced)


def _rows(problem: OverlayProblem) -> list[DataFrame]:
    """All that the task reads."""
    unit, parts = problem.unit_cost, []
    for table, frame, also in checked_tables(problem):
        bad = table.is_broken(also)
        if table is catalog.SUBSCRIPTIONS:
            parts.append(_row(frame, bad, rows.WANTED, F.col("node_id"), F.col("topic_id")))
        elif table is catalog.NODES:
            parts.append(
                _row(frame, bad, rows.NODE, F.col("node_id"), F.col("site"), x=F.coalesce("height", F.lit(0.0)))
            )
            points = frame.select("node_id", F.posexplode("coordinates").alias("n", "x"))
            parts.append(_row(points, F.lit(False), rows.DIMENSION, F.col("node_id"), None, F.col("n"), F.col("x")))
        else:
            kind, (a, b) = (rows.LINK_COST if table is catalog.LINK_COSTS else rows.SITE_COST), table.key
            parts.append(_row(frame, bad, kind, F.col(a), F.col(b), units(F.col("cost"), unit), F.col("cost")))
    return parts


def _row(
    frame: DataFrame, bad: Column, kind: int, a: Column, b: Column | None, n: Column | None = None,
    x: Column | None = None,
) -> DataFrame:  # fmt: skip
    kinds = F.when(bad, F.lit(rows.BAD)).otherwise(F.lit(kind))
    columns = zip(rows.ROW.items(), (kinds, a, b, n, x), strict=True)
    return frame.select(*[(F.lit(None) if c is None else c).cast(type).alias(name) for (name, type), c in columns])
