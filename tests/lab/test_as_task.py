"""Rows of a problem as a task gets them, and what solving them there takes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from overlay_spark.frames.task_rows import whole_task
from overlay_spark.lab import as_task
from overlay_spark.lab.shapes import shape


@pytest.mark.parametrize("name, scale", [("listed", 0.01), ("many_sites", 0.5), ("sparse", 0.01)])
def test_rows_of__are_the_problem_to_a_task(name, scale):
    instance = shape(name, scale)
    rows = as_task.rows_of(instance)
    task = whole_task(rows, instance.n_nodes, instance.n_topics, instance.costs.unit)
    assert np.array_equal(task.instance.offsets, instance.offsets)
    assert np.array_equal(task.instance.topics, instance.topics)
    assert len(task.links) == 0
    for given, found in zip(instance.costs, task.instance.costs, strict=True):
        assert np.array_equal(given, found)


def test_main__tells_sizes_seconds_and_the_peak(capsys):
    as_task.main("tiny_topics", "0.01", "greedy")
    told = json.loads(capsys.readouterr().out)
    instance = shape("tiny_topics", 0.01)
    assert (told["nodes"], told["topics"]) == (instance.n_nodes, instance.n_topics) == (200, 1000)
    assert told["subscriptions"] == 2 * told["topic_pairs"] == 2000
    assert 900 < told["links"] <= 1000
    assert told["peak"] > 50 << 20
    assert told["seconds"] > 0
