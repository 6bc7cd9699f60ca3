"""What is done to an overlay once an engine has computed it, and the bounds that are computed beside it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import find, find_bound, find_step
from overlay_spark.engines import Solved
from overlay_spark.frames.answers import Answer, TaskFacts
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.task_rows import Task
from overlay_spark.frames.tasks import in_one_task
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import Options


def follow(problem: IndexedProblem, solved: Solved, options: Options, workspace: Workspace) -> Solved:
    """Take the steps of ``design.then``, one after the other, each in a task that holds the whole problem.

    Links keep the stage they were picked in; those that a step adds have the step's.
    """
    for name in options.design.then:
        links, facts = _taken(problem, solved.links, name, options, workspace)
        solved = replace(solved, links=links, facts=solved.facts._replace(seconds=solved.facts.seconds + facts.seconds))
    return solved


def _taken(
    problem: IndexedProblem, links: DataFrame, name: str, options: Options, workspace: Workspace
) -> tuple[DataFrame, TaskFacts]:
    sections = options.to_mapping()

    def work(task: Task) -> Answer:
        step, started = find_step(name), time.perf_counter()
        found = step(task.instance, task.links, Options.from_mapping(sections))
        return Answer(found, step.stage, TaskFacts(time.perf_counter() - started))

    answers = in_one_task(problem, work, workspace, links)
    before = links.select("src", "dst", F.col("stage").alias("before"))
    told = answers.links.join(before, ["src", "dst"], "left")
    kept = told.withColumn("stage", F.coalesce("stage", "before")).select(*links.columns)
    return kept, answers.facts()[0]


class Proved(NamedTuple):
    """A cost in units that no overlay can beat, and which bound it is."""

    value: float
    says: str


def lower_bound(problem: IndexedProblem, solved: Solved, options: Options, workspace: Workspace) -> Proved | None:
    """The bound that the algorithm proves itself, else that of ``design.bound``, computed in a task of its own."""
    own, asked = find(options.design.algorithm).proves, options.design.bound
    if own is not None and solved.facts.lower_bound is not None:
        return Proved(solved.facts.lower_bound, find_bound(own).says)
    if asked is None:
        return None
    bound, sections = find_bound(asked), options.to_mapping()

    def work(task: Task) -> Answer:
        proved = find(bound.algorithm)(task.instance, Options.from_mapping(sections))
        return Answer(task.links, None, TaskFacts(0.0, proved.lower_bound))

    found = in_one_task(problem, work, workspace).facts()[0].lower_bound
    assert found is not None
    return Proved(found, bound.says)
