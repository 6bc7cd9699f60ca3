"""The scheduled job: what changed since an overlay was computed in, the same overlay kept right and cheap out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.api import Progress, check, design, refresh, silent
from overlay_spark.errors import FeedError, GuardError, InputError
from overlay_spark.jobs.design import staged_at, write_overlay
from overlay_spark.jobs.generations import (
    DERIVED,
    OF_REFRESHES,
    Head,
    head_of,
    looking_ahead,
    lost_race,
    require_writable,
)
from overlay_spark.jobs.guards import drift_of, guard, options_for, require_all_files_read
from overlay_spark.jobs.inputs import Inputs, describe, load_problem
from overlay_spark.jobs.runs import Run, close_killed, options_of, recorded
from overlay_spark.jobs.stored import PACKED, packed_by, stored_overlay
from overlay_spark.options import Options
from overlay_spark.problems import OverlayProblem, PackedOverlay, StoredOverlay
from overlay_spark.results import Overlay, Refresh, RefreshMetrics
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog, delta, feed
from overlay_spark.tables.references import Destination

log = logging.getLogger(__name__)

UPDATED = ("cost", "shared_topics")
"""Columns of overlay_links that change of a link that stays."""


@dataclass(frozen=True)
class Outcome:
    """What a refresh came to: ``metrics`` are None where nothing had changed. ``redesigned`` is the new overlay where
    there is one; ``notes`` are sentences worth telling."""

    metrics: RefreshMetrics | None
    redesigned: Overlay | None = None
    notes: tuple[str, ...] = ()


def run_refresh(
    spark: SparkSession,
    inputs: Inputs,
    output: Destination,
    options: Options,
    approved: str | None = None,
    dry_run: bool = False,
    progress: Progress = silent,
    run: Run | None = None,
) -> Outcome:
    """Bring the overlay at a place up to date: ``overlay_links`` in one commit that names the versions it was computed
    from, then the tables derived from it. Where no input changed, nothing is written; where one did that the overlay
    stays the same for, only the run's row.

    A run that ended between these commits is finished first. ``approved`` is the token that a guarded refresh asked
    for.
    """
    progress("look at the output")
    require_all_files_read(spark)
    looks: list[Callable[[], Any]] = [partial(head_of, spark, output), partial(describe, spark, inputs)]
    if not dry_run:
        looks.append(partial(require_writable, spark, output, OF_REFRESHES))
    head, described, *new = side_by_side(looks)
    if head is None:
        raise InputError([f"{output}: there is no overlay here to refresh. Design one first, or give its place."])
    hole = None
    if not dry_run and head.unfinished and head.is_refreshed:
        try:
            _finish(spark, inputs, described, output, head, options, progress)
            head = head_of(spark, output) or head
        except FeedError as error:
            hole = str(error)
    if head.is_current(described):
        if not dry_run:
            close_killed(spark, output, options)
        return Outcome(None)
    run = run or Run(job="refresh", options=options)
    run.algorithm, run.generation, run.inputs = head.algorithm, head.generation + 1, described
    run.new = new[0] if new else frozenset()
    with recorded(spark, None if dry_run else output, run):
        if hole is not None:
            return _anew(spark, inputs, output, options, dry_run, progress, run, hole)
        return _refreshed(spark, inputs, output, head, options, approved, dry_run, progress, run)


def _refreshed(
    spark: SparkSession,
    inputs: Inputs,
    output: Destination,
    head: Head,
    options: Options,
    approved: str | None,
    dry_run: bool,
    progress: Progress,
    run: Run,
) -> Outcome:
    staged = options if dry_run else staged_at(output, options)
    told = progress if dry_run else looking_ahead(spark, output, OF_REFRESHES, run.new, progress, "repair")
    try:
        problem = load_problem(spark, inputs, dict(run.inputs))
        stored = stored_overlay(spark, inputs, output, head, run.inputs, options)
        found = _computed(problem, stored, head, run.inputs, staged, told)
    except FeedError as hole:
        return _anew(spark, inputs, output, options, dry_run, progress, run, str(hole))
    with found:
        run.metrics = asdict(found.metrics)
        if not _is_any(found.metrics) and head.has_same_subscriptions(run.inputs) and not head.unfinished:
            run.message = "Nothing changed."
            return Outcome(None)
        guard(found.metrics, head, run.inputs, options, approved)
        drift, notes, fresh = drift_of(problem, found.metrics, head, staged, progress)
        if fresh is not None and options.refresh.redesign_on_drift:
            return _redesigned(fresh, output, run, dry_run, progress, notes)
        if fresh is not None:
            fresh.close()
        run.message = " ".join(notes) or None
        if not dry_run:
            progress("write")
            _write(found, output, run, drift)
    return Outcome(found.metrics, notes=notes)


def _computed(
    problem: OverlayProblem,
    stored: StoredOverlay | PackedOverlay,
    head: Head,
    described: Mapping[str, Any],
    options: Options,
    progress: Progress,
) -> Refresh:
    """The refreshed overlay; tables that are others than before are checked beside."""
    options = options_for(head, options)
    calls: list[Callable[[], Any]] = [partial(refresh, problem, stored, options, progress)]
    if not head.is_of({name: about for name, about in described.items() if name != catalog.SUBSCRIPTIONS.name}):
        calls.append(partial(check, problem, options, beside_subscriptions=True))
    try:
        found: Refresh = side_by_side(calls)[0]
    except GuardError:  # nothing is wrong with the input
        raise
    except Exception:  # whatever it broke: wrong input has the first word
        check(problem, options)
        raise
    return found


def _is_any(metrics: RefreshMetrics) -> bool:
    nodes = metrics.nodes_lost or metrics.nodes != metrics.nodes_before
    return bool(metrics.added or metrics.removed or metrics.updated or nodes)


def _write(found: Refresh, output: Destination, run: Run, quality: Mapping[str, float]) -> None:
    """The changed links in one commit, which names the tables that follow, then these."""
    assert run.generation is not None
    run.opened()
    links, keeps_backups = output.table(catalog.OVERLAY_LINKS.name), catalog.OVERLAY_BACKUPS.name not in run.new
    if found.metrics.nodes <= run.options.refresh.backups_up_to or keeps_backups:
        derived = [table.name for table in (*DERIVED, *OF_REFRESHES)]
    else:
        derived = [table.name for table in (*DERIVED, *OF_REFRESHES[:-1])]
    about = {**run.metadata, "quality": dict(quality), "derived": derived, PACKED: packed_by(run.options)}
    feed.merge(catalog.OVERLAY_LINKS, found.changes, links, about, run.generation, UPDATED)
    version = delta.version_of(found.changes.sparkSession, links, run.run_id)
    if version is None:
        raise lost_race(output)
    _write_derived(found, output, about, version)


def _write_derived(found: Refresh, output: Destination, metadata: Mapping[str, Any], version: int) -> None:
    about = {**metadata, "links_version": version}
    generation, run_id = int(metadata["generation"]), str(metadata["run_id"])
    in_steps = found.changes.where("action <> 'update'").withColumn("run_id", F.lit(run_id)).coalesce(1)
    changes = output.table(catalog.OVERLAY_CHANGES.name)
    whole = (
        (catalog.OVERLAY_STATE, found.state),
        (catalog.OVERLAY_NODES, found.nodes),
        (catalog.OVERLAY_TOPICS, found.topics),
        (catalog.OVERLAY_BACKUPS, found.backups),
    )
    calls = [partial(delta.replace_run, catalog.OVERLAY_CHANGES, in_steps, changes, run_id, about, generation)]
    calls += [
        partial(delta.overwrite, table, frame.coalesce(1), output.table(table.name), about, generation)
        for table, frame in whole
        if table.name in metadata["derived"]
    ]
    side_by_side(calls)


def _finish(
    spark: SparkSession,
    inputs: Inputs,
    described: Mapping[str, Any],
    output: Destination,
    head: Head,
    options: Options,
    progress: Progress,
) -> None:
    """Write what a refresh left unwritten that ended after its links: computed again from what it started from, with
    the options it had, it comes to the same."""
    progress("finish the last refresh")
    before = head.before(spark, output)
    then = {
        name: {**about, "version": head.inputs.get(name), "at": head.input_times.get(name)}
        for name, about in described.items()
    }
    told = options_of(spark, output, head.run_id) or options
    problem = load_problem(spark, inputs, then)
    stored = stored_overlay(spark, inputs, output, before, then, told)
    log.info("Refresh %s ended before all its tables were written: finishing it.", head.run_id)
    with _computed(problem, stored, before, then, staged_at(output, told), progress) as found:
        ours = _links_after(before.links(spark, output), found.changes)
        theirs = head.links(spark, output).select(*ours.columns)
        others = ours.exceptAll(theirs).unionAll(theirs.exceptAll(ours)).count()
        if others:
            raise FeedError(
                "The last refresh ended before all its tables were written, and computed again it comes to other "
                f"links ({others:,} of them differ): its inputs or this program are others now."
            )
        _write_derived(found, output, head.metadata, head.version)


def _links_after(links: DataFrame, changes: DataFrame) -> DataFrame:
    """(src, dst, cost, shared_topics) of the links once they were changed so."""
    names = (*catalog.OVERLAY_LINKS.key, *UPDATED)
    kept = links.join(changes.where("action <> 'add'"), list(catalog.OVERLAY_LINKS.key), "left_anti")
    return kept.select(*names).unionAll(changes.where("action <> 'remove'").select(*names))


def _anew(
    spark: SparkSession,
    inputs: Inputs,
    output: Destination,
    options: Options,
    dry_run: bool,
    progress: Progress,
    run: Run,
    why: str,
) -> Outcome:
    """A whole design in place of a refresh that cannot know what changed, where that is allowed."""
    if not options.refresh.redesign_on_hole:
        raise GuardError(f"{why} Design the overlay anew, or allow refreshes to do so by refresh.redesign_on_hole.")
    log.warning("%s Designing anew.", why)
    problem = load_problem(spark, inputs, dict(run.inputs))
    overlay = design(problem, run.algorithm, options=staged_at(output, options), progress=progress)
    return _redesigned(overlay, output, run, dry_run, progress, (why,))


def _redesigned(
    overlay: Overlay, output: Destination, run: Run, dry_run: bool, progress: Progress, notes: tuple[str, ...]
) -> Outcome:
    run.engine, run.metrics = overlay.engine, asdict(overlay.metrics)
    run.message = " ".join([*notes, "Designed anew."])
    if not dry_run:
        progress("write")
        write_overlay(overlay, output, run)
    overlay.close()
    return Outcome(None, overlay, notes)
