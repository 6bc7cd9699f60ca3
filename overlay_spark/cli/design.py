"""``overlay-spark design``: compute an overlay, prove it right and write it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overlay_spark.algorithms import registry
from overlay_spark.cli.parsing import (
    DONE,
    EXIT_CODES,
    REFERENCES,
    add_command,
    add_problem_flags,
    inputs_of,
    options_of,
)
from overlay_spark.cli.printing import counted, print_rows
from overlay_spark.cli.session import spark_session
from overlay_spark.engines import AUTO, NAMES, require_known
from overlay_spark.jobs.progress import Steps
from overlay_spark.tables.references import Destination

if TYPE_CHECKING:
    from overlay_spark.results import Metrics, Overlay

EXAMPLE = """\
example:
  overlay-spark design --subscriptions csv:subscriptions.csv --link-costs csv:link_costs.csv --output overlay
  (subscriptions.csv has the columns node_id,topic_id; link_costs.csv has src,dst,cost)
"""


def add(commands: Any) -> None:
    summary = "compute an overlay, prove it right and write it"
    parser = add_command(commands, "design", run, summary, f"{EXAMPLE}\n{REFERENCES}\n{EXIT_CODES}")
    add_problem_flags(parser)
    algorithms = ", ".join(algorithm.name for algorithm in registry.ALGORITHMS)
    steps = "; ".join(f"{step.name} {step.does}" for step in registry.STEPS)
    parser.add_argument("--output", metavar="WHERE", required=True, help="where the overlay's tables are written")
    parser.add_argument("--algorithm", metavar="A", help=f"{algorithms} (default greedy)")
    parser.add_argument("--then", metavar="STEP", action="append", help=f"a step that follows: {steps}")
    parser.add_argument("--engine", metavar="E", help=f"{', '.join((AUTO, *NAMES))} (default {AUTO})")
    parser.add_argument("--seed", metavar="N", type=int, help="for algorithms and steps that draw (default 0)")
    parser.add_argument("--dry-run", action="store_true", help="compute and check everything, but write nothing")


def run(given: argparse.Namespace) -> int:
    options = options_of(given).designing(given.algorithm, given.engine, given.then, given.seed)
    require_known(options)
    output, inputs, steps = Destination.parse(given.output), inputs_of(given), Steps()
    with spark_session(options, steps) as spark:
        from overlay_spark.jobs.design import run_design

        with run_design(spark, inputs, output, options, given.dry_run, steps) as overlay:
            steps.done()
            print_overlay(overlay)
    print("Dry run: nothing was written." if given.dry_run else f"Written to {output}")
    return DONE


def print_overlay(overlay: Overlay) -> None:
    m = overlay.metrics
    rows = [
        ("links", f"{m.links:,}", f"for {counted(m.nodes, 'node')} and {counted(m.topics, 'topic')}"),
        ("cost", f"{m.cost:,.6g}", overlay.algorithm),
    ]
    if overlay.facts.sum_of_trees is not None:
        rows.append(("sum of trees", f"{overlay.facts.sum_of_trees:,.6g}", "if each topic paid for its own tree"))
    if overlay.lower_bound is not None and overlay.gap is not None:
        above = f"{overlay.bound}; the cost is {overlay.gap:.1%} above it"
        rows.append(("no overlay costs less than", f"{overlay.lower_bound:,.6g}", above))
    rows += [
        ("links per node", f"{m.average_degree:.2f}", f"at most {m.max_degree:,}"),
        ("hops across a topic", *_diameter(m)),
        ("verified", "yes", f"every topic connected (components: {overlay.facts.method})"),
    ]
    print_rows(rows)
    print(f"Engine: {overlay.facts.choice}")


def _diameter(m: Metrics) -> tuple[str, str]:
    if m.average_diameter is None or m.largest_diameter is None:
        return "not measured", "no topic, or none within metrics.diameter_max_nodes"
    return f"{m.average_diameter:.2f}", f"at most {m.largest_diameter:,}, over {counted(m.topics_measured, 'topic')}"
