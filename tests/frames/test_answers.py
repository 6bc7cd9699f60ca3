"""Answers as rows: all links and all who stand for a group, in the whole's numbers, however many rows that takes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from overlay_spark.frames.answers import ANSWER, ANSWER_DDL, ITEMS_A_ROW, Answer, Standing, TaskFacts, answer_rows
from overlay_spark.frames.task_rows import Task
from tests import checks


def test_answer__of_many_links_is_several_rows_with_the_facts_in_the_first():
    instance = checks.instance_of([[0]] * 400, 1)
    src, dst = np.triu_indices(400, 1)
    links = instance.links_between(src, dst)
    assert len(links) > ITEMS_A_ROW
    task = Task(instance, links.take(np.arange(1)))
    rows = pa.Table.from_batches(answer_rows(4, task, Answer(links, "s", TaskFacts(1.0))), ANSWER)
    assert rows.column("group").to_pylist() == [4, 4]
    assert [facts and facts["seconds"] for facts in rows.column("facts").to_pylist()] == [1.0, None]
    told = [link for part in rows.column("links").to_pylist() for link in part]
    assert [(link["src"], link["dst"]) for link in told] == links.pairs()
    assert [link["stage"] for link in told] == [None] + ["s"] * (len(links) - 1)
    assert [link["pick"] for link in told] == list(range(len(links)))


def test_answer__without_links_still_tells_its_facts():
    instance = checks.instance_of([[0]], 1)
    nothing = instance.links_between(np.empty(0), np.empty(0))
    facts = TaskFacts(1.0, None, 3)
    rows = pa.Table.from_batches(answer_rows(0, Task(instance, nothing), Answer(nothing, "s", facts)), ANSWER)
    assert rows.to_pylist() == [{"group": 0, "facts": facts._asdict(), "links": [], "standing": []}]


@pytest.mark.spark
def test_answer__has_one_schema_in_arrow_and_in_spark(spark):
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    assert from_arrow_schema(ANSWER).simpleString() == StructType.fromDDL(ANSWER_DDL).simpleString()


def test_standing__is_told_in_the_whole_s_numbers():
    instance = checks.instance_of([[0, 1], [1], [0, 2]], 3)
    nothing = instance.links_between(np.empty(0), np.empty(0))
    task = Task(instance, nothing, nodes=np.array([10, 20, 30], np.int32), topics=np.array([5, 6, 7], np.int32))
    answer = Answer(nothing, "s", TaskFacts(0.0), Standing(np.array([2, 0], np.int32), np.array([1, 2, 3, 4, 5])))
    (row,) = pa.Table.from_batches(answer_rows(8, task, answer), ANSWER).to_pylist()
    assert row["standing"] == [
        {"node": 10, "topics": [5, 6], "components": [1, 2]},
        {"node": 30, "topics": [5, 7], "components": [4, 5]},
    ]
    assert (row["group"], row["facts"]["chosen"], row["facts"]["wanted"]) == (8, 2, 4)
