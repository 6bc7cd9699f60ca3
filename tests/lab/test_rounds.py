"""The benchmark of greedy in rounds: what it tells is what happened, and it notices where engines differ."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

import pytest

from overlay_spark.jobs.progress import Steps
from overlay_spark.lab import rounds as module
from overlay_spark.lab.benchmark import Case
from overlay_spark.lab.measure import MeasureError
from overlay_spark.options import FramesOptions, Options

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CASE = Case(16, 110)
OPTIONS = Options(frames=FramesOptions(band_share=1.0))


def test_measure_rounds__tells_what_every_pass_did(spark):
    (found,) = module.measure_rounds(spark, [CASE], None, OPTIONS, Steps(io.StringIO()))
    assert sum(one.links for one in found.rounds) == found.links > 0
    assert found.rounds[-1].apart == 0
    assert [one.number for one in found.rounds] == list(range(1, len(found.rounds) + 1))
    assert found.read_per_candidate >= 1
    assert found.seconds > sum(one.seconds for one in found.rounds) / 2 > 0
    assert found.peak_bytes > 100 << 20
    assert found.shuffled is None
    told = {(series, metric): value for _, _, series, _, _, metric, value, _ in module.figures_of([found], 3)}
    assert told["frames", "rounds"] == len(found.rounds)
    assert told["kernel", "seconds"] == found.kernel_seconds
    with_shuffles = replace(found, shuffled=(module.Shuffled(3, 5), module.Shuffled(4, 6)))
    told = {metric: value for _, _, _, _, _, metric, value, _ in module.figures_of([with_shuffles], 3)}
    assert (told["rows shuffled"], told["bytes shuffled"]) == (7, 11)


def test_measure_rounds__notices_that_engines_differ(spark, monkeypatch):
    different = itertools.cycle([[(0, 1, 1, 1)], [(0, 2, 1, 1)]])
    monkeypatch.setattr(module, "picks", lambda links: next(different))
    with pytest.raises(MeasureError, match="the engines pick different links"):
        list(module.measure_rounds(spark, [CASE], None, OPTIONS, Steps(io.StringIO())))
