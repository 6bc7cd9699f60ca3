"""The command line: ``overlay-spark design | verify | workload | demo | ...``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import overlay_spark
from overlay_spark.errors import OptionError, OverlayError
from overlay_spark.options import Options
from overlay_spark.printing import (
    print_algorithms,
    print_beside_the_paper,
    print_comparisons,
    print_demo,
    print_estimate,
    print_overlay,
    print_profiles,
    print_verdict,
    print_workload,
)

if TYPE_CHECKING:
    from overlay_spark.jobs.inputs import Inputs
    from overlay_spark.jobs.progress import Steps

DONE, REFUSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130

REFERENCES = """\
where tables are (REF):
  delta:PATH     a Delta table in a folder or object store
  parquet:PATH   Parquet files
  csv:PATH       CSV files with a header line
  table:NAME     a table of a cluster's catalog: table, schema.table or catalog.schema.table
                 (the catalog of a local session is gone with it)
where results go (WHERE):
  FOLDER         Delta tables in a folder, one sub-folder each
  table:SCHEMA   tables of a schema in a cluster's catalog
"""
EXIT_CODES = """\
exit codes:
  0 done   1 refused or refuted   2 wrong flag or option   3 failed   130 interrupted
"""
WORKLOAD_EXAMPLES = """\
examples:
  overlay-spark workload --nodes 100000 --topics 1000 --law zipf --output big
  overlay-spark workload --file coords.csv.gz --output measured     (columns: node, x, y, height)
  overlay-spark workload --costs clusters --set workload.outer=80 --output clusters
All options are in the section [workload] of conf/default.toml.
"""
BENCHMARK_EXAMPLES = """\
examples:
  overlay-spark benchmark greedy --file coords.csv.gz   our greedy kernel beside tests/yardsticks/grmaw.cpp (needs g++)
  overlay-spark benchmark design                        where the time of a whole design job goes
"""
DESIGN_EXAMPLE = """\
example:
  overlay-spark design --subscriptions csv:subscriptions.csv --link-costs csv:link_costs.csv --output overlay
  (subscriptions.csv has the columns node_id,topic_id; link_costs.csv has src,dst,cost)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give back its exit code."""
    parser = build_parser()
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has said why, or shown help
        return int(stop.code or 0)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("overlay_spark").setLevel(logging.INFO)
    try:
        return int(given.command(given))
    except OverlayError as error:
        print(f"overlay-spark: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("overlay-spark: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception:
        logging.getLogger(__name__).exception("overlay-spark stopped on an error it does not know")
        return FAILED


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="overlay-spark",
        description="Which broker links to which: the cheapest links that keep every topic's brokers connected.",
        epilog="Start with: overlay-spark demo\n\n" + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"overlay-spark {overlay_spark.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_design(commands)
    _add_verify(commands)
    _add_estimate(commands)
    _add_workload(commands)
    _add_benchmark(commands)
    _add_experiment(commands)
    _add_demo(commands)
    listing = commands.add_parser("algorithms", help="list the algorithms and what each guarantees")
    listing.set_defaults(command=_algorithms)
    return parser


def _command(commands: Any, name: str, function: Callable[..., int], summary: str, epilog: str) -> Any:
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=function)
    parser.add_argument("--config", metavar="FILE", help="options as TOML; see conf/default.toml for all of them")
    parser.add_argument(
        "--set", metavar="SECTION.KEY=VALUE", action="append", default=[], help="set one option; wins over --config"
    )
    return parser


def _add_problem_flags(parser: Any) -> None:
    parser.add_argument("--subscriptions", metavar="REF", required=True, help="who wants what: node_id, topic_id")
    parser.add_argument("--nodes", metavar="REF", help="the brokers: node_id, site, coordinates, height")
    costs = parser.add_mutually_exclusive_group(required=True)
    costs.add_argument("--link-costs", metavar="REF", help="links that may be used: src, dst, cost")
    costs.add_argument("--site-costs", metavar="REF", help="cost between the sites of two nodes: site_a, site_b, cost")
    costs.add_argument(
        "--coordinates", action="store_true", help="costs are distances between the coordinates of --nodes"
    )


def _add_design(commands: Any) -> None:
    summary = "compute an overlay, prove it and write it"
    parser = _command(commands, "design", _design, summary, f"{DESIGN_EXAMPLE}\n{REFERENCES}\n{EXIT_CODES}")
    _add_problem_flags(parser)
    parser.add_argument("--output", metavar="WHERE", required=True, help="where the overlay's tables go")
    parser.add_argument(
        "--algorithm", metavar="A", help="by name (overlay-spark algorithms lists them; default greedy)"
    )
    parser.add_argument("--then", metavar="S", action="append", help="afterwards: reverse_delete drops needless links")
    parser.add_argument("--engine", metavar="E", help="auto or kernel (default auto)")
    parser.add_argument("--seed", metavar="N", type=int, help="for algorithms that draw (default 0)")
    parser.add_argument("--dry-run", action="store_true", help="compute and check everything, write nothing")


def _add_verify(commands: Any) -> None:
    summary = "prove or refute a stored overlay"
    parser = _command(commands, "verify", _verify, summary, f"{REFERENCES}\n{EXIT_CODES}")
    _add_problem_flags(parser)
    parser.add_argument("--overlay", metavar="WHERE", required=True, help="where overlay_links is")
    parser.add_argument("--dry-run", action="store_true", help="leave no row in the table runs")


def _add_estimate(commands: Any) -> None:
    summary = "tell what a design would take, without solving anything"
    parser = _command(commands, "estimate", _estimate, summary, f"{REFERENCES}\n{EXIT_CODES}")
    _add_problem_flags(parser)


def _add_workload(commands: Any) -> None:
    summary = "make a seeded workload as tables, of any size"
    parser = _command(commands, "workload", _workload, summary, f"{WORKLOAD_EXAMPLES}\n{EXIT_CODES}")
    parser.add_argument("--output", metavar="WHERE", required=True, help="where the tables go")
    parser.add_argument("--nodes", metavar="N", type=int, help="how many brokers (default 1000)")
    parser.add_argument("--topics", metavar="N", type=int, help="how many topics (default 200)")
    parser.add_argument("--law", metavar="L", help="popularity of topics: unif, zipf or expo (default unif)")
    parser.add_argument("--costs", metavar="C", help="plane, clusters or pairs (default plane)")
    parser.add_argument("--file", metavar="CSV", help="costs of a measured set: coordinates, or a table between sites")
    parser.add_argument("--seed", metavar="N", type=int, help="another seed, another workload (default 0)")


def _add_benchmark(commands: Any) -> None:
    summary = "measure our speed on this machine, beside a plain C++ program"
    parser = _command(commands, "benchmark", _benchmark, summary, f"{BENCHMARK_EXAMPLES}\n{EXIT_CODES}")
    parser.add_argument(
        "what",
        choices=["greedy", "primal_dual", "design"],
        help="a kernel beside its yardstick, or a whole job's steps",
    )
    parser.add_argument("--file", metavar="CSV", help="coordinates of a measured set (default: points of a square)")
    parser.add_argument("--seed", metavar="N", type=int, help="another seed, another workload (default 0)")
    parser.add_argument("--output", metavar="WHERE", help="also add the figures to the table experiments there")


def _add_experiment(commands: Any) -> None:
    summary = "measure a paper's experiments anew, its stated figures beside ours"
    parser = _command(commands, "experiment", _experiment, summary, EXIT_CODES)
    parser.add_argument("paper", choices=["000"], help="000: weighted overlays, figures 4 to 8")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and one seed: about a minute")
    parser.add_argument("--seeds", metavar="N", type=int, default=3, help="workloads for each point (default 3)")
    parser.add_argument("--file", metavar="CSV", help="coordinates of a measured set (default: points of a square)")
    parser.add_argument("--output", metavar="WHERE", help="add all figures to the table experiments there")
    parser.add_argument("--plots", metavar="FOLDER", help="draw a PNG for each figure into this folder")


def _add_demo(commands: Any) -> None:
    summary = "make a workload of ten cities, design its overlay, verify it and show what it saves"
    parser = _command(commands, "demo", _demo, summary, EXIT_CODES)
    parser.add_argument(
        "--output", metavar="WHERE", default="overlay-demo", help="where the tables go (default: ./overlay-demo)"
    )


def _options(given: argparse.Namespace) -> Options:
    """The configuration file, then --set, then the flags that have one meaning."""
    options = Options.load(given.config, given.set)
    flags = {name: getattr(given, name, None) for name in ("algorithm", "engine", "seed")}
    if getattr(given, "then", None) is not None:
        flags["then"] = tuple(given.then)
    return replace(options, design=replace(options.design, **{name: v for name, v in flags.items() if v is not None}))


def _inputs(given: argparse.Namespace) -> Inputs:
    from overlay_spark.jobs.inputs import Inputs
    from overlay_spark.tables.references import Reference

    if given.site_costs and not given.nodes:
        raise OptionError("--site-costs needs --nodes, to know the site of each node.")
    if given.coordinates and not given.nodes:
        raise OptionError("--coordinates needs --nodes, to know where each node is.")
    names = ("subscriptions", "nodes", "link_costs", "site_costs")
    places = {name: getattr(given, name) for name in names}
    return Inputs(**{name: Reference.parse(place) for name, place in places.items() if place})


def _design(given: argparse.Namespace) -> int:
    from overlay_spark.algorithms.registry import find
    from overlay_spark.jobs.progress import Steps
    from overlay_spark.tables.references import Destination

    options, inputs, output, steps = _options(given), _inputs(given), Destination.parse(given.output), Steps()
    find(options.design.algorithm)
    with _session(options, steps) as spark:
        from overlay_spark.jobs.design import run_design

        overlay = run_design(spark, inputs, output, options, given.dry_run, steps)
        overlay.release()
        steps.done()
    print_overlay(overlay)
    print("Dry run: nothing was written." if given.dry_run else f"Written to {output}")
    return DONE


def _verify(given: argparse.Namespace) -> int:
    from overlay_spark.jobs.progress import Steps
    from overlay_spark.tables.references import Destination

    options, inputs, overlay, steps = _options(given), _inputs(given), Destination.parse(given.overlay), Steps()
    with _session(options, steps) as spark:
        from overlay_spark.jobs.verify import run_verify

        found = run_verify(spark, inputs, overlay, options, given.dry_run, steps)
        found.release()
        steps.done()
    print_verdict(found)
    return DONE if found.ok else REFUSED


def _estimate(given: argparse.Namespace) -> int:
    from overlay_spark.jobs.progress import Steps

    options, inputs, steps = _options(given), _inputs(given), Steps()
    with _session(options, steps) as spark:
        from overlay_spark.api import estimate
        from overlay_spark.jobs.inputs import describe, load_problem

        steps("read")
        found = estimate(load_problem(spark, inputs, describe(spark, inputs)), options, steps)
        steps.done()
    print_estimate(found, options)
    return DONE if found.fits else REFUSED


def _workload(given: argparse.Namespace) -> int:
    from overlay_spark.jobs.progress import Steps
    from overlay_spark.jobs.workload import plan_workload, run_workload
    from overlay_spark.tables.references import Destination

    options, output, steps = _options(given), Destination.parse(given.output), Steps()
    names = ("nodes", "topics", "law", "costs", "file")
    flags = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if given.file is not None:
        flags.setdefault("costs", "file")
    options = replace(options, workload=replace(options.workload, **flags))
    workload = plan_workload(options)
    with _session(options, steps) as spark:
        inputs = run_workload(spark, workload, output, options, steps)
        steps.done()
    print_workload(workload, inputs, output)
    return DONE


def _benchmark(given: argparse.Namespace) -> int:
    from overlay_spark.jobs.progress import Steps
    from overlay_spark.jobs.workload import plan_workload
    from overlay_spark.tables.references import Destination

    options, steps = _options(given), Steps()
    output = Destination.parse(given.output) if given.output else None
    if given.file is not None:
        options = replace(options, workload=replace(options.workload, costs="file", file=given.file))
    planned = plan_workload(options)
    if given.what == "design":
        from overlay_spark.jobs.profile import profile_design

        with _session(options, steps) as spark:
            profiles = profile_design(spark, options, output, steps)
            steps.done()
        print_profiles(profiles)
        return DONE
    from overlay_spark.jobs.benchmark import BENCHMARKS, figures_of, run_benchmark
    from overlay_spark.jobs.figures import record_figures
    from overlay_spark.jobs.runs import Run

    found = run_benchmark(BENCHMARKS[given.what], planned.points, options, steps)
    steps.done()
    print_comparisons(found)
    if output is not None:
        with _session(options, steps) as spark:
            figures = figures_of(given.what, found, options.design.seed)
            record_figures(spark, figures, output, Run("benchmark", options))
    return DONE


def _experiment(given: argparse.Namespace) -> int:
    from pathlib import Path

    from overlay_spark.jobs import experiments, plots
    from overlay_spark.jobs.figures import record_figures
    from overlay_spark.jobs.progress import Steps
    from overlay_spark.jobs.runs import Run
    from overlay_spark.jobs.workload import plan_workload
    from overlay_spark.tables.references import Destination

    options, steps = _options(given), Steps()
    if given.seeds < 1:
        raise OptionError(f"--seeds must be at least 1, got {given.seeds}.")
    output = Destination.parse(given.output) if given.output else None
    if given.plots:
        plots.require_matplotlib()
    if given.file is not None:
        options = replace(options, workload=replace(options.workload, costs="file", file=given.file))
    points = plan_workload(options).points
    with _session(options, steps) as spark:
        chosen = experiments.settings(given.quick, given.seeds)
        figures = experiments.run_experiment(spark, chosen, points, options, steps)
        if output is not None:
            steps("write experiments")
            record_figures(spark, figures, output, Run("experiment", options))
        steps.done()
    print_beside_the_paper(experiments.beside_the_paper(figures))
    if given.plots:
        for path in plots.draw(figures, Path(given.plots)):
            print(f"Drawn: {path}")
    return DONE


def _demo(given: argparse.Namespace) -> int:
    from overlay_spark.jobs.progress import Steps
    from overlay_spark.tables.references import Destination

    options, output, steps = _options(given), Destination.parse(given.output), Steps()
    options = replace(options, session=replace(options.session, brief=True))
    with _session(options, steps) as spark:
        from overlay_spark.jobs.demo import run_demo

        result = run_demo(spark, output, options, steps)
        steps.done()
    print_demo(result, output)
    return DONE if result.verification.ok else REFUSED


def _algorithms(given: argparse.Namespace) -> int:
    from overlay_spark.algorithms.registry import ALGORITHMS

    print_algorithms(ALGORITHMS)
    return DONE


class _session:
    """A Spark session for one command; one made here is stopped, one found running is left alone."""

    def __init__(self, options: Options, steps: Steps):
        self._options, self._steps = options, steps

    def __enter__(self) -> Any:
        self._steps("start Spark")
        from overlay_spark.jobs.session import open_session, spark_version

        try:
            spark_version()
            from pyspark.logger import PySparkLogger
            from pyspark.sql import SparkSession

            PySparkLogger.getLogger("DataFrameQueryContextLogger").disabled = True  # the message is ours to tell
            self._found = SparkSession.getActiveSession() is not None
            self._spark = open_session(self._options.session, self._steps.say)
        finally:
            self._steps.done()
        return self._spark

    def __exit__(self, *error: object) -> None:
        self._steps.done()
        if not self._found:
            self._spark.stop()


if __name__ == "__main__":
    sys.exit(main())
