"""``overlay-spark algorithms``: what there is to choose from."""

from __future__ import annotations

import argparse
from typing import Any

from overlay_spark.algorithms import registry
from overlay_spark.cli.parsing import DONE


def add(commands: Any) -> None:
    parser = commands.add_parser("algorithms", help="list algorithms with what each guarantees, steps and bounds")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    for algorithm in registry.ALGORITHMS:
        print(f"{algorithm.name}, in the papers {algorithm.paper_name}")
        print(f"  minimises  {algorithm.minimises}")
        print(f"  guarantee  {algorithm.guarantee}")
        print(f"  options    {registry.option_names(algorithm.section)}")
    print("\nsteps that may follow (--then):")
    for step in registry.STEPS:
        print(f"  {step.name}: {step.does}")
    print("\nlower bounds on the cost (--set design.bound=NAME):")
    for bound in registry.BOUNDS:
        print(f"  {bound.name}: {bound.says}")
    return DONE
