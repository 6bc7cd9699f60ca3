"""Contributions of candidates against a growing overlay: by definition, and gone once they are 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from overlay_spark.costs import MAX_UNITS, point_costs
from overlay_spark.frames.contributions import bin_of, contributions, joined_components, rank
from tests import checks
from tests.frames.growing import Growth, stored

pytestmark = pytest.mark.spark

WANTS = [{t for t in range(5) if (v + 2 * t) % 3} | {5} for v in range(12)]


@pytest.fixture(params=[True, False], ids=["broadcast", "shuffled"])
def growth(request, spark, workspace):
    points = point_costs(np.array([[v % 4, v // 4] for v in range(12)], float), np.zeros(12), 0.1)
    return Growth.of(spark, workspace, checks.instance_of(WANTS, 6, points), small=request.param)


def found(frame):
    return {(row["src"], row["dst"]): row["contribution"] for row in frame.collect()}


def test_contributions__are_those_by_definition_as_links_are_added(growth):
    assert found(growth.left) == growth.contributions()
    sizes = [len(growth.contributions())]
    for pairs in (
        [(0, 1), (4, 7)],
        [(1, 2), (2, 3)],
        [(u, u + 3) for u in range(9)],
        [(u, u + 1) for u in range(3, 11)],
    ):
        growth.add(pairs)
        assert found(contributions(growth.left, growth.components)) == growth.contributions()
        sizes.append(len(growth.contributions()))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_joined_components__are_one_row_for_each_topic_that_a_candidate_joins(growth):
    growth.add([(0, 1), (4, 7), (1, 2)])
    known = contributions(growth.left, growth.components)
    labels = growth.expected()
    rows = [tuple(row) for row in joined_components(known, growth.components).select("src", "dst", "a", "b").collect()]
    expected = [
        (u, v, labels[topic, u], labels[topic, v])
        for u, v in growth.contributions()
        for topic in growth.twin.joined(u, v)
    ]
    assert sorted(rows) == sorted(expected)


def test_topics_that_are_connected__make_no_difference(growth, workspace):
    growth.add([(u, u + 1) for u in range(11)])
    before = found(contributions(growth.left, growth.components))
    held = len(stored(growth.components))
    growth.components = growth.components.only_open(workspace)
    assert len(stored(growth.components)) < held
    assert found(contributions(growth.left, growth.components)) == before == growth.contributions()


def test_rank__is_the_quotient_of_the_kernels(spark):
    rows = [(1, 3), (MAX_UNITS, 7), (MAX_UNITS - 1, 7), (10, 1)]
    frame = spark.createDataFrame(rows, "cost bigint, contribution int")
    assert [row[0] for row in frame.select(rank(False)).collect()] == [cost / joins for cost, joins in rows]
    assert [row[0] for row in frame.select(rank(True)).collect()] == [1 / joins for _, joins in rows]


def test_bin_of__rises_with_the_rank(spark):
    ranks = [1 / 3, 1.0, 1.5, 2.0, 1000.0, float(MAX_UNITS)]
    frame = spark.createDataFrame([(value,) for value in ranks], "rank double")
    assert [row[0] for row in frame.select(bin_of(frame["rank"], 4)).collect()] == [
        math.floor(math.log2(value) * 4) for value in ranks
    ]
