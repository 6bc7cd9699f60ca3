"""The whole problem in one compiled task over arrays, for problems that a task can hold."""

from __future__ import annotations

import time

from overlay_spark.algorithms.registry import Algorithm, find
from overlay_spark.engines import Solved
from overlay_spark.frames.answers import Answer, TaskFacts
from overlay_spark.frames.estimates import Size
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.task_rows import Task
from overlay_spark.frames.tasks import in_one_task
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import Options

STAGE = "single"


class KernelEngine:
    """See the module."""

    name = "kernel"
    takes_steps = False

    def has(self, algorithm: Algorithm) -> bool:
        return True

    def size(self, whole: Size, problem: IndexedProblem, options: Options) -> Size:
        return whole

    def refusal(self, size: Size, options: Options) -> str | None:
        if size.task_bytes <= options.design.task_bytes:
            return None
        enough = f"{-(-size.task_bytes // 2**20)}m" if size.task_bytes < 2**30 else f"{-(-size.task_bytes // 2**30)}g"
        fewer = size.nodes_within(options.design.task_bytes)
        advice = f", or design at most about {fewer:,} such nodes at a time" if fewer else ""
        return (
            f"This problem is too large for one task: {size.say()}; solving it needs about "
            f"{size.task_bytes / 2**30:.1f} GiB, and design.task_memory allows {options.design.task_memory}. It would "
            f"fit with design.task_memory = {enough}, if your workers have that much to spare{advice}"
            f"{', or list fewer links' if size.listed else ''}."
        )

    def solve(self, problem: IndexedProblem, options: Options, workspace: Workspace) -> Solved:
        """One shuffle into one task; its answer is settled."""
        sections = options.to_mapping()

        def work(task: Task) -> Answer:
            return solve_instance(task, Options.from_mapping(sections))

        answers = in_one_task(problem, work, workspace)
        return Solved(answers.links.drop("group"), answers.facts()[0])


def solve_instance(task: Task, options: Options) -> Answer:
    """Run the algorithm on a task's arrays, beyond the links that are there."""
    started = time.perf_counter()
    links = find(options.design.algorithm)(task.instance, options, task.links if len(task.links) else None)
    facts = TaskFacts(time.perf_counter() - started, links.lower_bound, links.sum_of_trees)
    return Answer(links, STAGE, facts)


ENGINE = KernelEngine()
