"""Transport: an indexed problem as Spark tasks that each get arrays, and give back links and what they found out.

A task gets the whole problem, or one group of its nodes with what is between them. Inside a group nodes, topics and
sites are numbered anew, in the same order; outside only the whole's numbers are seen. A task may also be given the
links that are there already. Rows go in through Arrow, a kernel runs inside, answers come out typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import Costs, listed_costs, point_costs, site_costs
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.workspace import Workspace
from overlay_spark.instance import Instance, Links

SUBSCRIPTION, LINK_COST, NODE_SITE, SITE_COST, COORDINATE, HEIGHT, LINK = KINDS = range(7)
"""Kinds of rows a task reads, all of the same columns."""

ROW = {"kind": "tinyint", "a": "int", "b": "int", "value": "bigint", "real": "double"}

FACTS = pa.struct([("seconds", pa.float64()), ("lower_bound", pa.float64()), ("sum_of_trees", pa.int64())])
SOLVED_LINK = pa.struct(
    [
        ("src", pa.int32()),
        ("dst", pa.int32()),
        ("cost", pa.int64()),
        ("shared_topics", pa.int32()),
        ("contribution", pa.int32()),
        ("stage", pa.string()),
        ("pick", pa.int64()),
    ]
)
ANSWER = pa.schema([("group", pa.int32()), ("facts", FACTS), ("links", pa.list_(SOLVED_LINK))])
ANSWER_DDL = (
    "group int, facts struct<seconds: double, lower_bound: double, sum_of_trees: bigint>, links array<struct<src: int, "
    "dst: int, cost: bigint, shared_topics: int, contribution: int, stage: string, pick: bigint>>"
)
LINKS_A_ROW = 1 << 16
"""An answer is several rows where it has more links than this."""


class TaskFacts(NamedTuple):
    """What a task found out besides its links: seconds in the algorithm, and what the algorithm proved, in units."""

    seconds: float
    lower_bound: float | None = None
    sum_of_trees: int | None = None


@dataclass(frozen=True)
class Task:
    """What a task works on: a problem as arrays, and the links that are there already, in pick order."""

    instance: Instance
    links: Links


@dataclass(frozen=True)
class Answer:
    """What a task gives back; ``stage`` is that of links that were not there already, whose own stays."""

    links: Links
    stage: str | None
    facts: TaskFacts


Work = Callable[[Task], Answer]


class Answers:
    """The answers of all tasks, settled."""

    def __init__(self, rows: DataFrame):
        self._rows = rows

    @property
    def links(self) -> DataFrame:
        """(group, src, dst, cost, shared_topics, contribution, stage, pick); stage is null for links given before."""
        return self._rows.select("group", F.explode("links").alias("link")).select("group", "link.*")

    def facts(self) -> dict[int, TaskFacts]:
        """What each group's task found out; one row a group is collected."""
        told = self._rows.where("facts IS NOT NULL").select("group", "facts.*").collect()
        return {row["group"]: TaskFacts(row["seconds"], row["lower_bound"], row["sum_of_trees"]) for row in told}


def in_one_task(problem: IndexedProblem, work: Work, workspace: Workspace, links: DataFrame | None = None) -> Answers:
    """Run ``work`` on the whole problem, with the ``links`` (src, dst, pick) that are there.

    One shuffle into one task, which holds the whole problem. The answer depends neither on row order nor on
    partitioning.
    """
    n_nodes, n_topics, unit = problem.n_nodes, problem.n_topics, problem.unit

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = task_from(by_kind(pa.Table.from_batches(batches)), n_nodes, n_topics, unit)
        yield from answer_rows(0, task, work(task))

    rows = _rows(problem, links).repartition(1)
    return Answers(workspace.settle(rows.mapInArrow(run, ANSWER_DDL)))


def in_groups(
    problem: IndexedProblem, groups: DataFrame, work: Work, workspace: Workspace, links: DataFrame | None = None
) -> Answers:
    """Run ``work`` once for each group of nodes, on what is wanted, linked and priced inside it.

    ``groups`` has rows (group, node); a node may be in several. One shuffle, by group; a task holds one group. The
    answers depend neither on row order nor on partitioning.
    """
    unit = problem.unit

    def run(rows: pa.Table) -> pa.Table:
        own, nodes, topics = _renumbered(by_kind(rows))
        task = task_from(own, len(nodes), len(topics), unit)
        group = rows.column("group")[0].as_py()
        return pa.Table.from_batches(answer_rows(group, task, work(task), nodes.astype(np.int32)), ANSWER)

    grouped = _rows(problem, links, groups).groupBy("group").applyInArrow(run, ANSWER_DDL)
    return Answers(workspace.settle(grouped))


def _row(
    frame: DataFrame, kind: int, a: str, b: str | None, value: str | None = None, real: str | None = None
) -> DataFrame:
    columns = [F.lit(kind), *[F.col(c) if c else F.lit(0) for c in (a, b, value, real)]]
    cast = [c.cast(type).alias(name) for c, (name, type) in zip(columns, ROW.items(), strict=True)]
    return frame.select(*cast, *[c for c in frame.columns if c == "group"])


def _rows(problem: IndexedProblem, links: DataFrame | None, groups: DataFrame | None = None) -> DataFrame:
    """All that tasks read; with groups, once for each group of a node, and of both ends of a pair."""

    def of_nodes(frame: DataFrame) -> DataFrame:
        return frame if groups is None else frame.join(groups, "node")

    def of_pairs(pairs: DataFrame, a: str, b: str, ends: DataFrame, end: str) -> DataFrame:
        if groups is None:
            return pairs
        return pairs.join(ends.withColumnRenamed(end, a), a).join(ends.withColumnRenamed(end, b), ["group", b])

    nodes = of_nodes(problem.nodes)
    ends = nodes if groups is None else groups
    rows = [_row(of_nodes(problem.members), SUBSCRIPTION, "node", "topic")]
    if problem.link_costs is not None:
        listed = of_pairs(problem.link_costs, "src", "dst", ends, "node")
        rows.append(_row(listed, LINK_COST, "src", "dst", "cost"))
    elif problem.site_costs is not None:
        used = nodes if groups is None else nodes.select("group", "site").distinct()
        sites = of_pairs(problem.site_costs, "site_a", "site_b", used, "site")
        rows += [_row(nodes, NODE_SITE, "node", "site"), _row(sites, SITE_COST, "site_a", "site_b", "cost")]
    else:
        placed = nodes.select("*", F.posexplode("coordinates").alias("dimension", "x"))
        rows += [_row(placed, COORDINATE, "node", "dimension", real="x")]
        rows += [_row(nodes, HEIGHT, "node", None, real="height")]
    if links is not None:
        rows.append(_row(of_pairs(links, "src", "dst", ends, "node"), LINK, "src", "dst", "pick"))
    return reduce(DataFrame.union, rows)


Rows = dict[int, list[NDArray[Any]]]
"""The rows of a task as arrays (a, b, value, real), by kind."""


def by_kind(rows: pa.Table) -> Rows:
    columns = {name: rows.column(name).to_numpy() for name in ROW}
    kinds = [(kind, columns["kind"] == kind) for kind in KINDS]
    return {kind: [columns[name][chosen] for name in ("a", "b", "value", "real")] for kind, chosen in kinds}


def _renumbered(rows: Rows) -> tuple[Rows, NDArray[Any], NDArray[Any]]:
    """The rows in numbers of their own, and which nodes and topics those are; rows of nodes without topics go."""
    node, topic, *others = rows[SUBSCRIPTION]
    nodes, topics = np.unique(node), np.unique(topic)
    own: Rows = {SUBSCRIPTION: [np.searchsorted(nodes, node), np.searchsorted(topics, topic), *others]}
    for kind in (LINK_COST, LINK):
        own[kind] = _numbered(rows[kind], nodes, nodes)
    for kind in (COORDINATE, HEIGHT, NODE_SITE):
        own[kind] = _numbered(rows[kind], nodes, None)
    sites = np.unique(own[NODE_SITE][1])
    own[NODE_SITE] = _numbered(own[NODE_SITE], None, sites)
    own[SITE_COST] = _numbered(rows[SITE_COST], sites, sites)
    return own, nodes, topics


def _numbered(columns: list[NDArray[Any]], of_a: NDArray[Any] | None, of_b: NDArray[Any] | None) -> list[NDArray[Any]]:
    """Rows whose a and b are among these, as their places; None leaves a column as it is."""
    known = np.ones(len(columns[0]), bool)
    for column, numbers in zip(columns, (of_a, of_b), strict=False):
        known &= True if numbers is None else np.isin(column, numbers)
    a, b, *others = (column[known] for column in columns)
    return [
        a if of_a is None else np.searchsorted(of_a, a),
        b if of_b is None else np.searchsorted(of_b, b),
        *others,
    ]


def task_from(rows: Rows, n_nodes: int, n_topics: int, unit: float) -> Task:
    """Arrays from rows in any order."""
    nodes, topics, _, _ = rows[SUBSCRIPTION]
    instance = Instance.from_pairs(n_nodes, n_topics, nodes, topics, _costs(rows, n_nodes, unit))
    src, dst, pick, _ = rows[LINK]
    order = np.argsort(pick)
    return Task(instance, instance.links_between(src[order], dst[order]))


def _costs(rows: Rows, n_nodes: int, unit: float) -> Costs:
    node, _, _, height = rows[HEIGHT]
    if len(node):
        heights = np.empty(n_nodes)
        heights[node] = height
        node, dimension, _, x = rows[COORDINATE]
        points = np.empty((n_nodes, int(dimension.max()) + 1))
        points[node, dimension] = x
        return point_costs(points, heights, unit)
    node, site, _, _ = rows[NODE_SITE]
    if len(node):
        sites = np.empty(n_nodes, np.int32)
        sites[node] = site
        table = np.zeros((int(site.max()) + 1,) * 2, np.int64)
        site_a, site_b, value, _ = rows[SITE_COST]
        table[site_a, site_b] = value
        return site_costs(sites, table)
    return listed_costs(*rows[LINK_COST][:3])


def answer_rows(group: int, task: Task, answer: Answer, nodes: NDArray[Any] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows of ``ANSWER``: the facts with the first links; links carry the whole's numbers, which ``nodes`` gives."""
    from overlay_spark.kernels.components import shared_counts

    links, n = answer.links, len(answer.links)
    shared = shared_counts(task.instance.offsets, task.instance.topics, links.src, links.dst)
    new = ~np.isin(_pair_numbers(links, task.instance), _pair_numbers(task.links, task.instance))
    src, dst = (links.src, links.dst) if nodes is None else (nodes[links.src], nodes[links.dst])
    stage = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8), mask=~new), [answer.stage or ""])
    columns = [src, dst, links.cost, shared, links.contribution, stage.cast(pa.string()), np.arange(n)]
    rows = pa.StructArray.from_arrays(
        [pa.array(c, field.type) for c, field in zip(columns, SOLVED_LINK, strict=True)], fields=list(SOLVED_LINK)
    )
    for start in range(0, max(n, 1), LINKS_A_ROW):
        part = rows[start : start + LINKS_A_ROW]
        links_of_row = pa.ListArray.from_arrays([0, len(part)], part)
        facts = pa.array([None if start else answer.facts._asdict()], FACTS)
        yield pa.RecordBatch.from_arrays([pa.array([group], pa.int32()), facts, links_of_row], schema=ANSWER)


def _pair_numbers(links: Links, instance: Instance) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = links.src.astype(np.int64) * instance.n_nodes + links.dst
    return numbers
