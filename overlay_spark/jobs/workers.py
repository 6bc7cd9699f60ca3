"""What the workers of a session can import, found out before anything heavy is asked of them."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import overlay_spark
from overlay_spark.errors import SetupError
from overlay_spark.jobs.packing import archive_flags, python_line, zip_flags

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

OURS = "overlay_spark"
NEEDED = (OURS, "numpy", "pyarrow", "pandas", "numba")
"""What tasks import."""

SHIP_ALL = "overlay-spark pack FOLDER --with-dependencies"


def require_workers(spark: SparkSession) -> None:
    """Let one task import all that tasks need; what it cannot, or has another version of, is told with the remedy.

    One job of one task. What it imports stays with the worker's Python, which runs later tasks too.
    """
    check(_ask(spark))


def _ask(spark: SparkSession) -> dict[str, Any]:
    """What one worker says of itself; the question travels as plain Python, without our package and without Arrow."""
    from pyspark.sql import functions as F

    names = NEEDED

    def look(_: int) -> str:
        import importlib
        import json
        import sys

        found, missing = {}, {}
        for name in names:
            try:
                found[name] = str(getattr(importlib.import_module(name), "__version__", "unknown"))
            except Exception as error:
                missing[name] = str(error)
        return json.dumps({"python": sys.executable, "found": found, "missing": missing})

    question = F.udf(look, "string", useArrow=False)
    try:
        (row,) = spark.range(0, 1, 1, 1).select(question("id")).collect()
    except Exception as error:  # whatever it is, Python tasks cannot run there
        raise SetupError(why_python_fails(str(error))) from error
    told: dict[str, Any] = json.loads(row[0])
    return told


def why_python_fails(message: str) -> str:
    """What to say where the workers' Python did not even take the question."""
    other = re.search(r"different version: (\d\.\d+)", message)
    if other:
        return (
            f"The workers run Python {other[1]}, but the driver runs {python_line()}; Spark needs one minor version "
            "for both. Set PYSPARK_PYTHON to such a Python on the workers, and PYSPARK_DRIVER_PYTHON to one here."
        )
    absent = re.search(r'Cannot run program "([^"]*)"', message)
    if absent:
        return (
            f"The workers have no Python at {absent[1]}. Set PYSPARK_PYTHON to where Python {python_line()} is on "
            "them; PYSPARK_DRIVER_PYTHON may name another place for the driver."
        )
    return f"Python does not run on the workers. Spark says: {' '.join(message.split()[:60])}"


def check(told: Mapping[str, Any]) -> None:
    """Refuse workers that lack something, or have another release of this package."""
    missing, found = told["missing"], told["found"]
    package = zip_flags(Path("FOLDER") / f"{OURS}-{overlay_spark.__version__}.zip")
    archive = archive_flags(Path("FOLDER") / "FILE")
    everything = f"ship all of it: {SHIP_ALL} makes the FILE for {' '.join(archive)}"
    ours = f"Run overlay-spark pack FOLDER and add {' '.join(package)} to spark-submit"
    others = [name for name in missing if name != OURS]
    if others:
        raise SetupError(
            f"The workers' Python ({told['python']}) cannot import {', '.join(missing)}: {missing[others[0]]}. "
            f"Install {', '.join(others)} there, or {everything} of spark-submit."
        )
    if OURS in missing:
        raise SetupError(f"The workers' Python ({told['python']}) cannot import {OURS}: {missing[OURS]}. {ours}.")
    if found[OURS] != overlay_spark.__version__:
        raise SetupError(
            f"The workers have {OURS} {found[OURS]}, but the driver has {overlay_spark.__version__}. {ours}."
        )
    log.info("Workers: %s", ", ".join(f"{name} {version}" for name, version in found.items()))
