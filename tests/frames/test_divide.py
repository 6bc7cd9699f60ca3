"""Parts: every node in one, of bounded size, near ones together, the same however rows are split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pyspark.sql import functions as F

from overlay_spark.costs import listed_costs, point_costs, site_costs
from overlay_spark.errors import InputError, OptionError
from overlay_spark.frames.divide import COORDINATES, LANDMARKS, RANDOM, SAMPLE, SITE, divide, n_cells
from overlay_spark.instance import Instance
from overlay_spark.lab.shapes import problem_of
from overlay_spark.options import DivideOptions
from overlay_spark.problems import OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests.problems import indexed, problem

pytestmark = pytest.mark.spark

N = 90
CLUMPS = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])


def clumped(model):
    """Ninety nodes in three clumps far apart, of which the second is five nodes and the third fifteen."""
    rng = np.random.default_rng(2)
    clump = np.repeat([0, 1, 2], [70, 5, 15])[rng.permutation(N)]
    points = CLUMPS[clump] + rng.random((N, 2))
    if model == "points":
        costs = point_costs(points, np.zeros(N), 1e-3)
    elif model == "sites":
        far = np.rint(np.linalg.norm(CLUMPS[:, None] - CLUMPS[None], axis=2)).astype(int) + 1
        costs = site_costs(clump, far)
    else:
        src, dst = np.triu_indices(N, 1)
        costs = listed_costs(src, dst, np.rint(np.linalg.norm(points[src] - points[dst], axis=1)).astype(int) + 1)
    wants = rng.random((N, 6)) < 0.4
    wants[:, 0] = True
    return clump, Instance.from_pairs(N, 6, *np.nonzero(wants), costs)


def labels_of(parts):
    rows = sorted((row["node"], row["part"]) for row in parts.nodes.collect())
    assert [node for node, _ in rows] == list(range(N))
    return np.array([part for _, part in rows])


@pytest.mark.parametrize(
    "model, by", [("points", COORDINATES), ("sites", SITE), ("sites", LANDMARKS), ("listed", LANDMARKS)]
)
def test_parts__are_near_nodes_of_bounded_number(spark, workspace, model, by):
    clump, instance = clumped(model)
    given = indexed(problem_of(spark, instance), workspace)
    options = DivideOptions(by=by, part_nodes=20, least_nodes=2)
    parts = divide(given, options, 0, workspace)
    labels = labels_of(parts)
    assert parts.by == by
    assert parts.sizes.tolist() == np.bincount(labels).tolist()
    assert parts.wanted.tolist() == np.bincount(labels, np.diff(instance.offsets)).tolist()
    assert parts.sizes.max() <= 20
    assert len(parts) == len(parts.places) >= 6
    for part in range(len(parts)):
        assert len(set(clump[labels == part])) == 1


def test_small_cells__are_merged_with_the_nearest_that_has_room(spark, workspace):
    clump, instance = clumped("sites")
    given = indexed(problem_of(spark, instance), workspace)
    labels = labels_of(divide(given, DivideOptions(by=SITE, part_nodes=80, least_nodes=10), 0, workspace))
    assert len(set(labels)) == 2  # the five go with one of the others, which are as far
    assert all(len(set(labels[clump == c])) == 1 for c in range(3))


def test_parts_by_chance__are_of_about_one_size_and_go_by_the_seed(spark, workspace):
    _, instance = clumped("points")
    given = indexed(problem_of(spark, instance), workspace)
    options = DivideOptions(by=RANDOM, part_nodes=40, least_nodes=1)
    first, again, other = (labels_of(divide(given, options, seed, workspace)) for seed in (0, 0, 1))
    assert first.tolist() == again.tolist() != other.tolist()
    assert 8 <= np.bincount(first).min() <= np.bincount(first).max() <= 40


@pytest.mark.parametrize("model, by", [("points", COORDINATES), ("sites", SITE), ("listed", LANDMARKS)])
def test_parts__are_the_same_however_rows_are_split(spark, workspace, model, by):
    given = problem_of(spark, clumped(model)[1])
    options, found = DivideOptions(by=by, part_nodes=20, least_nodes=2), []
    for n_partitions in (1, 7):
        split = given.nodes.repartition(n_partitions, F.rand(n_partitions))
        spark.conf.set("spark.sql.shuffle.partitions", str(n_partitions))
        parts = divide(indexed(replace(given, nodes=split), workspace), options, 0, workspace)
        found.append((labels_of(parts).tolist(), parts.places.tolist()))
    assert found[0] == found[1]


def test_criterion__is_what_there_is_and_refuses_what_there_is_not(spark, workspace):
    points = indexed(problem_of(spark, clumped("points")[1]), workspace)
    listed = indexed(problem_of(spark, clumped("listed")[1]), workspace)
    assert divide(points, DivideOptions(), 0, workspace).by == COORDINATES
    assert divide(listed, DivideOptions(), 0, workspace).by == LANDMARKS
    for given, by, error, says in (
        (points, LANDMARKS, OptionError, "there is no table of costs"),
        (listed, COORDINATES, OptionError, "the costs are not given by coordinates"),
        (listed, SITE, InputError, "90 of the nodes have no site"),
    ):
        with pytest.raises(error, match=says):
            divide(given, DivideOptions(by=by), 0, workspace)


def test_site_labels__serve_where_costs_are_listed_or_by_coordinates(spark, workspace):
    clump, _ = clumped("listed")
    for model in ("listed", "points"):
        given = problem_of(spark, clumped(model)[1])
        names = [(f"{v:09d}", f"s{clump[v]}") for v in range(N)]
        sites = spark.createDataFrame(names, "node_id string, label string")
        labelled = given.nodes.drop("site").join(sites.withColumnRenamed("label", "site"), "node_id")
        index = indexed(replace(given, nodes=labelled), workspace)
        parts = divide(index, DivideOptions(by=SITE, least_nodes=1), 0, workspace)
        assert labels_of(parts).tolist() == clump.tolist()
        assert parts.places.shape == (3, 2 if model == "points" else 0)


def test_one_node__is_one_part(spark, workspace):
    listed = problem(spark, [("a", "x")], [("a", "far", 1.0)], ["a"])
    sites = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, [("a", "x")]),
        SiteCosts(catalog.SITE_COSTS.rows(spark, [("s", "t", 1.0)])),
        catalog.NODES.rows(spark, [("a", "s")]),
    )
    for given in (listed, sites):
        assert divide(indexed(given, workspace), DivideOptions(), 0, workspace).sizes.tolist() == [1]


@pytest.mark.parametrize("odd", [None, [1.0, 2.0, 3.0, 4.0]])
def test_sites__whose_nodes_have_not_as_many_coordinates_each_are_cut_without_them(spark, workspace, odd):
    """The first node of the site has two coordinates: who looks at it alone goes wrong."""
    given = problem_of(spark, clumped("listed")[1])
    place = F.when(F.col("node_id") < "000000045", F.array(F.lit(1.0), F.lit(2.0)))
    place = place if odd is None else place.otherwise(F.array(*map(F.lit, odd)))
    nodes = given.nodes.drop("site", "coordinates").withColumns({"site": F.lit("one"), "coordinates": place})
    index = indexed(replace(given, nodes=nodes), workspace)
    parts = divide(index, DivideOptions(by=SITE, part_nodes=20, least_nodes=1), 0, workspace)
    labels = labels_of(parts)
    assert parts.sizes.max() <= 20
    assert all(np.ptp(np.flatnonzero(labels == part)) < 20 for part in range(len(parts)))  # by the order of nodes


def test_centres_of_a_sample__are_the_same_however_rows_are_split(spark, workspace):
    rng = np.random.default_rng(8)
    n = 3000
    costs = point_costs(rng.random((n, 2)), np.zeros(n), 1e-3)
    given = problem_of(spark, Instance.from_pairs(n, 1, np.arange(n), np.zeros(n, int), costs))
    options, found = DivideOptions(part_nodes=600, least_nodes=10), []
    for n_partitions in (1, 5):
        split = replace(given, nodes=given.nodes.repartition(n_partitions, F.rand(n_partitions)))
        parts = divide(indexed(split, workspace), options, 3, workspace)
        assert n > SAMPLE * n_cells(n, options) * 2  # every second node at most
        found.append((parts.sizes.tolist(), parts.places.tolist()))
    assert found[0] == found[1]
    assert 5 <= len(found[0][0]) <= 20
    assert max(found[0][0]) <= 600
