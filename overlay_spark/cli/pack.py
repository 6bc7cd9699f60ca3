"""``overlay-spark pack``: the package as a file for the workers of a cluster."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from overlay_spark.cli.parsing import DONE, EXIT_CODES
from overlay_spark.errors import SetupError
from overlay_spark.jobs.packing import Packed, pack, python_line
from overlay_spark.jobs.session import SUPPORTED_SPARK, delta_flags, spark_version

EPILOG = f"""\
Run it in the Python that drives Spark. Without flags it packs this package alone, for workers that have numpy, pyarrow,
pandas and numba; --with-dependencies packs these too, for workers with nothing but Python of the same minor version, on
machines of the same kind.

{EXIT_CODES}"""


def add(commands: Any) -> None:
    summary = "make the file that spark-submit ships to a cluster's workers, and say with which flags"
    parser = commands.add_parser(
        "pack",
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("folder", metavar="FOLDER", help="where the file is written")
    parser.add_argument("--with-dependencies", action="store_true", help="pack all that this package needs with it")


def run(given: argparse.Namespace) -> int:
    packed = pack(Path(given.folder), given.with_dependencies)
    needs = "nothing else" if given.with_dependencies else "numpy, pyarrow, pandas and numba"
    print(f"Written to {packed.path}, for workers with Python {python_line()} and {needs}. Submit with:\n")
    print(" \\\n  ".join(submit_lines(packed, spark_line())))
    return DONE


def spark_line() -> str:
    """The line of the Spark in this Python; where it has none, one that works: the cluster's own must be put in."""
    try:
        return spark_version()
    except SetupError:
        return SUPPORTED_SPARK[1]


def submit_lines(packed: Packed, spark_line: str) -> list[str]:
    """The command that runs a design with the file, in lines."""
    flags = [shlex.quote(flag) for flag in (*delta_flags(spark_line), *packed.flags)]
    pairs = [" ".join(flags[i : i + 2]) for i in range(0, len(flags), 2)]
    return ["spark-submit", *pairs, "pipelines/design_overlay.py --subscriptions REF --link-costs REF --output WHERE"]
