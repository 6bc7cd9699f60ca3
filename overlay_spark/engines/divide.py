"""Divide and conquer: parts are solved in tasks and joined through representatives, the last time on the driver."""

from __future__ import annotations

import logging
import time
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.divide_conquer import components_of, join_parts, representatives
from overlay_spark.algorithms.registry import Algorithm, find, find_step
from overlay_spark.engines import Solved
from overlay_spark.errors import GuardError
from overlay_spark.frames.answers import Answer, Answers, Standing, TaskFacts
from overlay_spark.frames.combine import Represented
from overlay_spark.frames.divide import Parts, divide
from overlay_spark.frames.estimates import Size, exact_size, known_size
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.part_sizes import bytes_of_task, size_in_parts
from overlay_spark.frames.task_rows import Task
from overlay_spark.frames.tasks import Groups, in_groups, on_driver
from overlay_spark.frames.widening import Apart, apart_after
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import Options

log = logging.getLogger(__name__)

INNER, DRIVER, WIDENED = "inner", "driver", "widened"
"""Stages of links beside level-1, level-2, ...: inside parts, between the last groups, and where representatives could
not be linked."""
MOST_COSTS_ON_DRIVER = 5_000_000
"""So many costs of links or between sites pass through the driver at most, some 40 bytes each."""
WIDER = 4
"""How many times as many representatives are tried before all nodes of the parts are."""


class DivideEngine:
    """See the module."""

    name = "divide"
    takes_steps = True

    def has(self, algorithm: Algorithm) -> bool:
        return True

    def size(self, whole: Size, problem: IndexedProblem, options: Options) -> Size:
        return size_in_parts(whole, options)

    def refusal(self, size: Size, options: Options) -> str | None:
        if size.task_bytes <= options.design.task_bytes:
            return None
        return (
            f"This problem is too large to solve in parts of {options.divide.part_nodes:,} nodes: {size.say()}; a task "
            f"would need about {size.task_bytes / 2**30:.1f} GiB, and design.task_memory allows "
            f"{options.design.task_memory}. Lower divide.part_nodes and divide.join_nodes, or raise design.task_memory."
        )

    def solve(self, problem: IndexedProblem, options: Options, workspace: Workspace) -> Solved:
        """Divide, conquer, combine; and where listed links do not let representatives meet, look further."""
        return Conquest(problem, options, workspace).run()


class Conquest:
    """Divide and conquer under way. The driver holds a few numbers for each part, and the last join."""

    def __init__(self, problem: IndexedProblem, options: Options, workspace: Workspace):
        self._problem, self._options, self._workspace = problem, options, workspace
        self._seconds, self._n_links = 0.0, 0
        self._links: list[DataFrame] = []
        self._levels = 0
        self._size, self._counted = known_size(problem, options), False

    def run(self) -> Solved:
        """All of it."""
        parts = divide(self._problem, self._options.divide, self._options.design.seed, self._workspace)
        standing = self._conquer(parts)
        represents = standing.standing.select("node").distinct().withColumn("representative", F.lit(len(parts) > 1))
        while len(standing) > 1:
            standing = self._joined(standing)
        if self._problem.link_costs is not None and len(parts) > 1:
            self._widen()
        links = reduce(DataFrame.union, self._links)  # of answers, which are settled
        flagged = parts.nodes.join(represents, "node", "left")
        told = flagged.select("node", "part", F.coalesce("representative", F.lit(False)).alias("representative"))
        return Solved(links, TaskFacts(self._seconds), self._workspace.settle(told))

    def _conquer(self, parts: Parts) -> Represented:
        """Solve each part by itself, steps included, and choose who stands for it."""
        self._require_room(parts.sizes, parts.wanted, "a part", "divide.part_nodes")
        sections = self._options.to_mapping()

        def work(task: Task) -> Answer:
            return solve_part(task, Options.from_mapping(sections))

        groups = Groups(parts.nodes.withColumnRenamed("part", "group"), len(parts), self._problem.n_subscriptions)
        answers = in_groups(self._problem, groups, work, self._workspace)
        log.info("Solved %d parts.", len(parts))
        return self._taken(answers, parts.places)

    def _joined(self, standing: Represented) -> Represented:
        """Join near groups in tasks; the last few on the driver, unless that is more than it should be given."""
        labels = standing.groups(self._options.divide)
        nodes, wanted, places = standing.summed(labels)
        self._require_room(
            nodes, wanted, "joining groups of parts", "divide.join_nodes, divide.copies or divide.part_nodes"
        )
        last = len(places) == 1 and self._is_for_the_driver(int(nodes[0]), len(standing))
        self._levels += 1
        stage, sections = DRIVER if last else f"level-{self._levels}", self._options.to_mapping()

        def work(task: Task) -> Answer:
            return join_groups(task, Options.from_mapping(sections), stage, last)

        groups = standing.together(labels)
        if last:
            answers = on_driver(self._problem, groups, work)
        else:
            answers = in_groups(self._problem, groups, work, self._workspace)
        log.info("Joined %d groups into %d through %d representatives.", len(standing), len(places), nodes.sum())
        return self._taken(answers, places)

    def _is_for_the_driver(self, n_nodes: int, n_groups: int) -> bool:
        """Whether it may join so many representatives of so many groups, and hold what their links cost."""
        options, pairs = self._options.divide, n_nodes * n_nodes
        costs = min(pairs, max(self._problem.n_site_pairs, self._problem.n_listed or 0))
        return n_nodes <= options.join_nodes and n_groups <= options.join_parts and costs <= MOST_COSTS_ON_DRIVER

    def _taken(self, answers: Answers, places: NDArray[np.float64]) -> Represented:
        """Keep the links of an answer, numbered after those before; give back who stands for its groups."""
        facts = answers.facts()
        groups = sorted(facts)
        counts = np.array([facts[group].links for group in groups], np.int64)
        told = pa.table(
            {
                "group": pa.array(groups, pa.int32()),
                "first": pa.array(self._n_links + np.cumsum(counts) - counts, pa.int64()),
            }
        )
        firsts = F.broadcast(self._problem.nodes.sparkSession.createDataFrame(told))
        pick = (F.col("pick") + F.col("first")).alias("pick")
        links = answers.links.join(firsts, "group")
        self._links.append(links.select(*[pick if c == "pick" else c for c in links.columns[1:-1]]))
        self._n_links += int(counts.sum())
        self._seconds += sum(fact.seconds for fact in facts.values())
        return Represented.by(answers, facts, places)

    def _widen(self) -> None:
        """Listed links may leave representatives of a topic apart whose parts could be linked: look among more nodes.

        First among a few times as many, then among all that a listed link could join to another piece. What is still
        apart cannot be connected at all: the proof will say which.
        """
        for copies in (WIDER * self._options.divide.copies, None):
            links = reduce(DataFrame.union, self._links)
            apart = apart_after(self._problem, links, copies, self._options.components, self._workspace)
            if apart is None:
                return
            self._require_room(np.array([apart.n_nodes]), np.array([apart.n_wanted]), "topics still apart", "")
            self._taken(self._linked(apart), np.zeros((1, 0)))

    def _linked(self, apart: Apart) -> Answers:
        sections = self._options.to_mapping()

        def work(task: Task) -> Answer:
            return join_groups(task, Options.from_mapping(sections), WIDENED, True)

        return in_groups(self._problem, apart.groups, work, self._workspace)

    def _require_room(self, nodes: NDArray[np.int64], wanted: NDArray[np.int64], what: str, lower: str) -> None:
        """Refuse a task that would not fit, with its numbers; with candidates counted first, in one job."""
        sizes = [bytes_of_task(self._size, int(n), int(m)) for n, m in zip(nodes, wanted, strict=True)]
        if max(sizes) > self._options.design.task_bytes and not self._counted:
            self._size, self._counted = exact_size(self._problem, self._options), True
            sizes = [bytes_of_task(self._size, int(n), int(m)) for n, m in zip(nodes, wanted, strict=True)]
        largest = int(np.argmax(sizes))
        if sizes[largest] > self._options.design.task_bytes:
            advice = f"Lower {lower}, or raise design.task_memory." if lower else "Raise design.task_memory."
            raise GuardError(
                f"A task of {nodes[largest]:,} nodes with {wanted[largest]:,} subscriptions ({what}) would need about "
                f"{sizes[largest] / 2**30:.1f} GiB, and design.task_memory allows {self._options.design.task_memory}. "
                f"{advice}"
            )


def solve_part(task: Task, options: Options) -> Answer:
    """The algorithm and all steps on a part, and its representatives."""
    started = time.perf_counter()
    instance = task.instance
    links = find(options.design.algorithm)(instance, options)
    for name in options.design.then:
        links = find_step(name)(instance, links, options)
    components = components_of(instance, links)
    chosen = representatives(instance, components, options.divide.copies, options.divide.cover, links)
    return Answer(links, INNER, TaskFacts(time.perf_counter() - started), Standing(chosen, in_whole(task, components)))


def in_whole(task: Task, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Nodes of a group in the whole's numbers."""
    return nodes if task.nodes is None else task.nodes[nodes]


def join_groups(task: Task, options: Options, stage: str, last: bool) -> Answer:
    """Greedy between the components there are, and representatives of what becomes of them."""
    started = time.perf_counter()
    unit_costs = find(options.design.algorithm).unit_costs
    joined = join_parts(task.instance, task.components, options.kernel, unit_costs)
    standing = None
    if not last:
        divide = options.divide
        chosen = representatives(
            task.instance, joined.components, divide.copies, divide.cover, joined.links, task.beyond
        )
        standing = Standing(chosen, joined.components)
    return Answer(joined.links, stage, TaskFacts(time.perf_counter() - started), standing)


ENGINE = DivideEngine()
