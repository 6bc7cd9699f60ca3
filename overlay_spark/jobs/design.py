"""The main job: tables of subscriptions and costs in, a verified overlay in Delta tables out."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.api import Progress, design, silent
from overlay_spark.jobs.generations import looking_ahead, lost_race, next_generation, require_writable
from overlay_spark.jobs.inputs import Inputs, describe, load_problem
from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.options import Options
from overlay_spark.results import Overlay
from overlay_spark.side_by_side import Ahead, side_by_side
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination

ROWS_A_FILE = 1_000_000


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
    run = run or Run(job="design", options=options)
    progress("look at the output")
    described = Ahead(partial(describe, spark, inputs))
    described.begin()
    if not dry_run:
        run.new, run.generation = side_by_side(
            [partial(require_writable, spark, output), partial(next_generation, spark, output)]
        )
    with recorded(spark, None if dry_run else output, run):
        progress("read")
        run.inputs = described()
        problem = load_problem(spark, inputs, dict(run.inputs))
        told = progress if dry_run else looking_ahead(spark, output, (), run.new, progress, "solve")
        overlay = design(problem, options=options if dry_run else staged_at(output, options), progress=told)
        run.algorithm, run.engine = overlay.algorithm, overlay.engine
        bound = {"lower_bound": overlay.lower_bound, "bound": overlay.bound, "gap": overlay.gap}
        run.metrics = {**asdict(overlay.metrics), **asdict(overlay.facts), **bound}
        if not dry_run:
            progress("write")
            try:
                write_overlay(overlay, output, run)
            except BaseException:
                overlay.close()
                raise
    return overlay


def staged_at(output: Destination, options: Options) -> Options:
    """The same options, with the output's folder, where it is one, for staged rows, unless another is set."""
    if options.workspace.staging is not None or output.kind == "table":
        return options
    return replace(options, workspace=replace(options.workspace, staging=output.place))


def write_overlay(overlay: Overlay, output: Destination, run: Run) -> None:
    """The overlay's tables, each in one commit that names the run, its generation and its inputs.

    ``overlay_links`` is the truth; the tables derived from it name its version. Where another run has committed this
    generation of the links or a later one, nothing is written. Where that happens between the links and a derived
    table, the other run writes it.
    """
    assert run.generation is not None
    run.opened()
    counts, links = overlay.metrics, output.table(catalog.OVERLAY_LINKS.name)
    found = in_files(overlay.links, counts.links)
    delta.overwrite(
        catalog.OVERLAY_LINKS, found, links, run.metadata, run.generation, catalog.OVERLAY_LINKS.name in run.new
    )
    version = delta.version_of(overlay.links.sparkSession, links, run.run_id)
    if version is None:
        raise lost_race(output)
    about = {**run.metadata, "links_version": version}
    derived = (
        (catalog.OVERLAY_TOPICS, in_files(overlay.topics, counts.topics)),
        (catalog.OVERLAY_NODES, in_files(overlay.nodes, counts.nodes)),
    )
    side_by_side(
        [
            partial(delta.overwrite, t, f, output.table(t.name), about, run.generation, t.name in run.new)
            for t, f in derived
        ]
    )


def in_files(frame: DataFrame, rows: int) -> DataFrame:
    """The same rows in as few files as they are worth."""
    return frame.coalesce(1 + rows // ROWS_A_FILE)
