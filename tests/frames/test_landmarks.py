"""Landmarks: places by what links cost, whoever they are."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark.costs import site_costs
from overlay_spark.frames.landmarks import FAR, LANDMARKS, landmark_points, landmark_sites
from overlay_spark.instance import Instance
from overlay_spark.lab.shapes import problem_of
from tests.problems import indexed, problem

pytestmark = pytest.mark.spark


def test_landmark_sites__give_each_site_its_costs_to_the_same_sites(spark, workspace):
    rng = np.random.default_rng(1)
    table = rng.integers(1, 1000, (40, 40))
    table = np.minimum(table, table.T)
    sites = np.arange(40)
    wants = np.arange(40), np.zeros(40, int)
    given = indexed(problem_of(spark, Instance.from_pairs(40, 1, *wants, site_costs(sites, table))), workspace)
    places = landmark_sites(given)
    assert places.shape == (40, LANDMARKS)
    columns = {tuple(column) for column in table.T.tolist()}
    assert len({tuple(column) for column in places.T.tolist()}) == LANDMARKS
    assert {tuple(column) for column in places.T.tolist()} <= columns
    points = {row["node"]: row["point"] for row in landmark_points(given).collect()}
    assert [points[v] for v in range(40)] == places.tolist()


def test_landmark_points__are_costs_of_listed_links_to_those_in_most(spark, workspace):
    hub = [("h", f"n{i:02d}", float(i + 1)) for i in range(20)]
    given = indexed(problem(spark, [("h", "x"), *((b, "x") for _, b, _ in hub)], hub, unit_nodes(hub)), workspace)
    points = {row["node"]: row["point"] for row in landmark_points(given).collect()}
    unit = 10**6
    assert len(points) == 22
    to_hub = {node: point[0] for node, point in points.items()}  # the hub is the first in order
    assert to_hub[0] == 0
    assert [to_hub[i + 1] for i in range(20)] == [(i + 1) * unit for i in range(20)]
    assert to_hub[21] == FAR * 20 * unit  # a node without links is far from all
    assert {len(point) for point in points.values()} == {LANDMARKS}


def unit_nodes(hub):
    return ["h", *(b for _, b, _ in hub), "z"]


def test_landmark_points__without_any_link(spark, workspace):
    given = indexed(problem(spark, [("a", "x"), ("b", "y")], [("a", "far", 1.0)], ["a", "b"]), workspace)
    assert sorted(map(tuple, landmark_points(given).collect())) == [(0, []), (1, [])]
