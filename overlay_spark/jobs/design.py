"""The main job: tables of subscriptions and costs in, a verified overlay in Delta tables out."""

from __future__ import annotations

from pyspark.sql import SparkSession

from overlay_spark.api import Progress, design, silent
from overlay_spark.jobs.inputs import Inputs, describe, load_problem
from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.options import Options
from overlay_spark.results import Overlay
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination


def run_design(
    spark: SparkSession,
    inputs: Inputs,
    output: Destination,
    options: Options,
    dry_run: bool = False,
    progress: Progress = silent,
    run: Run | None = None,
) -> Overlay:
    """Design an overlay and write it: ``overlay_links`` first, in one commit, then the tables derived from it.

    A dry run computes and checks everything and writes nothing.
    """
    run = run or Run("design", options)
    with recorded(spark, None if dry_run else output, run):
        progress("read")
        run.inputs = describe(spark, inputs)
        problem = load_problem(spark, inputs, dict(run.inputs))
        overlay = design(problem, options=options, progress=progress)
        run.algorithm, run.engine = overlay.algorithm, overlay.engine
        run.metrics = {**overlay.metrics, **overlay.facts, "bound": overlay.bound, "gap": overlay.gap}
        if not dry_run:
            progress("write")
            try:
                write_overlay(overlay, output, run)
            except BaseException:
                overlay.release()
                raise
    return overlay


def write_overlay(overlay: Overlay, output: Destination, run: Run) -> None:
    """The overlay's tables, each in one commit that names the run and its inputs."""
    for table, frame in (
        (catalog.OVERLAY_LINKS, overlay.links),
        (catalog.OVERLAY_TOPICS, overlay.topics),
        (catalog.OVERLAY_NODES, overlay.nodes),
    ):
        delta.overwrite(table, frame, output.table(table.name), run.metadata)
