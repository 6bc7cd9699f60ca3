"""``overlay-spark refresh``: keep an overlay right and cheap while brokers come and go."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overlay_spark.cli.design import print_overlay
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
from overlay_spark.jobs.progress import Steps
from overlay_spark.tables.references import Destination

if TYPE_CHECKING:
    from overlay_spark.results import RefreshMetrics

EXAMPLE = """\
example:
  overlay-spark refresh --subscriptions delta:bus/subscriptions --link-costs delta:bus/link_costs --output overlay
  (subscriptions is a Delta table with delta.enableChangeDataFeed = true; overlay was designed from it)
"""


def add(commands: Any) -> None:
    summary = "bring an overlay up to date with what changed since, by few changes of its links"
    parser = add_command(commands, "refresh", run, summary, f"{EXAMPLE}\n{REFERENCES}\n{EXIT_CODES}")
    add_problem_flags(parser)
    parser.add_argument("--output", metavar="WHERE", required=True, help="where the overlay's tables are")
    parser.add_argument("--approve", metavar="TOKEN", help="run what was refused as too large a change, by its token")
    parser.add_argument("--dry-run", action="store_true", help="compute and check everything, but write nothing")


def run(given: argparse.Namespace) -> int:
    options, output, inputs, steps = options_of(given), Destination.parse(given.output), inputs_of(given), Steps()
    with spark_session(options, steps) as spark:
        from overlay_spark.jobs.refresh import run_refresh

        found = run_refresh(spark, inputs, output, options, given.approve, given.dry_run, steps)
        steps.done()
    for note in found.notes:
        print(f"Note: {note}")
    if found.redesigned is not None:
        print_overlay(found.redesigned)
    elif found.metrics is not None:
        print_changes(found.metrics)
    else:
        print("Nothing changed.")
        return DONE
    print("Dry run: nothing was written." if given.dry_run else f"Written to {output}")
    return DONE


def print_changes(m: RefreshMetrics) -> None:
    print_rows(
        [
            ("links added", f"{m.added:,}", f"of {counted(m.links, 'link')} now"),
            ("links removed", f"{m.removed:,}", f"of {counted(m.links_before, 'link')} before"),
            ("links at other costs", f"{m.recosted:,}", ""),
            ("topics touched", f"{m.topics_touched:,}", f"{m.topics_apart:,} of them had come apart"),
            ("nodes", f"{m.nodes:,}", f"{m.nodes_lost:,} of {m.nodes_before:,} are gone"),
            ("cost", f"{m.cost:,.6g}", f"{m.cost_before:,.6g} before"),
            ("verified", "yes", "every topic connected, every link allowed, rightly priced and of use"),
        ]
    )
