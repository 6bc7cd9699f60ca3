"""What tasks give back, as rows: links and what was found out, and who stands for a group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.task_rows import Task
from overlay_spark.instance import Instance, Links

FACTS = pa.struct(
    [
        ("seconds", pa.float64()),
        ("lower_bound", pa.float64()),
        ("sum_of_trees", pa.int64()),
        ("links", pa.int64()),
        ("chosen", pa.int64()),
        ("wanted", pa.int64()),
    ]
)
STANDING = pa.struct([("node", pa.int32()), ("topics", pa.list_(pa.int32())), ("components", pa.list_(pa.int32()))])
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
ANSWER = pa.schema(
    [
        ("group", pa.int32()),
        ("facts", FACTS),
        ("links", pa.list_(SOLVED_LINK)),
        ("standing", pa.list_(STANDING)),
    ]
)
ANSWER_DDL = (
    "group int, facts struct<seconds: double, lower_bound: double, sum_of_trees: bigint, links: bigint, "
    "chosen: bigint, wanted: bigint>, links array<struct<src: int, dst: int, cost: bigint, shared_topics: int, "
    "contribution: int, stage: string, pick: bigint>>, standing array<struct<node: int, topics: "
    "array<int>, components: array<int>>>"
)
ITEMS_A_ROW = 1 << 16
"""An answer is several rows where it has more links or subscriptions of representatives than this."""


class TaskFacts(NamedTuple):
    """What a task found out besides its links: seconds in the algorithm, and what the algorithm proved, in units.

    How many ``links`` there are, how many representatives were ``chosen``, and how many subscriptions these have
    (``wanted``), is counted when the answer is given.
    """

    seconds: float
    lower_bound: float | None = None
    sum_of_trees: int | None = None
    links: int = 0
    chosen: int = 0
    wanted: int = 0


class Standing(NamedTuple):
    """Nodes that stand for a group, and the component of each subscription in it, by its least node."""

    nodes: NDArray[np.int32]
    components: NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """What a task gives back; ``stage`` is that of links that were not there already, whose own stays.

    ``standing`` are the group's representatives, with components in the numbers of the whole.
    """

    links: Links
    stage: str | None
    facts: TaskFacts
    standing: Standing | None = None


class Answers:
    """The answers of all tasks, settled."""

    def __init__(self, rows: DataFrame):
        self._rows = rows

    @property
    def links(self) -> DataFrame:
        """(group, src, dst, cost, shared_topics, contribution, stage, pick); stage is null for links given before."""
        return self._rows.select("group", F.explode("links").alias("link")).select("group", "link.*")

    @property
    def standing(self) -> DataFrame:
        """(group, node, topics, components): each group's representatives, with the component of each topic."""
        return self._rows.select("group", F.explode("standing").alias("at")).select("group", "at.*")

    def facts(self) -> dict[int, TaskFacts]:
        """What each group's task found out; one row a group is collected."""
        told = self._rows.where("facts IS NOT NULL").select("group", "facts.*").collect()
        return {row["group"]: TaskFacts(*[row[name] for name in TaskFacts._fields]) for row in told}


def answer_rows(group: int, task: Task, answer: Answer) -> Iterator[pa.RecordBatch]:
    """Rows of ``ANSWER``, the facts with the first; numbers are the whole's."""
    links, standing = _link_items(task, answer), _standing_items(task, answer.standing)
    wanted = len(standing.field("topics").flatten())
    facts = answer.facts._replace(links=len(links), chosen=len(standing), wanted=wanted)
    for start in range(0, max(len(links), len(standing), 1), ITEMS_A_ROW):
        row = [pa.array([group], pa.int32()), pa.array([None if start else facts._asdict()], FACTS)]
        for items in (links, standing):
            part = items[start : start + ITEMS_A_ROW]
            row.append(pa.ListArray.from_arrays([0, len(part)], part))
        yield pa.RecordBatch.from_arrays(row, schema=ANSWER)


def _link_items(task: Task, answer: Answer) -> pa.StructArray:
    from overlay_spark.kernels.components import shared_counts

    links, n = answer.links, len(answer.links)
    shared = shared_counts(task.instance.offsets, task.instance.topics, links.src, links.dst)
    new = ~np.isin(_pair_numbers(links, task.instance), _pair_numbers(task.links, task.instance))
    src, dst = (ends if task.nodes is None else task.nodes[ends] for ends in (links.src, links.dst))
    stage = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8), mask=~new), [answer.stage or ""])
    columns = [src, dst, links.cost, shared, links.contribution, stage.cast(pa.string()), np.arange(n)]
    arrays = [pa.array(c, field.type) for c, field in zip(columns, SOLVED_LINK, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(SOLVED_LINK))


def _standing_items(task: Task, standing: Standing | None) -> pa.StructArray:
    if standing is None:
        return pa.array([], STANDING)
    instance, chosen = task.instance, np.sort(standing.nodes)
    at = np.isin(instance.nodes, chosen)
    offsets = pa.array(np.concatenate([[0], np.cumsum(np.diff(instance.offsets)[chosen])]), pa.int32())
    topics = instance.topics[at] if task.topics is None else task.topics[instance.topics[at]]
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(items, pa.int32())) for items in (topics, standing.components[at])
    ]
    nodes = pa.array(chosen if task.nodes is None else task.nodes[chosen], pa.int32())
    return pa.StructArray.from_arrays([nodes, *lists], fields=list(STANDING))


def _pair_numbers(links: Links, instance: Instance) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = links.src.astype(np.int64) * instance.n_nodes + links.dst
    return numbers
