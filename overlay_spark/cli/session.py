"""The Spark session of one command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from overlay_spark.jobs.session import open_session, spark_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from overlay_spark.jobs.progress import Steps
    from overlay_spark.options import Options


@contextmanager
def spark_session(options: Options, steps: Steps, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session for one command; one made here, with these settings, is stopped, one found running is left alone."""
    steps("start Spark")
    try:
        spark_version()
        from pyspark.logger import PySparkLogger
        from pyspark.sql import SparkSession

        PySparkLogger.getLogger("DataFrameQueryContextLogger").disabled = True  # the message is ours to tell
        found = SparkSession.getActiveSession() is not None
        spark = open_session(options.session, steps.say, settings)
    finally:
        steps.done()
    try:
        yield spark
    finally:
        steps.done()
        if not found:
            spark.stop()
