"""What an overlay is to topics and nodes, and in figures, against the same by definition."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from overlay_spark.frames.contraction import huge_topics
from overlay_spark.frames.indexing import with_shared_topics
from overlay_spark.frames.metrics import figures, node_degrees, topic_shapes
from overlay_spark.results import Metrics
from tests import naive
from tests.problems import indexed, problem, sorted_rows

pytestmark = pytest.mark.spark

N, UNIT = 16, 0.5
RNG = np.random.default_rng(2)
WANTS = RNG.random((N, 7)) < 0.35
WANTS[[3, 15]] = False  # nodes without topics, one of them without links
WANTS[:, 6] = np.arange(N) == 4  # a topic of one node
LINKS = [(u, v, int(RNG.integers(1, 9))) for v in range(N - 1) for u in range(v) if RNG.random() < 0.3]


def shape(topic, most):
    """(topic, nodes, links, components, diameter, weighted diameter) by definition."""
    nodes = np.flatnonzero(WANTS[:, topic]).tolist()
    inside = [(nodes.index(u), nodes.index(v), cost) for u, v, cost in LINKS if u in nodes and v in nodes]
    pieces = len(set(naive.components(range(len(nodes)), [edge[:2] for edge in inside]).values()))
    far = [naive.diameter(len(nodes), edges) for edges in ([(a, b, 1) for a, b, _ in inside], inside)]
    return (topic, len(nodes), len(inside), pieces, *([None, None] if pieces > 1 or len(nodes) > most else far))


def test_topics_and_nodes__are_measured_as_by_definition(spark, workspace):
    """All listed links are the overlay."""
    subscriptions = [(f"n{v:02d}", f"t{t}") for v, t in zip(*np.nonzero(WANTS), strict=True)]
    listed = [(f"n{u:02d}", f"n{v:02d}", cost * UNIT) for u, v, cost in LINKS]
    given = replace(problem(spark, subscriptions, listed, [f"n{v:02d}" for v in range(N)]), unit=UNIT)
    index = indexed(given, workspace)
    links = workspace.hold(with_shared_topics(index, index.link_costs))
    for most in (2000, 7):
        expected = [shape(topic, most) for topic in range(7)]
        assert sorted_rows(topic_shapes(index, links, most)) == expected
        huge = huge_topics(index, most)
        assert sorted_rows(topic_shapes(index, links, most, huge)) == expected
        assert bool(huge) == (most == 7)
    assert [row[3] for row in expected] == [1, 1, 1, 1, 2, 2, 1]  # some in pieces
    assert [row[4] is None for row in expected] == [True, False, False, False, True, True, False]  # and one too large
    expected = []
    for v in range(N):
        costs = [cost for a, b, cost in LINKS if v in (a, b)]
        expected.append((v, f"n{v:02d}", int(WANTS[v].sum()), len(costs), sum(costs)))
    assert expected[3][2] == 0 < expected[3][3]
    assert expected[15] == (15, "n15", 0, 0, 0)
    assert sorted_rows(node_degrees(index, links)) == [(*row, None, False) for row in expected]


def figures_of(spark, unit, n_nodes, links, shapes):
    frames = [
        spark.createDataFrame(links, "src int, dst int, cost bigint"),
        spark.createDataFrame(shapes, "topic int, diameter int, weighted_diameter bigint"),
    ]
    return figures(SimpleNamespace(unit=unit, n_nodes=n_nodes), *frames)


def test_figures__are_sums_of_whole_numbers_in_the_users_unit(spark):
    links = [(0, 1, 3), (1, 2, 2**40), (2, 3, 2**40)]
    shapes = [(0, 2, 2**41), (1, None, None), (2, 3, 5), (3, 0, 0)]
    assert figures_of(spark, 0.1, 5, links, shapes) == Metrics(
        nodes=5,
        topics=4,
        links=3,
        cost=(2**41 + 3) / 10,
        average_degree=6 / 5,
        average_weighted_degree=(2**42 + 6) / 10 / 5,
        max_degree=2,
        topics_measured=3,
        largest_diameter=3,
        average_diameter=5 / 3,
        average_weighted_diameter=(2**41 + 5) / 10 / 3,
    )


def test_figures__of_an_overlay_without_links_and_of_topics_none_of_which_was_measured(spark):
    found = figures_of(spark, 0.1, 2, [], [(0, None, None)])
    assert (found.links, found.cost, found.average_degree, found.average_weighted_degree, found.max_degree) == (0,) * 5
    assert (found.topics, found.topics_measured) == (1, 0)
    unmeasured = (found.largest_diameter, found.average_diameter, found.average_weighted_diameter)
    assert unmeasured == (None, None, None)
