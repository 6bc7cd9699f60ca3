"""``overlay-spark experiment``: a paper's experiments measured anew."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overlay_spark.cli.parsing import (
    DONE,
    EXIT_CODES,
    add_command,
    add_points_flag,
    options_of,
    with_workload_flags,
)
from overlay_spark.cli.printing import print_rows
from overlay_spark.cli.session import spark_session
from overlay_spark.errors import OptionError
from overlay_spark.jobs.progress import Steps
from overlay_spark.jobs.session import spark_version
from overlay_spark.lab.experiments import PAPERS, find
from overlay_spark.lab.plan import plan_workload
from overlay_spark.tables.references import Destination


def add(commands: Any) -> None:
    summary = "measure a paper's experiments anew, what it states beside what comes out"
    parser = add_command(commands, "experiment", run, summary, EXIT_CODES)
    papers = "; ".join(f"{paper}: {about}" for paper, about in PAPERS.items())
    parser.add_argument("paper", choices=[*PAPERS], help=papers)
    parser.add_argument("--figure", metavar="F", action="append", default=[], help="this figure only (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and one seed: about a minute")
    parser.add_argument("--seeds", metavar="N", type=int, default=3, help="workloads for each point (default 3)")
    add_points_flag(parser)
    parser.add_argument("--output", metavar="WHERE", help="add all figures to the table experiments there")
    parser.add_argument("--plots", metavar="FOLDER", help="draw a PNG of each figure into this folder")


def run(given: argparse.Namespace) -> int:
    options = with_workload_flags(options_of(given), file=given.file)
    if given.seeds < 1:
        raise OptionError(f"--seeds must be at least 1, got {given.seeds}.")
    output = Destination.parse(given.output) if given.output else None
    points = plan_workload(options).points
    spark_version()  # without Spark the next lines would fail, and say less
    from overlay_spark.lab import plots
    from overlay_spark.lab.experiments.shared import beside_the_paper, run_experiment

    if given.plots:
        plots.require_matplotlib()
    experiment = find(given.paper)
    chosen = experiment.settings(given.quick, given.seeds, given.figure)
    with Steps() as steps, spark_session(options, steps) as spark:
        figures = run_experiment(spark, experiment, chosen, points, options, steps)
        if output is not None:
            from overlay_spark.jobs.runs import Run
            from overlay_spark.lab.figures import record_figures

            steps("write experiments")
            record_figures(spark, figures, output, Run(job="experiment", options=options))
    print_beside_the_paper(beside_the_paper(experiment, figures))
    if given.plots:
        for path in plots.draw(experiment, figures, Path(given.plots)):
            print(f"Drawn: {path}")
    return DONE


def print_beside_the_paper(told: Sequence[tuple[str, str, str, float, str]]) -> None:
    rows = [(f"figure {f}, {series}: {what}", f"{ours:.3g}", stated) for f, series, what, ours, stated in told]
    print_rows([("", "ours", "the paper's"), *rows])
