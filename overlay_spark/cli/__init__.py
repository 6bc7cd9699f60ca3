"""The command line: ``overlay-spark design | verify | workload | demo | ...``, a file for each family of commands."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

import overlay_spark
from overlay_spark.cli import algorithms, benchmark, demo, design, estimate, experiment, pack, refresh, verify, workload
from overlay_spark.cli.parsing import DONE, EXIT_CODES, FAILED, INTERRUPTED, REFUSED, USAGE
from overlay_spark.errors import OverlayError

__all__ = ["DONE", "FAILED", "INTERRUPTED", "REFUSED", "USAGE", "build_parser", "main"]

FAMILIES = (design, refresh, verify, estimate, workload, benchmark, experiment, demo, pack, algorithms)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give back its exit code."""
    try:
        given = build_parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has said why, or shown help
        return int(stop.code or 0)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("overlay_spark").setLevel(logging.INFO)
    try:
        return int(given.run(given))
    except OverlayError as error:
        print(f"overlay-spark: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("overlay-spark: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception:
        logging.getLogger(__name__).exception("overlay-spark stopped on an unexpected error")
        return FAILED


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each family adds its own."""
    parser = argparse.ArgumentParser(
        prog="overlay-spark",
        description="Decide which broker links to which: cheap links that keep the brokers of every topic connected.",
        epilog="Start with: overlay-spark demo\n\n" + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"overlay-spark {overlay_spark.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for family in FAMILIES:
        family.add(commands)
    return parser
