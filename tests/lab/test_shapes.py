"""Shapes: the same for a seed, what they are called, and the same problem as arrays and as tables."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark import design
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.costs import LISTED, SITES
from overlay_spark.lab.shapes import SHAPES, problem_of, shape


@pytest.mark.parametrize("name", SHAPES)
def test_shape__is_the_same_for_a_seed_and_another_for_another(name):
    first, again, other = (shape(name, 0.02, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.offsets, again.offsets)
    assert np.array_equal(first.topics, again.topics)
    for a, b in zip(first.costs, again.costs, strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(first.topics, other.topics)


def test_shapes__are_what_they_are_called():
    made = {name: shape(name, 0.1) for name in SHAPES}
    sizes = {name: np.diff(instance.offsets) for name, instance in made.items()}
    assert sizes["hub_node"].max() == made["hub_node"].n_topics == 20_000
    assert made["hub_topic"].topic_sizes.max() == made["hub_topic"].n_nodes
    assert np.sort(made["hub_topic"].topic_sizes)[-2] < 30
    assert made["tiny_topics"].topic_sizes.tolist() == [2] * made["tiny_topics"].n_topics
    assert sizes["sparse"].mean() < 6 < 40 < sizes["dense"].mean()
    assert (made["listed"].costs.kind, made["many_sites"].costs.kind) == (LISTED, SITES)
    assert len(np.unique(made["many_sites"].costs.sites)) > 200
    assert len(np.unique(made["one_site"].costs.sites)) == 1
    assert np.unique(made["unit_costs"].costs.table).tolist() == [1]
    assert made["long_tail"].topic_sizes[0] > 100 * np.median(made["long_tail"].topic_sizes)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["listed", "many_sites", "sparse"])
def test_problem_of__has_the_overlay_of_the_arrays(spark, name):
    instance = shape(name, 0.01)
    links = greedy(instance)
    with design(problem_of(spark, instance)) as overlay:
        rows = overlay.links.orderBy("pick").select("src", "dst", "cost").collect()
    assert [(int(row["src"]), int(row["dst"])) for row in rows] == links.pairs()
    assert [round(row["cost"] / instance.costs.unit) for row in rows] == links.cost.tolist()
