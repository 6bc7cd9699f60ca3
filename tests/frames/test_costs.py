"""Costs as whole numbers: the Column form against the array form."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from overlay_spark.costs import MAX_UNITS, point_costs, to_units
from overlay_spark.costs import from_units as from_units_array
from overlay_spark.frames.costs import distance_units, from_units, overflows, units, vanishes
from overlay_spark.kernels.link_costs import costs_of

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


@pytest.mark.parametrize("unit, dimensions", [(1e-6, 2), (0.001, 3)])
def test_distance_units__are_the_same_in_spark_and_in_arrays(spark, tmp_path, unit, dimensions):
    """Over all ordered pairs of 1500 nodes: 2.25 million costs, from one unit to the largest allowed."""
    rng = np.random.default_rng(7)
    longest = MAX_UNITS * unit / 4  # two heights and a diagonal stay within the largest cost
    scale = 10.0 ** rng.uniform(-8, np.log10(longest / dimensions), 1500)
    points = rng.uniform(-1, 1, (1500, dimensions)) * scale[:, None]
    points[:300] = rng.integers(-50, 50, (300, dimensions)) * (unit / 2)  # halves of a unit, and nodes in one place
    points[300:310] = np.copysign(longest / dimensions, points[300:310])
    points[310:320] = 5e-324
    points[320:330] = -0.0
    heights = np.where(rng.random(1500) < 0.5, 0.0, scale)
    heights[:3] = longest
    table = pa.table({"node": np.arange(1500, dtype=np.int32), "point": list(points), "height": heights})
    nodes = spark.createDataFrame(table)
    a, b = (nodes.select(*[nodes[c].alias(f"{c}_{end}") for c in nodes.columns]) for end in "ab")
    in_spark = distance_units(F.col("point_a"), F.col("height_a"), F.col("point_b"), F.col("height_b"), unit)
    pairs = a.repartition(2).crossJoin(b).select("node_a", "node_b", in_spark.alias("cost"))

    def compare(batches):
        costs = point_costs(points, heights, unit)
        for batch in batches:
            src, dst, cost = (column.to_numpy() for column in batch.columns)
            differ, largest = (costs_of(costs, src, dst) != cost).sum(), cost.max()
            numbers = {"pairs": [len(cost)], "differ": [differ], "least": [cost.min()], "largest": [largest]}
            yield pa.RecordBatch.from_pydict({name: pa.array(n, pa.int64()) for name, n in numbers.items()})

    found = pairs.mapInArrow(compare, "pairs bigint, differ bigint, least bigint, largest bigint")
    row = found.agg(F.sum("pairs"), F.sum("differ"), F.min("least"), F.max("largest")).first()
    assert tuple(row)[:3] == (1500 * 1500, 0, 1)
    assert MAX_UNITS / 2 < row[3] <= MAX_UNITS
