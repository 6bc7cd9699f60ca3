"""A stored overlay and what changed since -> the overlay for the problem as it is now, in one task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import from_units as array_from_units
from overlay_spark.errors import FeedError, GuardError, InputError, TooLarge, VerificationError
from overlay_spark.frames import churn_answers as answers
from overlay_spark.frames import churn_rows as rows
from overlay_spark.frames.churn_answers import (
    APART,
    BAD_VALUES,
    TOO_LARGE,
    WRONG_FEED,
    WRONG_INPUT,
    WRONG_LINKS,
    answer,
    solve,
)
from overlay_spark.frames.churn_packs import PACKED_DDL, gathered, packed
from overlay_spark.frames.churn_rows import BadValues, churn_task
from overlay_spark.frames.components import topic_components
from overlay_spark.frames.indexing import index_problem
from overlay_spark.frames.outputs import links_only
from overlay_spark.frames.pricing import from_units, units
from overlay_spark.frames.verification import described_links
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import Options
from overlay_spark.options.components import AUTO
from overlay_spark.problems import (
    CoordinateCosts,
    ListedCosts,
    OverlayProblem,
    PackedOverlay,
    SiteCosts,
    StoredOverlay,
)
from overlay_spark.results import RefreshMetrics
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import report

STAGE = "repair"


@dataclass(frozen=True)
class ChurnAnswer:
    """The task's answer, settled. ``facts`` are counts, by name; costs are in units."""

    answer: DataFrame
    facts: dict[str, int]
    unit: float

    def _of(self, *kinds: int) -> DataFrame:
        return self.answer.where(F.col("kind").isin(*kinds))

    @property
    def changes(self) -> DataFrame:
        """(action, step, OVERLAY_LINKS): the links to add, in the order they were picked, then those to remove, in that
        of their ends; those to update are as they are now, and in no step."""
        action = F.element_at(F.array(*[F.lit(name) for name in ("add", "remove", "update")]), F.col("kind") + 1)
        numbers = [F.try_element_at("numbers", F.lit(i + 1)) for i in range(5)]
        stays = F.col("kind") != answers.REMOVE
        counts = [F.when(stays, n) for n in numbers[1:4]]
        step = F.when(F.col("kind") == answers.ADD, numbers[4]).when(~stays, numbers[1])
        return self._of(answers.ADD, answers.REMOVE, answers.UPDATE).select(
            action.alias("action"),
            step.alias("step"),
            F.col("a").alias("src"),
            F.col("b").alias("dst"),
            from_units(numbers[0], self.unit).alias("cost"),
            counts[0].cast("int").alias("shared_topics"),
            counts[1].cast("int").alias("contribution"),
            F.lit(STAGE).alias("stage"),
            counts[2].alias("pick"),
        )

    @property
    def topics(self) -> DataFrame:
        """OVERLAY_TOPICS; diameters of topics whose sub-overlay is another are null."""
        n = [F.element_at("numbers", i + 1) for i in range(6)]
        return self._of(answers.TOPIC).select(
            F.col("a").alias("topic_id"),
            *[n[i].cast("int").alias(name) for i, name in enumerate(("nodes", "links", "components"))],
            F.when(n[4] >= 0, n[4]).cast("int").alias("diameter"),
            F.when(n[5] >= 0, from_units(n[5], self.unit)).alias("weighted_diameter"),
        )

    @property
    def nodes(self) -> DataFrame:
        """OVERLAY_NODES; a node keeps the part it was designed in."""
        n = [F.element_at("numbers", i + 1) for i in range(5)]
        return self._of(answers.NODE_NOW).select(
            F.col("a").alias("node_id"),
            n[0].cast("int").alias("topics"),
            n[1].cast("int").alias("degree"),
            from_units(n[2], self.unit).alias("weighted_degree"),
            F.when(n[3] >= 0, n[3]).cast("int").alias("part_id"),
            (n[4] > 0).alias("representative"),
        )

    @property
    def backups(self) -> DataFrame:
        """OVERLAY_BACKUPS of all nodes."""
        return self._of(answers.BACKUP_NOW).select(
            F.col("a").alias("node_id"),
            F.col("b").alias("backup_id"),
            F.element_at("numbers", 1).cast("int").alias("layer"),
        )

    @property
    def state(self) -> DataFrame:
        """OVERLAY_STATE."""
        return self._of(answers.STATE).select(F.element_at("numbers", 1).cast("int").alias("pack"), "packed")


def keep_up(
    problem: OverlayProblem,
    stored: StoredOverlay | PackedOverlay,
    options: Options,
    workspace: Workspace,
    progress: Callable[[str], None],
) -> ChurnAnswer:
    """Bring a stored overlay up to date, whose ``changes`` are settled; ``progress`` is told when the task begins.

    Where ``components.method`` names one, components of the sub-overlays are found by it beforehand, else by the task
    too. One task holds all subscriptions, the overlay's links and the costs; rows are packed where they lie, and the
    packs shuffled to it. With a packed overlay the table of subscriptions is only counted: what it holds are those of
    then and the changes since.
    It checks its own result with code that shares nothing with what chose the links. Its answer is settled in one job.
    """
    sections, unit, most = options.to_mapping(), problem.unit_cost, options.design.task_bytes

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from solve(churn_task(gathered(batches, most), unit), Options.from_mapping(sections))
        except TooLarge as what:  # before anything was answered
            yield from answer(answers.FAULT, [str(what)], [TOO_LARGE])
        except BadValues:
            yield from answer(answers.FAULT, ["changes"], [BAD_VALUES])

    parts = _rows(problem, stored)
    if isinstance(stored, StoredOverlay) and options.components.method != AUTO:
        components = kept_components(problem, stored, options.components.method, workspace)
        parts.append(_row(components, rows.COMPONENT, F.col("node_id"), F.col("topic_id"), [F.col("component")]))
    packs = [part.mapInArrow(packed, PACKED_DDL) for part in parts]
    if isinstance(stored, PackedOverlay):
        packs.append(stored.state.select("packed"))
    side_by_side([partial(workspace.hold, pack) for pack in packs])  # holding plans how a table is read
    progress("repair")
    one_task = reduce(DataFrame.union, packs).repartition(1).mapInArrow(run, answers.ANSWER_DDL)
    count = problem.subscriptions.count if isinstance(stored, PackedOverlay) else lambda: None
    settled, counted = side_by_side([partial(workspace.settle, one_task), count])
    for pack in packs:
        workspace.drop(pack)
    told = settled.where(F.col("kind").isin(answers.FACT, answers.FAULT)).collect()
    wrong: dict[str, list[str]] = {}
    for row in told:
        if row["kind"] == answers.FAULT:
            wrong.setdefault(row["b"], []).append(row["a"])
    if BAD_VALUES in wrong:
        check_changes(stored.changes)
    if wrong:
        _refuse(wrong, options)
    facts = {row["a"]: row["numbers"][0] for row in told}
    if counted not in (None, facts["subscriptions"]):
        raise FeedError(
            f"Table 'subscriptions' has {counted:,} rows, but by what the overlay was computed from and the changes "
            f"since it should have {facts['subscriptions']:,}."
        )
    return ChurnAnswer(settled, facts, unit)


def check_changes(changes: DataFrame) -> None:
    """Refuse subscriptions that came with values that no subscription may have. One job."""
    came = replace(catalog.SUBSCRIPTIONS, role="out", key=()).audit(changes.where("change > 0").drop("change"))
    found = report([came]).faults
    if found:
        raise InputError([str(fault) for fault in found])


def _refuse(wrong: dict[str, list[str]], options: Options) -> None:
    if TOO_LARGE in wrong:
        raise GuardError(
            f"Refreshing this overlay needs more memory in one task, for {', '.join(wrong[TOO_LARGE])}, than "
            f"design.task_memory = {options.design.task_memory} allows. Allow more, if your workers have it, or design "
            "the overlay anew."
        )
    if BAD_VALUES in wrong:
        raise InputError(["Table 'subscriptions' has new rows with ids that no row may have. Correct or remove them."])
    if WRONG_INPUT in wrong:
        raise InputError(wrong[WRONG_INPUT])
    if WRONG_FEED in wrong:
        raise FeedError(" ".join(wrong[WRONG_FEED]))
    if APART in wrong:
        raise InputError(wrong[APART])
    raise VerificationError(
        "The refreshed overlay is wrong, so nothing was written; this is a bug: " + "; ".join(wrong[WRONG_LINKS])
    )


def kept_components(problem: OverlayProblem, stored: StoredOverlay, method: str, workspace: Workspace) -> DataFrame:
    """(node_id, topic_id, component): the components that a stored overlay's links leave which may still be used, found
    by the method chosen. The problem is indexed for it; one shuffle by topic."""
    indexed = index_problem(problem, workspace)
    described = described_links(indexed, links_only(stored.links))
    kept = workspace.hold(described.where("src IS NOT NULL AND price IS NOT NULL AND n_shared > 0"))
    labels = topic_components(indexed, kept, method, workspace)
    named = labels.join(indexed.nodes.select("node", "node_id"), "node")
    return named.join(indexed.topics.select("topic", "topic_id"), "topic").select("node_id", "topic_id", "component")


def _rows(problem: OverlayProblem, stored: StoredOverlay | PackedOverlay) -> list[DataFrame]:
    """All that the task reads but what is packed: tables that many tasks pack, then those of a few rows a node, which
    one task packs together, because a task takes longer to begin than with these."""
    unit, costs = problem.unit_cost, problem.costs
    cost = partial(units, F.col("cost"), unit)
    large: list[DataFrame] = []
    before: list[DataFrame] = []
    if isinstance(stored, StoredOverlay):
        large, before = _rows_of_tables(problem, stored, unit)
    small = [_row(stored.changes, rows.CHANGE, F.col("node_id"), F.col("topic_id"), [F.col("change")])]
    if problem.nodes is not None:
        height = F.coalesce("height", F.lit(0.0))
        small.append(_row(problem.nodes, rows.NODE, F.col("node_id"), F.col("site"), x=height))
    if problem.nodes is not None and isinstance(costs, CoordinateCosts):
        points = problem.nodes.select("node_id", F.posexplode("coordinates").alias("dimension", "x"))
        small.append(_row(points, rows.COORDINATE, F.col("node_id"), None, [F.col("dimension")], F.col("x")))
    if isinstance(costs, ListedCosts):
        large.append(_row(costs.table, rows.LINK_COST, F.col("src"), F.col("dst"), [cost()]))
    elif isinstance(costs, SiteCosts):
        small.append(_row(costs.table, rows.SITE_COST, F.col("site_a"), F.col("site_b"), [cost()]))
    return [*large, _together(small), *([_together(before)] if before else [])]


def _rows_of_tables(
    problem: OverlayProblem, stored: StoredOverlay, unit: float
) -> tuple[list[DataFrame], list[DataFrame]]:
    """Subscriptions and a stored overlay that is not packed: the large tables, and those of a few rows a node."""
    large = [_row(problem.subscriptions, rows.SUBSCRIPTION, F.col("node_id"), F.col("topic_id"))]
    numbers = [units(F.col("cost"), unit), F.col("shared_topics"), F.col("contribution"), F.col("pick")]
    large.append(_row(stored.links, rows.LINK, F.col("src"), F.col("dst"), numbers))
    before = []
    if stored.backups is not None:
        before.append(_row(stored.backups, rows.BACKUP, F.col("node_id"), F.col("backup_id"), [F.col("layer")]))
    nodes, topics = stored.nodes, stored.topics
    of_node = [F.col("topics"), F.coalesce("part_id", F.lit(-1)), F.col("representative").cast("int")]
    before.append(_row(nodes, rows.OLD_NODE, F.col("node_id"), None, of_node))
    weighted = units(F.col("weighted_diameter"), unit)
    of_topic = [F.col("nodes"), *[F.coalesce(c, F.lit(-1)) for c in (F.col("diameter"), weighted)]]
    before.append(_row(topics, rows.OLD_TOPIC, F.col("topic_id"), None, of_topic))
    return large, before


def _row(
    frame: DataFrame,
    kind: int,
    a: Column,
    b: Column | None = None,
    numbers: Sequence[Column] = (),
    x: Column | None = None,
) -> DataFrame:
    """Rows of a kind, with those columns that it has."""
    given = {"kind": F.lit(kind), "a": a, "b": b, **dict(zip(rows.NUMBERS, numbers, strict=False)), "x": x}
    columns = [c.cast(rows.ROW[name]).alias(name) for name, c in given.items() if c is not None]
    return frame.select(*columns)


def _together(frames: list[DataFrame]) -> DataFrame:
    """The rows of all in one partition; columns that some lack are null there."""
    whole = [frame.withColumns(_nulls(frame)).select(*rows.ROW) for frame in frames]
    return reduce(DataFrame.union, whole).coalesce(1)


def _nulls(frame: DataFrame) -> dict[str, Column]:
    return {name: F.lit(None).cast(kind) for name, kind in rows.ROW.items() if name not in frame.columns}


def metrics_of(found: ChurnAnswer) -> RefreshMetrics:
    """The task's figures, costs in the user's unit."""
    facts: dict[str, Any] = dict(found.facts)
    seconds = facts.pop("microseconds") / 1e6
    facts.pop("subscriptions")
    for name in ("cost", "cost_before"):
        facts[name] = float(array_from_units(facts[name], found.unit))
    return RefreshMetrics(**facts, solve_seconds=seconds)
