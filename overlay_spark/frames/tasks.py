"""Transport: an indexed problem as Spark tasks that each get arrays, and give back links and what they found out.

A task gets the whole problem, or one group of its nodes with what is between them. Inside a group nodes, topics and
sites are numbered anew, in the same order; outside only the whole's numbers are seen. A task may also be given the
links that are there already, or the components that are. Rows go in through Arrow, a kernel runs inside, answers come
out typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.answers import ANSWER, ANSWER_DDL, Answer, Answers, answer_rows
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.task_rows import (
    LINK,
    LINK_COST,
    NODE,
    ROW,
    SITE_COST,
    TOPIC,
    Task,
    group_task,
    indexed_task,
    whole_task,
)
from overlay_spark.frames.workspace import ROWS_A_PART, Workspace

SPREAD, LEAST_TASKS, WANTED_A_TASK = 4, 8, 200_000
"""Groups are spread by hash over so many times as many tasks as there are groups, over this many, or over as many as
their subscriptions are worth: a task costs a tenth of a second in Python, whatever it does."""


Work = Callable[[Task], Answer]


def in_one_task(problem: IndexedProblem, work: Work, workspace: Workspace, links: DataFrame | None = None) -> Answers:
    """Run ``work`` on the whole problem, with the ``links`` (src, dst, pick) that are there.

    One shuffle into one task, which holds the whole problem; none where one task has indexed it. The answer depends
    neither on row order nor on partitioning.
    """
    n_nodes, n_topics, unit, priced_by = problem.n_nodes, problem.n_topics, problem.unit, problem.priced_by

    def go_on(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = indexed_task(pa.Table.from_batches(batches), priced_by, unit)
        yield from answer_rows(0, task, work(task))

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = whole_task(pa.Table.from_batches(batches), n_nodes, n_topics, unit)
        yield from answer_rows(0, task, work(task))

    if problem.packed is not None and links is None:
        return Answers(workspace.settle(problem.packed.drop("facts").coalesce(1).mapInArrow(go_on, ANSWER_DDL)))
    rows = _rows(problem, links).repartition(1)
    return Answers(workspace.settle(rows.mapInArrow(run, ANSWER_DDL)))


def in_groups(problem: IndexedProblem, groups: Groups, work: Work, workspace: Workspace) -> Answers:
    """Run ``work`` once for each group of nodes, on what is wanted, linked and priced inside it.

    A node may be in several groups. One shuffle, by group; a task holds one group at a time. The answers depend neither
    on row order nor on partitioning.
    """
    unit = problem.unit

    def run(rows: pa.Table) -> pa.Table:
        return _answered(rows, unit, work)

    spread = _rows(problem, None, groups).repartition(groups.n_tasks, "group")
    answers = spread.groupBy("group").applyInArrow(run, ANSWER_DDL)
    return Answers(workspace.settle(answers, groups.n_tasks * ROWS_A_PART))  # as many partitions as tasks


def on_driver(problem: IndexedProblem, groups: Groups, work: Work) -> Answers:
    """Run ``work`` for the one group there is on the driver, which holds it meanwhile."""
    answered = _answered(_rows(problem, None, groups).toArrow(), problem.unit, work)
    return Answers(problem.nodes.sparkSession.createDataFrame(answered, ANSWER_DDL))


def _answered(rows: pa.Table, unit: float, work: Work) -> pa.Table:
    """The answer of one group, from its rows."""
    task = group_task(rows, unit)
    return pa.Table.from_batches(answer_rows(rows.column("group")[0].as_py(), task, work(task)), ANSWER)


@dataclass(frozen=True)
class Groups:
    """Groups of nodes: ``nodes`` has rows (group, node), ``count`` of them are different groups.

    Where it has ``components`` too, side by side with ``topics``, these are what the nodes want, and else all that the
    problem says; ``n_wanted`` is about how much that is in all. ``beyond`` (group, topic) says which topics are wanted
    outside their group too.
    """

    nodes: DataFrame
    count: int
    n_wanted: int
    beyond: DataFrame | None = None

    @property
    def n_tasks(self) -> int:
        """Few enough to be worth their start, and enough that groups which meet in one do not hold up the others."""
        return min(SPREAD * self.count, max(LEAST_TASKS, self.n_wanted // WANTED_A_TASK))


def _rows(problem: IndexedProblem, links: DataFrame | None, groups: Groups | None = None) -> DataFrame:
    """All that tasks read; with groups, once for each group of a node, and of both ends of a pair."""

    def of_pairs(pairs: DataFrame, a: str, b: str, ends: DataFrame, end: str) -> DataFrame:
        if groups is None:
            return pairs
        return pairs.join(ends.withColumnRenamed(end, a), a).join(ends.withColumnRenamed(end, b), ["group", b])

    nodes = problem.nodes if groups is None else _nodes_in(problem, groups)
    ends = nodes.select(*[c for c in nodes.columns if c in ("group", "node")])
    wants = {c: c for c in ("topics", "components") if c in nodes.columns}
    if problem.link_costs is not None:
        listed = of_pairs(problem.link_costs, "src", "dst", ends, "node")
        rows = [_row(nodes, NODE, a="node", **wants), _row(listed, LINK_COST, a="src", b="dst", value="cost")]
    elif problem.site_costs is not None:
        used = nodes if groups is None else nodes.select("group", "site").distinct()
        sites = of_pairs(problem.site_costs, "site_a", "site_b", used, "site")
        rows = [_row(nodes, NODE, a="node", b="site", **wants)]
        rows.append(_row(sites, SITE_COST, a="site_a", b="site_b", value="cost"))
    else:
        rows = [_row(nodes, NODE, a="node", real="height", point="coordinates", **wants)]
    if links is not None:
        rows.append(_row(links, LINK, a="src", b="dst", value="pick"))
    if groups is not None and groups.beyond is not None:
        rows.append(_row(groups.beyond, TOPIC, a="topic"))
    return reduce(DataFrame.union, rows)


def _nodes_in(problem: IndexedProblem, groups: Groups) -> DataFrame:
    """The nodes of groups, with what they want there. One join by node."""
    replaced = [c for c in groups.nodes.columns if c in ("topics", "components")]
    return problem.nodes.drop(*replaced).join(groups.nodes, "node")


def _row(frame: DataFrame, kind: int, **columns: str) -> DataFrame:
    """Rows of a kind with these columns; others are -1, or empty lists."""
    given = {"kind": F.lit(kind), **{name: F.col(column) for name, column in columns.items()}}
    chosen = [
        given.get(name, F.array() if type.startswith("array") else F.lit(-1)).cast(type).alias(name)
        for name, type in ROW.items()
    ]
    return frame.select(*chosen, *[c for c in frame.columns if c == "group"])
