"""Costs as whole numbers: the Column form against the array form."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql import functions as F

from overlay_spark.costs import MAX_UNITS, to_units
from overlay_spark.costs import from_units as from_units_array
from overlay_spark.frames.costs import from_units, overflows, units, vanishes

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("unit", [1e-6, 1 / 1024, 0.001, 3.0])
def test_units__are_the_same_in_spark_and_in_arrays(spark, unit):
    rng = np.random.default_rng(5)
    scale = unit * np.array([0.5, 0.49999999999999994, 1, 1.5, 2.5, 7.1, MAX_UNITS, MAX_UNITS - 0.5])
    costs = np.concatenate([scale, unit * 2.0 ** rng.uniform(0, 40, 5000)])
    frame = spark.createDataFrame([(i, float(c)) for i, c in enumerate(costs)], "i int, cost double")
    counted = units(F.col("cost"), unit)
    rows = frame.select("i", counted.alias("n"), from_units(counted, unit).alias("back")).orderBy("i").collect()
    assert [row["n"] for row in rows] == to_units(costs, unit).tolist()
    assert [row["back"] for row in rows] == from_units_array(to_units(costs, unit), unit).tolist()


def test_units__that_vanish_or_overflow_are_told_apart(spark):
    costs = [0.0, 0.4, 0.5, float(MAX_UNITS), float(MAX_UNITS) + 1.0, float("inf"), float("nan"), -1.0]
    frame = spark.createDataFrame([(c,) for c in costs], "cost double")
    cost = F.col("cost")
    told = frame.select(vanishes(cost, 1.0).alias("small"), overflows(cost, 1.0).alias("large")).collect()
    assert [row["small"] for row in told] == [False, True, False, False, False, False, False, False]
    assert [row["large"] for row in told] == [False, False, False, False, True, False, False, False]
