"""What a caller gets: the tables of the catalog, in ids and in the user's unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark.frames.indexing import with_shared_topics
from overlay_spark.frames.metrics import topic_shapes
from overlay_spark.frames.outputs import links_only, links_table, measure
from overlay_spark.frames.verification import Findings
from overlay_spark.tables import catalog
from tests.problems import indexed, problem, sorted_rows

pytestmark = pytest.mark.spark

WANTS = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y")]
LINKS = [("a", "b", 0.1), ("a", "c", 0.3), ("b", "far", 0.2)]
SOLVED = "src int, dst int, cost bigint, shared_topics int, contribution int, stage string, pick bigint"


@pytest.fixture
def given(spark, workspace):
    return indexed(replace(problem(spark, WANTS, LINKS, ["a", "b", "c", "far"]), unit=0.1), workspace)


def is_of(table, frame):
    return [(f.name, f.dataType) for f in frame.schema] == [(f.name, f.dataType) for f in table.schema]


def test_links_table__has_ids_and_costs_for_numbers_and_units(spark, given):
    solved = spark.createDataFrame([(0, 2, 3, 2, 2, "single", 0), (1, 3, 2**40, 0, 0, "more", 1)], SOLVED)
    more = solved.selectExpr("7 AS group", "*")
    found = links_table(given, more)
    assert is_of(catalog.OVERLAY_LINKS, found)
    assert sorted_rows(found) == [
        ("a", "c", 0.3, 2, 2, "single", 0),
        ("b", "far", 2**40 / 10, 0, 0, "more", 1),
    ]
    assert sorted_rows(links_only(found)) == [("a", "c", 0.3), ("b", "far", 2**40 / 10)]


def test_links_only__takes_any_table_with_the_columns_of_links(spark):
    found = links_only(spark.createDataFrame([(2, 9, "text", 10)], "cost int, dst int, note string, src bigint"))
    assert is_of(catalog.LINKS, found)
    assert sorted_rows(found) == [("10", "9", 2.0)]


def findings(given, links, workspace, limit):
    return Findings(links, workspace.settle(topic_shapes(given, links, limit)), None, ())


def test_measure__tells_topics_nodes_and_figures_of_one_overlay(spark, workspace, given):
    links = workspace.hold(with_shared_topics(given, given.link_costs).where("dst < 3"))
    found = measure(given, findings(given, links, workspace, 2000), workspace)
    assert is_of(catalog.OVERLAY_TOPICS, found.topics)
    assert is_of(catalog.OVERLAY_NODES, found.nodes)
    assert sorted_rows(found.topics) == [("x", 3, 2, 1, 2, 0.4), ("y", 2, 1, 1, 1, 0.3)]
    degrees = [("a", 2, 2, 0.4), ("b", 1, 1, 0.1), ("c", 2, 1, 0.3), ("far", 0, 0, 0.0)]
    assert sorted_rows(found.nodes) == [(*row, None, False) for row in degrees]
    metrics = found.metrics
    assert (metrics.nodes, metrics.topics, metrics.links, metrics.cost, metrics.max_degree) == (4, 2, 2, 0.4, 2)
    assert (metrics.largest_diameter, metrics.average_diameter, metrics.topics_measured) == (2, 1.5, 2)
    assert metrics.average_weighted_diameter == 0.35
    parts = spark.createDataFrame([(v, v // 2, v == 1) for v in range(4)], "node int, part int, representative boolean")
    parted = measure(given, findings(given, links, workspace, 2), workspace, parts)
    assert is_of(catalog.OVERLAY_NODES, parted.nodes)
    told = [(0, False), (0, True), (1, False), (1, False)]
    assert sorted_rows(parted.nodes) == [(*row, *part) for row, part in zip(degrees, told, strict=True)]
    small = measure(given, findings(given, links, workspace, 2), workspace)
    assert [row[4:] for row in sorted_rows(small.topics)] == [(None, None), (1, 0.3)]
    workspace.close()
    spark.catalog.clearCache()
    assert sorted_rows(found.topics)[0] == ("x", 3, 2, 1, 2, 0.4)  # settled, not merely held
