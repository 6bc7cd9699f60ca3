"""``overlay-spark estimate``: what a design would take."""

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
from overlay_spark.cli.printing import print_rows
from overlay_spark.cli.session import spark_session
from overlay_spark.engines import require_known
from overlay_spark.jobs.progress import Steps

if TYPE_CHECKING:
    from overlay_spark.results import Estimate


def add(commands: Any) -> None:
    summary = "say how much memory and time a design would take, without solving anything"
    parser = add_command(commands, "estimate", run, summary, f"{REFERENCES}\n{EXIT_CODES}")
    add_problem_flags(parser)


def run(given: argparse.Namespace) -> int:
    options = options_of(given)
    require_known(options)
    inputs, steps = inputs_of(given), Steps()
    with spark_session(options, steps) as spark:
        from overlay_spark.api import estimate
        from overlay_spark.jobs.inputs import describe, load_problem

        steps("read")
        problem = load_problem(spark, inputs, describe(spark, inputs))
        found = estimate(problem, options=options, progress=steps)
    print_estimate(found, options.design.task_memory)
    return DONE if found.fits else REFUSED


def print_estimate(found: Estimate, task_memory: str) -> None:
    candidates = "counted" if found.is_exact else "about" if found.is_sampled else "at most"
    print_rows(
        [
            ("nodes", f"{found.nodes:,}", ""),
            ("topics", f"{found.topics:,}", ""),
            ("subscriptions", f"{found.subscriptions:,}", ""),
            ("candidate links", f"{found.candidates:,}", candidates),
        ]
    )
    print(f"\nEngines (design.task_memory allows {task_memory} a task):")
    print_rows(
        [
            ("", "tasks", "a task", "driver", "time, roughly", ""),
            *(
                (
                    engine.name,
                    f"{engine.tasks:,}",
                    f"{engine.task_bytes / 2**30:.2f} GiB",
                    f"{engine.driver_bytes / 2**30:.2f} GiB" if engine.driver_bytes else "-",
                    engine.time_class,
                    "fits" if engine.refusal is None else "is not taken",
                )
                for engine in found.engines
            ),
        ]
    )
    print(f"\nEngine: {found.choice}" if found.fits else f"\n{found.choice}")
