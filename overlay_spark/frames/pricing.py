"""Costs as whole numbers inside Spark, and what a link between any two nodes costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import MAX_UNITS, from_units_factor

if TYPE_CHECKING:
    from overlay_spark.frames.indexing import IndexedProblem


def units(cost: Column, unit: float) -> Column:
    """A cost as a whole number of units; the same expression as :func:`overlay_spark.costs.to_units`."""
    return F.floor(cost / F.lit(unit) + F.lit(0.5))


def distance_units(point_a: Column, height_a: Column, point_b: Column, height_b: Column, unit: float) -> Column:
    """The cost by distance; step by step as :func:`overlay_spark.kernels.link_costs.cost_between`."""
    squares = F.zip_with(point_a, point_b, lambda a, b: (a - b) * (a - b))
    apart = F.sqrt(F.aggregate(squares, F.lit(0.0), lambda total, square: total + square))
    return F.greatest(F.lit(1).cast("bigint"), units(apart + (height_a + height_b), unit))


def vanishes(cost: Column, unit: float) -> Column:
    return (cost > 0) & (cost / F.lit(unit) + F.lit(0.5) < 1)


def overflows(cost: Column, unit: float) -> Column:
    finite = cost < F.lit(float("inf"))
    return finite & (cost / F.lit(unit) + F.lit(0.5) >= MAX_UNITS + 1)


def from_units(count: Column, unit: float) -> Column:
    """A whole number of units as a cost; the same expression as :func:`overlay_spark.costs.from_units`."""
    factor, divide = from_units_factor(unit)
    return count / F.lit(factor) if divide else count * F.lit(factor)


def with_price(problem: IndexedProblem, links: DataFrame) -> DataFrame:
    """Links with both ends (:func:`with_ends`) -> the same with ``price``, what the problem says each costs.

    It is null where an end is unknown or the pair may not link. Costs listed or by site take one join; by distance the
    price is a column of the row itself. ``low`` and ``high`` number the ends, the lesser first.
    """
    both = F.col("node_a").isNotNull() & F.col("node_b").isNotNull()
    numbered = links.withColumns(
        {"low": F.when(both, F.least("node_a", "node_b")), "high": F.when(both, F.greatest("node_a", "node_b"))}
    )
    if problem.link_costs is not None:
        listed = problem.link_costs.select(
            F.col("src").alias("low"), F.col("dst").alias("high"), F.col("cost").alias("price")
        )
        return numbered.join(listed, ["low", "high"], "left")
    if problem.site_costs is not None:
        by_site = problem.site_costs.select(F.col("site_a"), F.col("site_b"), F.col("cost").alias("price"))
        return numbered.join(by_site, ["site_a", "site_b"], "left")
    distance = distance_units(
        F.col("coordinates_a"), F.col("height_a"), F.col("coordinates_b"), F.col("height_b"), problem.unit
    )
    return numbered.withColumn("price", F.when(both, distance))
