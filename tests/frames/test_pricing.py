"""Costs as whole numbers: the Column form against the array form."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from overlay_spark.costs import LISTED, MAX_UNITS, listed_costs, point_costs, site_costs, to_units
from overlay_spark.costs import from_units as from_units_array
from overlay_spark.frames.indexing import with_ends
from overlay_spark.frames.pricing import distance_units, from_units, overflows, units, vanishes, with_price
from overlay_spark.kernels.link_costs import costs_of
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests.problems import indexed

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


N, UNIT = 12, 0.25
IDS = [f"n{v:02d}" for v in range(N)]


def cost_model(spark, model):
    """(costs as arrays, costs as a table, nodes) of twelve nodes at five sites; half of all pairs are listed."""
    rng = np.random.default_rng(6)
    sites = np.arange(N) % 5
    points, heights = rng.integers(-9, 9, (N, 2)) * 0.3, rng.integers(0, 3, N) * 0.7
    rows = list(zip(IDS, [f"s{site}" for site in sites], points.tolist(), heights.tolist(), strict=True))
    nodes = catalog.NODES.rows(spark, rows)
    if model == "points":
        return point_costs(points, heights, UNIT), CoordinateCosts(), nodes
    if model == "sites":
        table = np.triu(rng.integers(1, 99, (5, 5)))
        priced = [(f"s{b}", f"s{a}", table[a, b] * UNIT) for a in range(5) for b in range(a, 5)]
        return site_costs(sites, table + np.triu(table, 1).T), SiteCosts(catalog.SITE_COSTS.rows(spark, priced)), nodes
    pairs = [(u, v) for v in range(N) for u in range(v) if (u + v) % 2]
    prices = rng.integers(1, 99, len(pairs))
    priced = [(IDS[v], IDS[u], cost * UNIT) for (u, v), cost in zip(pairs, prices.tolist(), strict=True)]
    return listed_costs(*np.array(pairs).T, prices), ListedCosts(catalog.LINK_COSTS.rows(spark, priced)), nodes


@pytest.mark.parametrize("model", ["listed", "sites", "points"])
def test_price__is_what_arrays_say_of_every_pair_and_null_where_none_may_link(spark, workspace, model):
    """Over all pairs in both directions, and links of which one end or both are unknown."""
    costs, table, nodes = cost_model(spark, model)
    wants = catalog.SUBSCRIPTIONS.rows(spark, [(node, "x") for node in IDS])
    given = indexed(OverlayProblem(wants, table, nodes, unit=UNIT), workspace)
    expected = {(IDS[0], "who"): None, ("who", IDS[0]): None, ("who", "else"): None}
    for u, v in combinations(range(N), 2):
        may_link = costs.kind != LISTED or (u + v) % 2
        price = int(costs_of(costs, np.array([u], np.int32), np.array([v], np.int32))[0]) if may_link else None
        expected |= {(IDS[u], IDS[v]): (u, v, price), (IDS[v], IDS[u]): (u, v, price)}
    links = spark.createDataFrame(list(expected), "src string, dst string")
    rows = with_price(given, with_ends(given, links, by="node_id")).collect()
    found = {(row["src"], row["dst"]): (row["low"], row["high"], row["price"]) for row in rows}
    assert found == {ends: price or (None, None, None) for ends, price in expected.items()}
    assert len(rows) == len(expected) == N * (N - 1) + 3
