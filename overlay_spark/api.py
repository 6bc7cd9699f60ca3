"""The library: DataFrames in, results out. Tables are neither read nor written here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.registry import find
from overlay_spark.costs import from_units
from overlay_spark.errors import GuardError, InputError, VerificationError
from overlay_spark.frames.components import sub_overlays, with_shared_topics
from overlay_spark.frames.costs import from_units as costs_from_units
from overlay_spark.frames.estimates import Size, exact_size, known_size
from overlay_spark.frames.graphs import choose_engine, topic_components
from overlay_spark.frames.indexing import IndexedProblem, index_problem, with_ids
from overlay_spark.frames.inputs import input_audits
from overlay_spark.frames.lineage import Holder
from overlay_spark.frames.metrics import figures, node_degrees, topic_shapes
from overlay_spark.frames.solve_parts import solve_whole
from overlay_spark.frames.verification import (
    Findings,
    broken_topic_audit,
    sides_of_broken_topics,
    verify_links,
)
from overlay_spark.options import Options
from overlay_spark.problems import OverlayProblem
from overlay_spark.results import Estimate, Overlay, Verification
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import Audit, faults_of
from overlay_spark.tables.contract import Table

Progress = Callable[[str], None]
"""Told the name of each step as it begins."""


DUAL = "dual value of primal_dual"
"""The bound there is: see :attr:`overlay_spark.results.Overlay.bound`."""


def silent(step: str) -> None:
    return None


def design(
    problem: OverlayProblem,
    algorithm: str | None = None,
    engine: str | None = None,
    then: str | Sequence[str] | None = None,
    options: Options | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Overlay:
    """Compute an overlay in which every topic's nodes are connected, and prove that they are.

    ``algorithm``, ``engine``, ``then`` and ``seed`` are those of ``options.design`` (greedy, auto, nothing, 0) unless
    given; ``then="reverse_delete"`` takes away links that are not needed. Raises
    InputError with every fault of the given tables, and GuardError where :func:`estimate` says that they do not fit.
    The result depends on the tables and the options only.
    """
    options = _with_wishes(options or Options(), algorithm=algorithm, engine=engine, then=_names(then), seed=seed)
    chosen = find(options.design.algorithm)
    if options.design.compare is not None:
        find(options.design.compare)
    components = choose_engine(problem.subscriptions.sparkSession, options.components.engine)
    unit = options.costs.unit
    holder = Holder()
    try:
        progress("check input")
        problem = _held(problem, holder)
        _check(problem, unit)
        progress("index")
        indexed = index_problem(problem.subscriptions, problem.nodes, problem.costs, unit, holder)
        require_room(known_size(indexed, options), options)
        progress("solve")
        solved = holder.hold(solve_whole(indexed, options))
        facts = _facts(solved, indexed.n_nodes, unit)
        links = solved.where("pick >= 0")
        named = holder.hold(_overlay_links(links, indexed, unit))
        progress("verify")
        proved = _require_valid(named, indexed, components, unit, holder)
        progress("measure")
        limit = options.metrics.diameter_max_nodes
        shapes = holder.hold(topic_shapes(indexed, sub_overlays(proved), limit))
        degrees = holder.hold(node_degrees(indexed, links))
        metrics = figures(links, shapes, degrees, indexed.n_nodes, unit)
    except BaseException:
        holder.release()
        raise
    return Overlay(
        named,
        _priced(shapes.join(indexed.topics, "topic"), catalog.OVERLAY_TOPICS, "weighted_diameter", unit),
        _priced(degrees, catalog.OVERLAY_NODES, "weighted_degree", unit),
        metrics,
        chosen.name,
        "kernel",
        {**facts, "components": components},
        lower_bound=facts.get("lower_bound"),
        bound=DUAL if "lower_bound" in facts else None,
        holder=holder,
    )  # fmt: skip


def verify(
    problem: OverlayProblem, links: DataFrame, options: Options | None = None, progress: Progress = silent
) -> Verification:
    """Prove or refute an overlay: every topic connected, every link known, allowed, rightly priced and of use.

    ``links`` needs the columns src, dst and cost; a pair may come in either orientation. Raises InputError where the
    tables themselves cannot be used.
    """
    options = options or Options()
    unit = options.costs.unit
    engine = choose_engine(problem.subscriptions.sparkSession, options.components.engine)
    holder = Holder()
    try:
        progress("check input")
        problem, given = _held(problem, holder), _links_only(links)
        _check(problem, unit, catalog.LINKS.audit(given))
        progress("index")
        indexed = index_problem(problem.subscriptions, problem.nodes, problem.costs, unit, holder)
        progress("verify")
        found = verify_links(given, indexed, engine, unit, holder)
    except BaseException:
        holder.release()
        raise
    return Verification(not found.faults, found.broken_topics, found.faults, engine, holder)


def estimate(problem: OverlayProblem, options: Options | None = None, progress: Progress = silent) -> Estimate:
    """What ``design`` would take: nothing is solved. Raises InputError as ``design`` does."""
    options = options or Options()
    holder = Holder()
    try:
        progress("check input")
        problem = _held(problem, holder)
        _check(problem, options.costs.unit)
        progress("index")
        indexed = index_problem(problem.subscriptions, problem.nodes, problem.costs, options.costs.unit, holder)
        progress("count candidates")
        size = exact_size(indexed, options)
    finally:
        holder.release()
    return Estimate(
        size.nodes,
        size.topics,
        size.subscriptions,
        size.candidates,
        size.is_exact,
        size.task_bytes,
        "kernel",
        size.task_bytes <= options.design.task_bytes,
        size.time_class,
    )


def require_room(size: Size, options: Options) -> None:
    """Refuse what the solving task cannot hold."""
    if size.task_bytes > options.design.task_bytes:
        raise GuardError(
            f"This problem is too large for one task: {size.say()}; solving it needs about "
            f"{size.task_bytes / 2**30:.1f} GiB, and design.task_memory allows {options.design.task_memory}. "
            "Raise design.task_memory if your workers have that much to spare; else design fewer nodes at a time"
            f"{' or list fewer links' if size.listed else ''}."
        )


def _with_wishes(options: Options, **wishes: Any) -> Options:
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    return replace(options, design=replace(options.design, **given))


def _names(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return given if given is None else (given,) if isinstance(given, str) else tuple(given)


def _facts(solved: DataFrame, n_nodes: int, unit: float) -> dict[str, Any]:
    """What the solving task says of its run; figures of a compared algorithm as :func:`figures` gives them."""
    facts: dict[str, Any] = json.loads(solved.where("pick < 0").select("facts").collect()[0][0])
    for counted in ("lower_bound", "sum_of_trees"):
        if counted in facts:
            facts[counted] = from_units(facts[counted], unit)
    if "compared" in facts:
        told = facts["compared"]
        told["average_degree"] = 2 * told["links"] / n_nodes
        told["cost"] = from_units(told["cost"], unit)
    return facts


def _held(problem: OverlayProblem, holder: Holder) -> OverlayProblem:
    """The same tables, each read once: the check and the index scan them many times."""
    for frame in (problem.subscriptions, problem.nodes, getattr(problem.costs, "table", None)):
        if frame is not None:
            holder.hold(frame)
    return problem


def _check(problem: OverlayProblem, unit: float, *more: Audit) -> None:
    """Refuse tables with anything wrong, and say all of it."""
    alone, together = input_audits(problem.subscriptions, problem.nodes, problem.costs, unit)
    faults = faults_of([*alone, *more], together)
    if faults:
        raise InputError(faults)


def _links_only(links: DataFrame) -> DataFrame:
    wanted = catalog.LINKS.schema.names
    return catalog.LINKS.conform(links.select(*[c for c in links.columns if c in wanted]))


def _priced(frame: DataFrame, table: Table, counted: str, unit: float) -> DataFrame:
    """The table's columns, of which ``counted`` is turned from units into costs."""
    columns = table.schema.names
    return frame.select(*[costs_from_units(F.col(c), unit).alias(c) if c == counted else F.col(c) for c in columns])


def _overlay_links(links: DataFrame, indexed: IndexedProblem, unit: float) -> DataFrame:
    """Solved links -> OVERLAY_LINKS."""
    named = with_ids(links, indexed.nodes).withColumn("stage", F.lit("single"))
    return _priced(named, catalog.OVERLAY_LINKS, "cost", unit)


def _require_valid(links: DataFrame, indexed: IndexedProblem, engine: str, unit: float, holder: Holder) -> DataFrame:
    """The independent check; gives back the links it proved right.

    Where listed links cannot connect a topic, that is the input's fault, and said so.
    """
    found = verify_links(_links_only(links), indexed, engine, unit, holder)
    if not found.faults:
        return found.links
    if found.topics_broken and len(found.faults) == 1 and indexed.link_costs is not None:
        allowed = sub_overlays(with_shared_topics(indexed.link_costs, indexed.nodes))
        components = topic_components(indexed, allowed, engine, holder)
        apart = sides_of_broken_topics(components, indexed)
        sentence = "Table 'link_costs' leaves {} List links between these sides, or remove the subscriptions."
        if not found.broken_topics.exceptAll(apart).isEmpty():
            raise _not_our_own(found)
        raise InputError(faults_of([broken_topic_audit(components, apart, indexed, sentence)]))
    raise _not_our_own(found)


def _not_our_own(found: Findings) -> VerificationError:
    return VerificationError(
        "The computed overlay fails its own check and was not written; please report this. " + " ".join(found.faults)
    )
