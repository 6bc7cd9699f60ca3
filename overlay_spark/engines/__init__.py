"""Engines: how an algorithm is run. All give the overlay's links for an indexed problem, behind one seam."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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

    def size(self, whole: Size, problem: IndexedProblem, options: Options) -> Size:
        """What solving would take, by the numbers of the whole problem."""
        ...

    def refusal(self, size: Size, options: Options) -> str | None:
        """Why it does not take a problem of this size; None where it does."""
        ...

    def solve(self, problem: IndexedProblem, options: Options, workspace: Workspace) -> Solved:
        """The overlay's links. Deterministic, whatever the partitioning."""
        ...


@dataclass(frozen=True)
class Choice:
    """An engine for a problem, and why; ``refusal`` where it does not take it, and that ``shortly``."""

    engine: Engine
    size: Size
    says: str
    refusal: str | None = None
    shortly: str = ""

    def require(self) -> Engine:
        """The engine, where it takes the problem."""
        if self.refusal is not None:
            raise GuardError(self.refusal)
        return self.engine


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


def choose(problem: IndexedProblem, options: Options) -> Choice:
    """The engine asked for; with ``auto`` the first that has the algorithm and takes the problem.

    A refusal is never by numbers that were not counted: where the numbers at hand speak against an engine, candidates
    are counted before it is ruled out.
    """
    asked, choices = _asked(options), list[Choice]()
    numbers = Numbers(problem, options)
    for engine in asked:
        choices.append(_considered(engine, numbers, choices))
        if choices[-1].refusal is None:
            return choices[-1]
    return _with_the_way_on(choices[0], numbers)


def estimate(problem: IndexedProblem, options: Options) -> Estimate:
    """What each engine would take, with candidates counted, and which would be chosen. One job."""
    from overlay_spark.results import EngineEstimate, Estimate

    numbers = Numbers(problem, options, counted=True)
    considered: list[Choice] = []
    for engine in _able(find(options.design.algorithm)):
        considered.append(_considered(engine, numbers, considered))
    asked = {engine.name for engine in _asked(options)}
    choices = [one for one in considered if one.engine.name in asked]
    chosen = next((one for one in choices if one.refusal is None), _with_the_way_on(choices[0], numbers))
    whole = numbers.counted
    return Estimate(
        nodes=whole.nodes,
        topics=whole.topics,
        subscriptions=whole.subscriptions,
        candidates=whole.candidates,
        is_exact=whole.is_exact,
        is_sampled=whole.is_sampled,
        engine=chosen.engine.name,
        fits=chosen.refusal is None,
        choice=chosen.refusal or chosen.says,
        engines=tuple(
            EngineEstimate(
                name=one.engine.name,
                candidates=one.size.candidates,
                tasks=one.size.tasks,
                task_bytes=one.size.task_bytes,
                driver_bytes=one.size.driver_bytes,
                time_class=one.size.time_class,
                refusal=one.refusal,
            )
            for one in considered
        ),
    )


class Numbers:
    """The numbers of a problem: those at hand, and, once somebody must know, with candidates counted."""

    def __init__(self, problem: IndexedProblem, options: Options, counted: bool = False):
        self.problem, self.options = problem, options
        self.known = self.counted if counted else self._sized(exact=False)

    @cached_property
    def counted(self) -> Size:
        return self._sized(exact=True)

    def _sized(self, exact: bool) -> Size:
        from overlay_spark.frames.estimates import exact_size, known_size

        return exact_size(self.problem, self.options) if exact else known_size(self.problem, self.options)

    def taken(self, engine: Engine) -> tuple[Size, str | None]:
        """What solving would take an engine, and why it would not; counted before it is refused."""
        size = engine.size(self.known, self.problem, self.options)
        refusal = engine.refusal(size, self.options)
        if refusal is not None and self.counted is not self.known:
            size = engine.size(self.counted, self.problem, self.options)
            refusal = engine.refusal(size, self.options)
        return size, refusal

    def too_many(self) -> Size | None:
        """The numbers, where ``auto`` finds them too many to look at every candidate."""
        most = self.options.design.exact_candidates
        found = self.known if self.known.candidates <= most else self.counted
        return found if found.candidates > most else None


def _able(algorithm: Algorithm) -> list[Engine]:
    return [engine for engine in map(named, NAMES) if engine.has(algorithm)]


def _asked(options: Options) -> list[Engine]:
    wanted, algorithm = options.design.engine, find(options.design.algorithm)
    able = _able(algorithm)
    asked = able if wanted == AUTO else [engine for engine in able if engine.name == wanted]
    if not asked:
        raise OptionError(
            f"The engine {wanted!r} does not run {algorithm.name}. Engines that do: {', '.join(e.name for e in able)}."
        )
    return asked


def _considered(engine: Engine, numbers: Numbers, before: Sequence[Choice]) -> Choice:
    options = numbers.options
    size, refusal = numbers.taken(engine)
    shortly = f"{engine.name} would need about {_gib(size)} a task"
    if refusal is None and engine.name != WHOLE:
        refusal = _of_what_follows(engine, numbers)
    if refusal is None and options.design.engine == AUTO and engine.name != PARTED and (many := numbers.too_many()):
        shortly = f"{engine.name} would look at {many.candidates:,} candidate links"
        refusal = (
            f"To solve this problem exactly takes hours: {many.say()}; design.exact_candidates is "
            f"{options.design.exact_candidates:,}. Use design.engine = {PARTED!r}, or, if you have the time, "
            f"{engine.name!r}."
        )
    refused = ", ".join(choice.shortly for choice in before)
    by = (
        "as asked"
        if options.design.engine == engine.name
        else f"as {refused}"
        if refused
        else "the first that takes it"
    )
    says = f"{engine.name}, {by}: needs about {_gib(size)} of {options.design.task_memory} a task"
    return Choice(engine, size, says if refusal is None else f"{engine.name} does not take it", refusal, shortly)


def _of_what_follows(engine: Engine, numbers: Numbers) -> str | None:
    """Why the steps and the bound cannot follow, where these take the whole problem in one task."""
    options = numbers.options
    steps = () if engine.takes_steps else options.design.then
    follows = [*steps, *([] if options.design.bound is None else [options.design.bound])]
    refusal = numbers.taken(named(WHOLE))[1] if follows else None
    if refusal is None:
        return None
    return f"What follows ({', '.join(follows)}) takes all of it at once; leave it out, or make room. {refusal}"


def _with_the_way_on(refused: Choice, numbers: Numbers) -> Choice:
    """A refusal of the engine asked for, which says so where the problem could be solved in parts."""
    asked = numbers.options.design.engine
    if asked in (AUTO, PARTED) or PARTED not in NAMES or _considered(named(PARTED), numbers, ()).refusal is not None:
        return refused
    way = f"design.engine = {PARTED!r} solves it in parts, at some more cost of the links."
    return replace(refused, refusal=f"{refused.refusal} {way}")


def _gib(size: Size) -> str:
    return f"{size.task_bytes / 2**30:.1f} GiB"
