"""Who may connect what is apart: nodes of each piece, with all that they want, in the pieces they are in."""

from __future__ import annotations

import pytest

from overlay_spark.frames.widening import apart_after
from overlay_spark.options import ComponentOptions
from tests.problems import indexed, problem

pytestmark = pytest.mark.spark

WANTS = [(node, "x") for node in "abcdef"] + [("a", "y"), ("b", "y"), ("c", "z")]
COSTS = [("a", "b", 1.0), ("b", "c", 1.0), ("d", "e", 1.0), ("c", "d", 1.0), ("e", "f", 1.0), ("b", "d", 1.0)]


def links(spark, pairs):
    rows = [(a, b, 1, 1, 1, "inner", i) for i, (a, b) in enumerate(pairs)]
    names = "src int, dst int, cost bigint, shared_topics int, contribution int, stage string, pick bigint"
    return spark.createDataFrame(rows, names)


def test_apart__are_some_or_all_ends_of_listed_links_between_pieces(spark, workspace):
    given = indexed(problem(spark, WANTS, COSTS), workspace)
    there = links(spark, [(0, 1), (1, 2), (3, 4), (4, 5)])  # x is in two pieces of three nodes, y and z in one
    some = apart_after(given, there, 1, ComponentOptions(), workspace)
    found = sorted(map(tuple, some.groups.nodes.collect()))
    assert found == [(0, 1, [0, 1], [0, 0]), (0, 3, [0], [3])]
    assert (some.n_nodes, some.n_wanted) == (2, 3)
    everybody = apart_after(given, there, None, ComponentOptions(), workspace)
    assert (everybody.n_nodes, everybody.n_wanted) == (3, 5)
    pieces = {node: components[0] for _, node, _, components in everybody.groups.nodes.collect()}
    assert pieces == {1: 0, 2: 0, 3: 3}


def test_pieces_that_no_listed_link_joins__are_left_as_they_are(spark, workspace):
    given = indexed(problem(spark, WANTS, COSTS[:3] + COSTS[4:5]), workspace)
    there = links(spark, [(0, 1), (1, 2), (3, 4), (4, 5)])
    assert apart_after(given, there, None, ComponentOptions(), workspace) is None


def test_nothing__is_apart_once_every_topic_is_connected(spark, workspace):
    given = indexed(problem(spark, WANTS, COSTS), workspace)
    there = links(spark, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    assert apart_after(given, there, None, ComponentOptions(), workspace) is None
