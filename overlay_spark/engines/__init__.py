"""Engines: how an algorithm is run. All give the overlay's links for an indexed problem, behind one seam."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from overlay_spark.algorithms import registry
from overlay_spark.algorithms.registry import Algorithm, find
from overlay_spark.errors import GuardError, OptionError
from overlay_spark.options import Options
from overlay_spark.options.checks import nearest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from overlay_spark.frames.answers import TaskFacts
    from overlay_spark.frames.estimates import Size
    from overlay_spark.frames.indexing import IndexedProblem
    from overlay_spark.frames.workspace import Workspace
    from overlay_spark.results import Estimate

NAMES = ("kernel", "frames", "divide")
"""Every engine, in the order in which ``auto`` tries them; each is a module of this name with an ``ENGINE``."""
PARTED = "divide"
"""The engine that solves parts, and joins them, where all at once would be too much."""
WHOLE = "kernel"
"""The engine that solves a problem as steps and bounds look at it: whole, in one task."""
AUTO = "auto"


@dataclass(frozen=True)
class Solved:
    """What an engine found: ``links`` (src, dst, cost, shared_topics, contribution, stage, pick), settled, and facts.

    ``parts`` (node, part, representative) says which part each node was in, and whether it stood for it, where the
    engine divides.
    """

    links: DataFrame
    facts: TaskFacts
    parts: DataFrame | None = None


class Engine(Protocol):
    """One way to run algorithms."""

    name: str
    takes_steps: bool
    """Whether it takes the steps that follow itself, part by part."""

    def has(self, algorithm: Algorithm) -> bool:
        """Whether it can run this algorithm."""
        ...

    def size(self, problem: IndexedProblem, options: Options, exact: bool = False) -> Size:
        """What solving would take: by the numbers at hand, or ``exact``, with candidates counted (one job)."""
        ...

    def refusal(self, size: Size, options: Options) -> str | None:
        """Why it does not take a problem of this size; None where it does."""
        ...

    def solve(self, problem: IndexedProblem, options: Options, workspace: Workspace) -> Solved:
        """The overlay's links. Deterministic, whatever the partitioning."""
        ...


@dataclass(frozen=True)
class Choice:
    """The engine for a problem, and why; ``refusal`` where it does not take it."""

    engine: Engine
    size: Size
    says: str
    refusal: str | None = None

    def require(self) -> Engine:
        """The engine, where it takes the problem."""
        if self.refusal is not None:
            raise GuardError(self.refusal)
        return self.engine

    def estimate(self) -> Estimate:
        """What is told beforehand."""
        from overlay_spark.results import Estimate

        return Estimate(
            nodes=self.size.nodes,
            topics=self.size.topics,
            subscriptions=self.size.subscriptions,
            candidates=self.size.candidates,
            is_exact=self.size.is_exact,
            is_sampled=self.size.is_sampled,
            task_bytes=self.size.task_bytes,
            engine=self.engine.name,
            fits=self.refusal is None,
            time_class=self.size.time_class,
            choice=self.refusal or self.says,
        )


def require_known(options: Options) -> None:
    """Refuse names of algorithms, steps, bounds and engines that nobody knows, before anything is read."""
    registry.require_known(options)
    require_engine(options.design.engine)


def require_engine(name: str) -> None:
    """Refuse an engine nobody knows."""
    if name not in (AUTO, *NAMES):
        raise OptionError(f"There is no engine {name!r}.{nearest(name, (AUTO, *NAMES))}")


def named(name: str) -> Engine:
    """The engine of this name."""
    return cast(Engine, importlib.import_module(f"overlay_spark.engines.{name}").ENGINE)


def choose(problem: IndexedProblem, options: Options, exact: bool = False) -> Choice:
    """The engine asked for; with ``auto`` the first that has the algorithm and takes the problem.

    A refusal is never by numbers that were not counted: where the numbers at hand speak against an engine, candidates
    are counted before it is ruled out.
    """
    wanted, algorithm = options.design.engine, find(options.design.algorithm)
    able = [engine for engine in map(named, NAMES) if engine.has(algorithm)]
    asked = able if wanted == AUTO else [engine for engine in able if engine.name == wanted]
    if not asked:
        raise OptionError(
            f"The engine {wanted!r} does not run {algorithm.name}. Engines that do: {', '.join(e.name for e in able)}."
        )
    choices: list[Choice] = []
    for engine in asked:
        before = ", ".join(f"{c.engine.name} would need about {_gib(c.size)} a task" for c in choices)
        choices.append(_considered(engine, problem, options, exact, before))
        if choices[-1].refusal is None:
            return choices[-1]
    return choices[0]


def _considered(engine: Engine, problem: IndexedProblem, options: Options, exact: bool, before: str) -> Choice:
    size = engine.size(problem, options, exact)
    refusal = engine.refusal(size, options)
    if refusal is not None and not exact:
        size = engine.size(problem, options, exact=True)
        refusal = engine.refusal(size, options)
    if refusal is None and engine.name != WHOLE:
        refusal = _of_what_follows(engine, problem, options, exact)
    why = f"as {before}" if before else "the first that takes it"
    by = "as asked" if options.design.engine == engine.name else why
    says = f"{engine.name}, {by}: needs about {_gib(size)} of {options.design.task_memory} a task"
    return Choice(engine, size, says if refusal is None else f"{engine.name} does not take it", refusal)


def _of_what_follows(engine: Engine, problem: IndexedProblem, options: Options, exact: bool) -> str | None:
    """Why the steps and the bound cannot follow: they take the whole problem in one task, whatever the engine."""
    steps = () if engine.takes_steps else options.design.then
    follows = [*steps, *([] if options.design.bound is None else [options.design.bound])]
    if not follows:
        return None
    whole = named(WHOLE)
    refusal = whole.refusal(whole.size(problem, options, exact), options)
    if refusal is not None and not exact:
        refusal = whole.refusal(whole.size(problem, options, exact=True), options)
    return None if refusal is None else f"What follows ({', '.join(follows)}) takes all of it at once. {refusal}"


def _gib(size: Size) -> str:
    return f"{size.task_bytes / 2**30:.1f} GiB"
