"""Landmarks: a few ends of links, by which nodes are told apart where only tables say what links cost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem

LANDMARKS = 16
FAR = 2.0
"""A link that is not listed counts as so many times the dearest that is listed with a landmark."""


def landmark_sites(problem: IndexedProblem) -> NDArray[np.float64]:
    """What a link of each site to some sixteen sites costs; a row for each site passes through the driver.

    Within a site of one node no link need have a cost: it counts as none.
    """
    assert problem.site_costs is not None
    sites = problem.nodes.select("site").distinct().orderBy(F.xxhash64("site"), "site").toArrow().column("site")
    chosen = [site.as_py() for site in sites[:LANDMARKS]]
    rows = problem.site_costs.where(F.col("site_b").isin(chosen)).toArrow()
    a, b, cost = (rows.column(name).to_numpy() for name in ("site_a", "site_b", "cost"))
    places = np.zeros((len(sites), len(chosen)))
    places[a, np.searchsorted(np.sort(chosen), b)] = cost
    return places


def landmark_points(problem: IndexedProblem) -> DataFrame:
    """(node, point): what a link of each node to some sixteen sites costs, or a listed one to the nodes in most links.

    Two shuffles of the listed links, by node; none of sites, whose points pass through the driver.
    """
    if problem.site_costs is not None:
        places = landmark_sites(problem)
        flat = pa.FixedSizeListArray.from_arrays(pa.array(places.ravel()), places.shape[1])
        told = {"site": pa.array(np.arange(len(places)), pa.int32()), "point": flat.cast(pa.list_(pa.float64()))}
        by_site = problem.nodes.sparkSession.createDataFrame(pa.table(told))
        return problem.nodes.select("node", "site").join(F.broadcast(by_site), "site").select("node", "point")
    assert problem.link_costs is not None
    links = problem.link_costs
    both = links.select(F.col("src").alias("node"), F.col("dst").alias("other"), "cost").union(
        links.select(F.col("dst").alias("node"), F.col("src").alias("other"), "cost")
    )
    most = both.groupBy("node").agg(F.count(F.lit(1)).alias("n")).orderBy(F.desc("n"), "node").limit(LANDMARKS)
    chosen = sorted(row["node"] for row in most.collect())
    to_them = both.where(F.col("other").isin(chosen))
    dearest = to_them.agg(F.max("cost")).collect()[0][0] or 1
    costs = to_them.groupBy("node").agg(F.map_from_entries(F.collect_list(F.struct("other", "cost"))).alias("costs"))
    far = F.lit(FAR * dearest)

    def to(landmark: int) -> Column:
        known = F.coalesce(F.col("costs")[landmark].cast("double"), far)
        return F.when(F.col("node") == landmark, F.lit(0.0)).otherwise(known)

    point = F.array(*map(to, chosen)) if chosen else F.expr("CAST(array() AS array<double>)")
    return problem.nodes.select("node").join(costs, "node", "left").select("node", point.alias("point"))
