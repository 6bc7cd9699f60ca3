"""Prove or refute a stored overlay."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession

from overlay_spark.api import Progress, silent, verify
from overlay_spark.jobs.generations import stale_tables
from overlay_spark.jobs.inputs import Inputs, describe, load_problem
from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.options import Options
from overlay_spark.results import Verification
from overlay_spark.side_by_side import Ahead, beginning
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination


def run_verify(
    spark: SparkSession,
    inputs: Inputs,
    overlay: Destination,
    options: Options,
    dry_run: bool = False,
    progress: Progress = silent,
    run: Run | None = None,
) -> Verification:
    """Verify ``overlay_links`` at a place against the tables it should serve; a dry run leaves no row in ``runs``."""
    run = run or Run(job="verify", options=options)
    stored = overlay.table(catalog.OVERLAY_LINKS.name)
    version = delta.latest_version(spark, stored)  # a mistyped place is refused before a row is written there
    described = Ahead(partial(describe, spark, inputs))
    described.begin()
    stale = Ahead(partial(stale_tables, spark, overlay))
    with recorded(spark, None if dry_run else overlay, run):
        progress("read")
        links = {"reference": str(stored), "version": version}
        run.inputs = {**described(), catalog.OVERLAY_LINKS.name: links}
        problem = load_problem(spark, inputs, dict(run.inputs))
        found = verify(problem, delta.read(spark, stored, version), options, beginning(stale, "verify", progress))
        found = replace(found, stale=stale())
        run.metrics = {"ok": found.ok, "method": found.method, "stale": list(found.stale)}
        if not found.ok:
            run.status, run.message = "refuted", " ".join(found.faults)
    return found
