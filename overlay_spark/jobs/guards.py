"""What keeps a refresh from doing harm: limits to what it may change unasked, and a look at what it wears out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from overlay_spark.api import Progress, design
from overlay_spark.errors import GuardError, InputError
from overlay_spark.jobs.generations import Head
from overlay_spark.options import Options
from overlay_spark.options.churn import AUTO, COST, DEGREE
from overlay_spark.problems import OverlayProblem
from overlay_spark.results import Overlay, RefreshMetrics

BY_DEGREE = ("low_degree", "min_max_degree")
"""Algorithms whose overlays are repaired with an eye on degrees."""
LIMITS = (
    ("most_added", "added", "links_before", "add", "links"),
    ("most_removed", "removed", "links_before", "remove", "links"),
    ("most_recosted", "recosted", "links_before", "give another cost to", "links"),
    ("most_nodes_lost", "nodes_lost", "nodes_before", "find gone", "nodes"),
)
"""What is guarded: the option, what is counted, of what, and how it is said."""
SKIPPING = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")
DRIFT_ANEW = 1.25
"""A drift that was told is computed again once it is estimated so many times as high."""


def require_all_files_read(spark: SparkSession) -> None:
    """Refuse settings by which Spark leaves out what it cannot read: an overlay would be broken for it, unnoticed."""
    for name in SKIPPING:
        try:
            is_on = str(spark.conf.get(name, "false")).lower() == "true"
        except PySparkException:  # a serverless session shows its own settings only, and lets nobody change these
            is_on = False
        if is_on:
            raise InputError([f"{name} is on: rows could be left out unnoticed. Switch it off to refresh an overlay."])


def options_for(head: Head, options: Options) -> Options:
    """The options, with the objective that the overlay was designed for where they leave it open."""
    if options.churn.objective != AUTO:
        return options
    objective = DEGREE if head.algorithm in BY_DEGREE else COST
    return replace(options, churn=replace(options.churn, objective=objective))


def guard(
    metrics: RefreshMetrics, head: Head, described: Mapping[str, Any], options: Options, approved: str | None
) -> None:
    """Stop a refresh that would change more than the options allow, unless this very one was approved."""
    told = []
    for option, counted, of, does, what in LIMITS:
        count, total, most = getattr(metrics, counted), getattr(metrics, of), getattr(options.refresh, option)
        if count > most * total:
            told.append(
                f"{does} {count:,} of {total:,} {what} ({count / max(1, total):.1%}; refresh.{option} is {most:.1%})"
            )
    versions = {name: about["version"] for name, about in described.items()}
    plan = [head.version, versions, metrics.added, metrics.removed, metrics.recosted, metrics.nodes_lost]
    token = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:12]
    if told and approved != token:
        was = "" if approved is None else f" The token {approved} was for another plan."
        raise GuardError(
            f"This refresh would {'; '.join(told)}. Nothing was written.{was} An empty or half-loaded input looks like "
            f"this. If it is right, run it with --approve {token}."
        )


def drift_of(
    problem: OverlayProblem, metrics: RefreshMetrics, head: Head, options: Options, progress: Progress
) -> tuple[dict[str, float], tuple[str, ...], Overlay | None]:
    """(what commits say of it, what to tell, a new design where the overlay is much dearer than that).

    It is estimated by the cost per topic joined, against that of the last design known; only where that says so, a new
    design is computed.
    """
    options = options_for(head, options)
    by_degree = options.churn.by_degree
    now = (metrics.links if by_degree else metrics.cost) / max(1, metrics.joined)
    before = (metrics.links_before if by_degree else metrics.cost_before) / max(1, metrics.joined_before)
    base = head.quality.get("base", before if metrics.joined_before else now)  # a killed design has told of no topics
    known = head.quality.get("drift", 0.0)
    estimate, most = now / base - 1 if base else 0.0, options.refresh.most_drift
    may_redesign = options.refresh.redesign_on_drift and known > most
    if estimate <= max(most, DRIFT_ANEW * known) and not may_redesign:
        notes = (_dearer(known, by_degree),) if known > most else ()
        return {"base": base, "drift": known}, notes, None
    progress("compare with a new design")
    try:
        fresh = design(problem, algorithm=head.algorithm, options=options)
    except GuardError as refusal:  # what was refreshed is worth writing all the same
        told = f"The overlay may have become {estimate:.1%} dearer than a new design, which was refused: {refusal}"
        return {"base": base, "drift": known}, (told,), None
    price = fresh.metrics.links if by_degree else fresh.metrics.cost
    drift = (metrics.links if by_degree else metrics.cost) / price - 1 if price else 0.0
    quality = {"base": price / max(1, metrics.joined), "drift": max(0.0, drift)}
    if drift <= most:
        fresh.close()
        return quality, (), None
    return quality, (_dearer(drift, by_degree),), fresh


def _dearer(drift: float, by_degree: bool) -> str:
    what = "has" if by_degree else "costs"
    told = f"The overlay {what} {drift:.1%} more {'links ' if by_degree else ''}than a new design would."
    return f"{told} Design it anew, or allow it by refresh.redesign_on_drift."
