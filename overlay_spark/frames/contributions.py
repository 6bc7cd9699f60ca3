"""Contributions: how many topics' components a candidate joins, against the components as they are."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.components import Components

BINS_A_DOUBLING = 64
"""Ranks are counted in bins, so many for each power of two."""


def contributions(candidates: DataFrame, components: Components) -> DataFrame:
    """(src, dst, cost, ...) -> (src, dst, cost, contribution) of the candidates that still join anything.

    Contributions only fall: those at 0 are gone for good. Topics that both ends want less those in which they are in
    one component. Two joins by node, without a shuffle where the components are broadcast.
    """
    apart = F.size(F.array_intersect("topics_a", "topics_b")) - F.size(
        F.array_intersect("components_a", "components_b")
    )
    some = F.array_remove(F.array(apart), F.lit(0))  # a filter behind it would have the sizes computed twice
    return components.met(candidates).select("src", "dst", "cost", F.explode(some).alias("contribution"))


def joined_components(candidates: DataFrame, components: Components) -> DataFrame:
    """(src, dst, cost, contribution) -> (src, dst, cost, contribution, a, b), once for each topic a candidate joins:
    the components ``a`` and ``b`` at its ends. Joins as :func:`contributions`."""
    met = components.met(candidates).withColumn("topic", F.explode(F.array_intersect("topics_a", "topics_b")))

    def at(end: str) -> Column:
        return F.element_at(f"components_{end}", F.array_position(f"topics_{end}", F.col("topic")).cast("int"))

    columns = ("src", "dst", "cost", "contribution")
    return met.select(*columns, at("a").alias("a"), at("b").alias("b")).where("a <> b")


def rank(unit_costs: bool) -> Column:
    """A candidate's cost per topic it joins; with ``unit_costs`` every link costs 1. The quotient of the kernels."""
    return (F.lit(1) if unit_costs else F.col("cost")) / F.col("contribution")


def bin_of(rank: Column, bins: int = BINS_A_DOUBLING) -> Column:
    """A whole number that rises with the rank."""
    return F.floor(F.log2(rank) * F.lit(bins))
