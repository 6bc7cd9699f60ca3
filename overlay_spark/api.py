"""The library: DataFrames in, results out. Tables are neither read nor written here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from pyspark.sql import DataFrame

from overlay_spark import engines
from overlay_spark.algorithms.registry import find
from overlay_spark.engines import choose, require_known
from overlay_spark.engines.steps import follow, lower_bound
from overlay_spark.engines.warming import Warming
from overlay_spark.frames.churn import keep_up, metrics_of
from overlay_spark.frames.components import choose_method, require_method
from overlay_spark.frames.inputs import check_beside, check_input
from overlay_spark.frames.outputs import links_only, links_table
from overlay_spark.frames.preparing import prepare
from overlay_spark.frames.proving import disprove, prove
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import Options
from overlay_spark.problems import OverlayProblem, PackedOverlay, StoredOverlay
from overlay_spark.results import Estimate, Facts, Overlay, Refresh, Verification
from overlay_spark.tables import catalog
from overlay_spark.tables.feed import holes_told

Progress = Callable[[str], None]
"""Told the name of each step as it begins."""


def silent(step: str) -> None:
    """Tells nobody."""


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

    Parameters
        problem     who wants what, and what links cost.
        algorithm   by name; ``overlay-spark algorithms`` lists them. Default: greedy.
        engine      how it is run; ``auto``, the default, chooses and says why in ``facts.choice``.
        then        steps that follow, by name: ``reverse_delete`` takes links away that no topic needs. The divide
                    engine takes them in each part, before parts are joined.
        options     all options; the arguments beside it win over ``options.design``.
        seed        for algorithms and steps that draw.
        progress    told the name of each step as it begins.
    Returns
        The overlay; it depends on the tables and the options only. Use it in a ``with`` block, or close it.
    Raises
        InputError with every fault of the tables; GuardError for a problem too large; OptionError for unknown names.
    Example
        >>> with design(problem, then="reverse_delete") as overlay:
        ...     overlay.links.show()
    """
    options = (options or Options()).designing(algorithm, engine, then, seed)
    require_known(options)
    require_method(problem.subscriptions.sparkSession, options.components)
    with Workspace(problem.subscriptions.sparkSession, options.workspace) as workspace:
        kernels = Warming(problem.subscriptions.sparkSession, options)
        indexed = prepare(problem.counted_in(options.costs.unit), workspace, progress)
        choice = choose(indexed, options)
        chosen = choice.require()
        progress("solve")
        kernels.wait()
        solved = chosen.solve(indexed, options, workspace)
        solved = solved if chosen.takes_steps else follow(indexed, solved, options, workspace)
        bound = lower_bound(indexed, solved, options, workspace)
        links = workspace.settle(links_table(indexed, solved.links))
        method = choose_method(indexed, options.components)
        measured = prove(indexed, links, solved.parts, method, options, workspace, progress)
        seconds, trees = solved.facts.seconds, solved.facts.sum_of_trees
        return Overlay(
            links=links,
            topics=measured.topics,
            nodes=measured.nodes,
            metrics=measured.metrics,
            facts=Facts(choice=choice.says, method=method, solve_seconds=seconds, sum_of_trees=indexed.cost(trees)),
            algorithm=find(options.design.algorithm).name,
            engine=chosen.name,
            lower_bound=bound and indexed.cost(bound.value),
            bound=bound and bound.says,
            workspace=workspace,
        )


def verify(
    problem: OverlayProblem, links: DataFrame, options: Options | None = None, progress: Progress = silent
) -> Verification:
    """Prove or refute an overlay: every topic connected, every link known, allowed, rightly priced and of use.

    Parameters
        problem     the tables that the overlay is to serve.
        links       columns src, dst and cost, others do not matter; a pair may come in either orientation.
        options     of which ``costs``, ``components`` and ``workspace`` are used.
    Returns
        The verdict, with a sentence for each thing wrong. Use it in a ``with`` block, or close it.
    Raises
        InputError where the tables themselves cannot be used.
    Example
        >>> assert verify(problem, overlay.links).ok
    """
    options = options or Options()
    require_method(problem.subscriptions.sparkSession, options.components)
    with Workspace(problem.subscriptions.sparkSession, options.workspace) as workspace:
        given = links_only(links)
        indexed = prepare(problem.counted_in(options.costs.unit), workspace, progress, catalog.LINKS.audit(given))
        method = choose_method(indexed, options.components)
        progress("verify")
        faults, broken = disprove(indexed, given, method, options, workspace)
        return Verification(ok=not faults, broken_topics=broken, faults=faults, method=method, workspace=workspace)


def estimate(problem: OverlayProblem, options: Options | None = None, progress: Progress = silent) -> Estimate:
    """What :func:`design` would take, and which engine it would choose; nothing is solved.

    Parameters
        problem, options, progress      as for :func:`design`.
    Returns
        Sizes; for each engine tasks, memory and about how long, and whether it takes the problem.
    Raises
        InputError as :func:`design` does.
    Example
        >>> assert estimate(problem).fits
    """
    options = options or Options()
    require_known(options)
    with closing(Workspace(problem.subscriptions.sparkSession, options.workspace)) as workspace:
        indexed = prepare(problem.counted_in(options.costs.unit), workspace, progress)
        progress("count candidates")
        return engines.estimate(indexed, options)


def check(problem: OverlayProblem, options: Options | None = None, beside_subscriptions: bool = False) -> None:
    """Refuse tables with anything wrong, and say all of it: the check that ``design`` begins with; or only what is
    beside the subscriptions."""
    problem = problem.counted_in((options or Options()).costs.unit)
    check_beside(problem) if beside_subscriptions else check_input(problem)


def refresh(
    problem: OverlayProblem,
    stored: StoredOverlay | PackedOverlay,
    options: Options | None = None,
    progress: Progress = silent,
) -> Refresh:
    """Bring an overlay up to date with what changed since, by as few links as it takes, and prove the result.

    Parameters
        problem     the tables as they are now.
        stored      the overlay's tables, or its packed state, and the subscriptions that came or went since.
        options     of which ``churn``, ``refresh``, ``degrees``, ``kernel``, ``costs`` and ``workspace`` are used.
        progress    told the name of each step as it begins.
    Returns
        What changes, and the overlay's other tables as they are then. Use it in a ``with`` block, or close it.
    Raises
        InputError where the tables cannot be used; FeedError where the changes do not lead from the overlay to the
        tables; GuardError for a problem too large.
    Example
        >>> with refresh(problem, stored) as found:
        ...     found.changes.where("action <> 'update'").orderBy("step").show()
    """
    options = options or Options()
    with Workspace(problem.subscriptions.sparkSession, options.workspace) as workspace:
        require_method(problem.subscriptions.sparkSession, options.components)
        progress("read changes")
        with holes_told(catalog.SUBSCRIPTIONS.name):
            stored = replace(stored, changes=workspace.settle(stored.changes))
        found = keep_up(problem.counted_in(options.costs.unit), stored, options, workspace, progress)
        return Refresh(
            changes=found.changes,
            topics=found.topics,
            nodes=found.nodes,
            backups=found.backups,
            state=found.state,
            metrics=metrics_of(found),
            workspace=workspace,
        )
