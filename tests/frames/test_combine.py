"""What goes together next, and which topics are wanted beyond a group."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark.frames.combine import Represented
from overlay_spark.options import DivideOptions


def represented(chosen, places=None, standing=None):
    chosen = np.array(chosen)
    places = np.arange(len(chosen))[:, None] * 1.0 if places is None else np.array(places)
    return Represented(standing, chosen, chosen * 10, places)


def test_groups__are_near_ones_up_to_the_most_that_may_be_joined_at_once():
    six = represented([5, 5, 5, 5, 5, 5], [[0.0], [9.0], [0.1], [9.1], [0.2], [9.2]])
    assert six.groups(DivideOptions(join_nodes=30)).tolist() == [0] * 6
    assert six.groups(DivideOptions(join_nodes=29)).tolist() == [0, 1, 0, 1, 0, 1]
    assert six.groups(DivideOptions(join_parts=3)).tolist() == [0, 1, 0, 1, 0, 1]


def test_groups__of_more_than_may_be_joined_are_pairs():
    labels = represented([50, 60, 70]).groups(DivideOptions(join_nodes=40))
    assert labels.tolist() in ([0, 0, 1], [0, 1, 1])
    assert represented([50]).groups(DivideOptions(join_nodes=40)).tolist() == [0]


def test_summed__adds_nodes_and_subscriptions_and_takes_the_middle():
    nodes, wanted, places = represented([1, 2, 4]).summed(np.array([0, 1, 0]))
    assert (nodes.tolist(), wanted.tolist(), places.tolist()) == ([5, 2], [50, 20], [[1.0], [1.0]])


@pytest.mark.spark
def test_together__tells_which_topics_are_wanted_beyond_a_group(spark):
    rows = [(0, 3, [1, 2], [3, 3]), (1, 5, [2], [5]), (2, 8, [2, 4], [8, 8]), (2, 9, [4], [8])]
    standing = spark.createDataFrame(rows, "group int, node int, topics array<int>, components array<int>")
    three = represented([1, 1, 2], standing=standing)
    groups = three.together(np.array([0, 0, 1]))
    assert (groups.count, groups.n_wanted) == (2, 40)
    assert sorted(map(tuple, groups.nodes.collect())) == [
        (0, *rows[0][1:]),
        (0, *rows[1][1:]),
        (1, *rows[2][1:]),
        (1, *rows[3][1:]),
    ]
    assert sorted(map(tuple, groups.beyond.select("group", "topic").collect())) == [(0, 2), (1, 2)]
    assert three.together(np.array([0, 0, 0])).beyond is None
