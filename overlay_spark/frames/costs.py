"""The cost models as a user gives them, and costs as whole numbers inside Spark."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.costs import MAX_UNITS, from_units_factor


@dataclass(frozen=True)
class ListedCosts:
    """Only listed links may be used: ``table`` is a LINK_COSTS table."""

    table: DataFrame


@dataclass(frozen=True)
class SiteCosts:
    """Every pair may link, at the cost between their sites: ``table`` is a SITE_COSTS table."""

    table: DataFrame


@dataclass(frozen=True)
class CoordinateCosts:
    """Every pair may link, at the distance between the coordinates of the NODES table, plus both heights."""


LinkCosts = ListedCosts | SiteCosts | CoordinateCosts


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
