"""Arrays from rows: the same problem, however the rows lie, whole or a group's in its own numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from overlay_spark.costs import costs_among, listed_costs, point_costs, site_costs
from overlay_spark.frames.task_rows import NODE, TOPIC, group_task, whole_task
from overlay_spark.instance import Instance
from overlay_spark.lab.as_task import COLUMNS, rows_of

N = 12


def instance(model):
    rng = np.random.default_rng(6)
    wants = rng.random((N, 70)) < 0.2
    wants[4] = False
    if model == "points":
        costs = point_costs(rng.random((N, 3)), rng.random(N), 1e-3)
    elif model == "sites":
        costs = site_costs(rng.permutation(N) % 4, rng.integers(1, 9, (4, 4)))
    else:
        src, dst = np.triu_indices(N, 1)
        costs = listed_costs(src, dst, rng.integers(1, 9, len(src)))
    return Instance.from_pairs(N, 70, *np.nonzero(wants), costs)


def shuffled(rows, seed=1):
    return rows.take(np.random.default_rng(seed).permutation(len(rows)))


def same_costs(given, found):
    return all(np.array_equal(a, b) for a, b in zip(given, found, strict=True))


@pytest.mark.parametrize("model", ["points", "sites", "listed"])
def test_whole_task__is_the_problem_in_whatever_order_its_rows_come(model):
    given = instance(model)
    task = whole_task(shuffled(rows_of(given)), N, 70, given.costs.unit)
    assert np.array_equal(task.instance.offsets, given.offsets)
    assert np.array_equal(task.instance.topics, given.topics)
    assert same_costs(given.costs, task.instance.costs)
    assert (len(task.links), task.nodes, task.topics) == (0, None, None)


@pytest.mark.parametrize("model", ["points", "sites", "listed"])
def test_group_task__is_the_problem_of_the_nodes_that_want_anything(model):
    given = instance(model)
    wanting = np.flatnonzero(np.diff(given.offsets))
    task = group_task(shuffled(rows_of(given)), given.costs.unit)
    assert task.nodes.tolist() == wanting.tolist() == [v for v in range(N) if v != 4]
    assert np.array_equal(task.topics, np.unique(given.topics))
    for own, node in enumerate(task.nodes):
        assert task.topics[task.instance.topics_of(own)].tolist() == given.topics_of(node).tolist()
    assert same_costs(costs_among(given.costs, wanting), task.instance.costs)


def row(kind, a, b=-1, value=-1, topics=(), components=()):
    given = {"kind": kind, "a": a, "b": b, "value": value, "real": 0.0, "point": [float(a)] if kind == NODE else []}
    return {**given, "topics": list(topics), "components": list(components)}


def test_group_task__has_components_and_topics_beyond():
    rows = [
        row(NODE, 7, topics=[3, 9], components=[2, 7]),
        row(NODE, 5, topics=[3], components=[2]),
        row(NODE, 8, topics=[]),
        row(NODE, 2, topics=[9], components=[2]),
        row(TOPIC, 9),
    ]
    task = group_task(shuffled(pa.Table.from_pylist(rows, COLUMNS)), 1.0)
    assert (task.nodes.tolist(), task.topics.tolist()) == ([2, 5, 7], [3, 9])
    assert task.components.tolist() == [2, 2, 2, 7]
    assert task.beyond.tolist() == [True, False, False, True]
