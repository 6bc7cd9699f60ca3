"""``overlay-spark verify``: prove or refute a stored overlay."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overlay_spark.cli.parsing import (
    DONE,
    EXIT_CODES,
    REFERENCES,
    REFUSED,
    add_command,
    add_problem_flags,
    inputs_of,
    options_of,
)
from overlay_spark.cli.session import spark_session
from overlay_spark.jobs.progress import Steps
from overlay_spark.tables.references import Destination

if TYPE_CHECKING:
    from overlay_spark.results import Verification


def add(commands: Any) -> None:
    parser = add_command(commands, "verify", run, "prove or refute a stored overlay", f"{REFERENCES}\n{EXIT_CODES}")
    add_problem_flags(parser)
    parser.add_argument("--overlay", metavar="WHERE", required=True, help="where the table overlay_links is")
    parser.add_argument("--dry-run", action="store_true", help="add no row to the table runs")


def run(given: argparse.Namespace) -> int:
    options, place, inputs, steps = options_of(given), Destination.parse(given.overlay), inputs_of(given), Steps()
    with spark_session(options, steps) as spark:
        from overlay_spark.jobs.verify import run_verify

        with run_verify(spark, inputs, place, options, given.dry_run, steps) as found:
            steps.done()
            print_verdict(found)
    return DONE if found.ok else REFUSED


def print_verdict(found: Verification) -> None:
    for sentence in found.stale:
        print(f"Note: {sentence}")
    if found.ok:
        proved = "every topic is connected, and every link is allowed, rightly priced and of use"
        print(f"The overlay is right: {proved} (components: {found.method}).")
        return
    print("The overlay is refuted:")
    for fault in found.faults:
        print(f"- {fault}")
