"""``overlay-spark workload``: a seeded problem of any size as tables."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from overlay_spark.cli.parsing import DONE, EXIT_CODES, add_command, options_of, with_workload_flags
from overlay_spark.cli.printing import counted, problem_flags
from overlay_spark.cli.session import spark_session
from overlay_spark.jobs.progress import Steps
from overlay_spark.tables.references import Destination

if TYPE_CHECKING:
    from overlay_spark.jobs.inputs import Inputs
    from overlay_spark.options import WorkloadOptions

EXAMPLES = """\
examples:
  overlay-spark workload --nodes 100000 --topics 1000 --law zipf --output big
  overlay-spark workload --file coords.csv.gz --output measured     (columns: node, x, y, height)
  overlay-spark workload --costs clusters --set workload.outer=80 --output clusters
The section [workload] of conf/default.toml lists all options.
"""


def add(commands: Any) -> None:
    summary = "make a seeded workload of any size as tables"
    parser = add_command(commands, "workload", run, summary, f"{EXAMPLES}\n{EXIT_CODES}")
    parser.add_argument("--output", metavar="WHERE", required=True, help="where the tables are written")
    parser.add_argument("--nodes", metavar="N", type=int, help="how many brokers (default 1000)")
    parser.add_argument("--topics", metavar="N", type=int, help="how many topics (default 200)")
    parser.add_argument(
        "--sizes", metavar="S", help="how many topics a broker wants: uniform, power or bernoulli (default uniform)"
    )
    parser.add_argument("--law", metavar="L", help="how topics' popularity falls: unif, zipf or expo (default unif)")
    parser.add_argument("--costs", metavar="C", help="plane, clusters or pairs (default plane)")
    parser.add_argument("--file", metavar="CSV", help="a measured set: coordinates, or costs between sites")
    parser.add_argument("--seed", metavar="N", type=int, help="another seed, another workload (default 0)")


def run(given: argparse.Namespace) -> int:
    from overlay_spark.lab.plan import plan_workload

    names = ("nodes", "topics", "sizes", "law", "costs", "file", "seed")
    options = with_workload_flags(options_of(given), **{name: getattr(given, name) for name in names})
    workload, output, steps = plan_workload(options), Destination.parse(given.output), Steps()
    with spark_session(options, steps) as spark:
        from overlay_spark.lab.workload import run_workload

        inputs = run_workload(spark, workload, output, options, steps)
    print_workload(options.workload, inputs, output)
    return DONE


def print_workload(made: WorkloadOptions, inputs: Inputs, output: Destination) -> None:
    print(f"{counted(made.nodes, 'node')}, {counted(made.topics, 'topic')}: written to {output}")
    print(f"Try next:\n  overlay-spark design {problem_flags(inputs)} --output {shlex.quote(f'{output}-overlay')}")
