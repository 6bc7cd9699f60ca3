"""Programs submitted to the tests' cluster, and what their event logs say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from overlay_spark.jobs.jars import local_jars
from overlay_spark.jobs.session import DELTA_CATALOG, DELTA_EXTENSION, spark_version
from overlay_spark.options import SessionOptions
from tests.cluster.cluster import Cluster, clean_environment
from tests.sessions import QUICK, SPARK_HOME

ROOT = Path(__file__).parents[2]

SETTINGS = {
    **QUICK,
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.extensions": DELTA_EXTENSION,
    "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}


JOBS = """
import json, runpy, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for file, flags in json.loads(sys.argv[1]):
    sys.argv = [file, *flags]
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
spark.stop()
"""
"""Programs one after the other, each with its flags, in one session: until one fails."""


class Submission:
    """One spark-submit to a cluster, from a folder of its own."""

    def __init__(self, cluster: Cluster, folder: Path):
        self._cluster, self._folder = cluster, folder
        self._events, self._log = folder / "events", folder / "submitted.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self, program: Path, arguments: Sequence[str], python: Path | str, driver: Path | str, flags: Sequence[str] = ()
    ) -> None:
        """``python`` is the workers'; a ``driver`` with another Python runs the package as these tests do."""
        self._events.mkdir()
        jars = ",".join(str(jar) for jar in local_jars(SessionOptions(), spark_version(), print))
        settings = {**SETTINGS, "spark.eventLog.dir": str(self._events)}
        conf = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        pythons = {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(driver)}
        path = {"PYTHONPATH": str(ROOT)} if driver == sys.executable else {}
        with self._log.open("wb") as out:
            self._process = subprocess.Popen(
                [f"{SPARK_HOME}/bin/spark-submit", "--master", self._cluster.url, "--jars", jars, *conf, *flags]
                + [str(program), *arguments],
                cwd=self._folder,
                env=clean_environment(**pythons, **path),
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> int:
        """Its exit code."""
        assert self._process is not None
        return self._process.wait(240)

    def end(self) -> None:
        """Stop it and all it started, if it still runs."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def said(self) -> str:
        """What it printed, Spark's own lines among it."""
        return self._log.read_text()

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Events of one kind in its event log."""
        return [event for event in self._all_events() if event["Event"] == f"SparkListener{kind}"]

    def _all_events(self) -> Iterator[dict[str, Any]]:
        for log in sorted(self._events.rglob("events_*")):
            for line in log.read_text().splitlines():
                yield json.loads(line)
