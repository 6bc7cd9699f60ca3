"""The verb verify: what it passes, and how it says what is wrong."""

from __future__ import annotations

import pytest

from overlay_spark import OverlayProblem, SiteCosts, design, verify
from overlay_spark.tables import catalog
from tests.problems import problem, sorted_rows
from tests.test_api import COSTS, TRIANGLE

pytestmark = pytest.mark.spark


def test_verify__passes_what_design_made(spark):
    given = problem(spark, TRIANGLE, COSTS)
    found = verify(given, design(given).links)
    assert found.ok
    assert found.faults == ()
    assert found.broken_topics.isEmpty()


@pytest.mark.parametrize(
    "links, fault",
    [
        ([("a", "b", 1.0)], "The overlay leaves 2 topics in pieces (first: topic 'x' is in 2 pieces: 2 nodes with 'a', 1 node with 'c'; topic 'y' is in 2 pieces: 1 node with 'a', 1 node with 'c')."),
        ([("c", "a", 2.5), ("a", "b", 1.0), ("a", "ghost", 1.0)], "1 row with a node that is not among the nodes (first: src='a', dst='ghost')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("b", "b", 1.0)], "1 row with the same node at both ends (first: src='b', dst='b')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("b", "a", 1.0)], "2 rows with a pair that is given more than once (first: src='a', dst='b'; src='b', dst='a')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("b", "d", 1.0)], "1 row with a pair that is not among the links that may be used (first: src='b', dst='d')"),
        ([("a", "c", 2.5), ("a", "b", 1.25)], "1 row with another cost than the costs given (first: src='a', dst='b')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("c", "d", 9.0)], "1 row with ends that share no topic (first: src='c', dst='d')"),
    ],
)  # fmt: skip
def test_verify__names_what_is_wrong(spark, links, fault):
    given = problem(spark, [*TRIANGLE, ("d", "z")], [*COSTS, ("c", "d", 9.0)])
    found = verify(given, spark.createDataFrame(links, "src string, dst string, cost double"))
    assert not found.ok
    assert any(fault in told for told in found.faults), found.faults


def test_verify__names_every_side_of_every_broken_topic(spark):
    given = problem(spark, TRIANGLE, COSTS)
    found = verify(given, catalog.LINKS.rows(spark, [("b", "c", 2.0)]))
    assert sorted_rows(found.broken_topics) == [("x", "a", 1), ("x", "b", 2), ("y", "a", 1), ("y", "c", 1)]
    empty = verify(given, catalog.LINKS.rows(spark))
    assert sorted_rows(empty.broken_topics.groupBy("topic_id").count()) == [("x", 3), ("y", 2)]


def test_verify__says_at_most_three_topics_and_sides(spark):
    wants = [(node, topic) for node in "abcde" for topic in "vwxyz"]
    costs = [(a, b, 1.0) for a in "abcde" for b in "abcde" if a < b]
    (fault,) = verify(problem(spark, wants, costs), catalog.LINKS.rows(spark)).faults
    pieces = "is in 5 pieces: 1 node with 'a', 1 node with 'b', 1 node with 'c', ..."
    told = "; ".join(f"topic '{topic}' {pieces}" for topic in "vwx")
    assert fault == f"The overlay leaves 5 topics in pieces (first: {told})."


def test_verify__checks_site_costs_too(spark):
    given = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, TRIANGLE),
        SiteCosts(catalog.SITE_COSTS.rows(spark, [("s", "s", 1.0), ("s", "t", 5.0)])),
        catalog.NODES.rows(spark, [("a", "s"), ("b", "s"), ("c", "t")]),
    )
    right = [("a", "b", 1.0), ("a", "c", 5.0)]
    assert verify(given, catalog.LINKS.rows(spark, right)).ok
    wrong = verify(given, catalog.LINKS.rows(spark, [("a", "b", 1.0), ("a", "c", 1.0)]))
    assert wrong.faults == ("The overlay has 1 row with another cost than the costs given (first: src='a', dst='c').",)
