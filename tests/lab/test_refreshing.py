"""The benchmark of refreshes: what it tells is what the two jobs did."""

from __future__ import annotations

import io

import pytest

from overlay_spark.jobs.progress import Steps
from overlay_spark.lab import refreshing
from overlay_spark.lab.refreshing import figures_of, measure_refreshes
from overlay_spark.options import Options, WorkloadOptions


@pytest.mark.slow
@pytest.mark.spark
def test_measure_refreshes__sets_each_beside_a_design_of_what_is_there_then(spark, monkeypatch):
    monkeypatch.setattr(refreshing, "SHARES", (0.05, 0.2))
    options = Options(workload=WorkloadOptions(least=3, most=8))
    few, many = measure_refreshes(spark, options, [(60, 20)], Steps(io.StringIO()))
    assert (few.nodes, few.topics, few.share, many.share) == (60, 20, 0.05, 0.2)
    assert (few.metrics.nodes, many.metrics.nodes) == (60, 60)
    assert (few.metrics.nodes_lost, many.metrics.nodes_lost) == (1, 6)
    assert few.metrics.added
    assert few.metrics.removed
    assert many.ratio == many.seconds / many.design_seconds > 0
    assert sum(many.steps.values()) <= many.seconds
    assert -0.5 < many.drift < 0.5
    told = {(x, metric): value for _, _, _, x, _, metric, value, _ in figures_of([few, many], 3)}
    assert told[0.2, "links added"] == many.metrics.added
    assert told[0.05, "seconds / design"] == few.ratio
