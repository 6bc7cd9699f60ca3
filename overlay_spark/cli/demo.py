"""``overlay-spark demo``: the first minute."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overlay_spark.cli.parsing import DONE, EXIT_CODES, REFUSED, add_command, options_of
from overlay_spark.cli.printing import counted, figure, print_rows, problem_flags
from overlay_spark.cli.session import spark_session
from overlay_spark.engines import require_known
from overlay_spark.jobs.progress import Steps
from overlay_spark.tables.references import Destination

if TYPE_CHECKING:
    from overlay_spark.lab.demo import DemoResult
    from overlay_spark.results import Metrics


def add(commands: Any) -> None:
    summary = "make a workload of ten cities, design its overlay, verify it and show what it saves"
    parser = add_command(commands, "demo", run, summary, EXIT_CODES)
    parser.add_argument(
        "--output",
        metavar="WHERE",
        default="overlay-demo",
        help="where the tables are written (default: overlay-demo); a workload that a demo made there before is kept",
    )


def run(given: argparse.Namespace) -> int:
    options = options_of(given)
    require_known(options)
    options = replace(options, session=replace(options.session, brief=True))
    output, steps = Destination.parse(given.output), Steps()
    with spark_session(options, steps) as spark:
        from overlay_spark.lab.demo import run_demo

        result = run_demo(spark, output, options, steps)
    print_demo(result, output)
    return REFUSED if result.faults else DONE


def print_demo(result: DemoResult, output: Destination) -> None:
    found, trees = result.overlay, result.trees
    print(
        f"\n{counted(found.nodes, 'broker')} in 10 cities, {counted(found.topics, 'topic')}; "
        "costs are milliseconds of round trip.\n"
    )
    rows = zip(_figures(found), _figures(trees), strict=True)
    print_rows(
        [
            ("", "this overlay", "one spanning tree per topic"),
            *((label, ours, theirs) for (label, ours), (_, theirs) in rows),
        ]
    )
    verdict = "NO: " + " ".join(result.faults) if result.faults else "yes"
    saved = 1 - found.cost / trees.cost
    print(f"\nCost saved: {saved:.0%}. Verified from the stored tables: {verdict}. Time: {result.seconds:.0f} s.")
    flags = problem_flags(result.inputs)
    place, another = shlex.quote(str(output)), shlex.quote(f"{output}-fewest")
    print(f"Tables: {output} (overlay_links is the overlay; runs says what was done)\n\nTry next:")
    print(f"  overlay-spark verify {flags} --overlay {place}")
    print(f"  overlay-spark design {flags} --algorithm fewest_links --output {another}")


def _figures(m: Metrics) -> list[tuple[str, str]]:
    return [
        ("links", f"{m.links:,}"),
        ("cost of all links", f"{m.cost:,.0f} ms"),
        ("links per broker, average", f"{m.average_degree:.1f}"),
        ("links per broker, most", f"{m.max_degree:,}"),
        ("hops across a topic, average", figure(m.average_diameter, ".1f")),
        ("hops across a topic, most", figure(m.largest_diameter, "d")),
        ("milliseconds across a topic", figure(m.average_weighted_diameter, ".0f")),
    ]
