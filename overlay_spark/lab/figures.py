"""The table ``experiments``: figures of benchmarks and experiments."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination

Figure = tuple[str, str, str, float | None, int, str, float, float | None]
"""(experiment, figure, series, x, seed, metric, value, the paper's value)."""


def record_figures(spark: SparkSession, figures: Sequence[Figure], output: Destination, run: Run) -> None:
    """Add figures in one commit, and the run's row."""
    with recorded(spark, output, run):
        run.opened()
        frame = catalog.EXPERIMENTS.rows(spark, figures)
        delta.append(catalog.EXPERIMENTS, frame.coalesce(1), output.table(catalog.EXPERIMENTS.name), run.metadata)
