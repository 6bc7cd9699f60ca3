"""Candidates: the pairs that share a topic and may link, whatever the costs and however the topics are cut."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark.costs import listed_costs, point_costs, site_costs
from overlay_spark.frames import candidates as module
from overlay_spark.frames.candidates import candidates
from overlay_spark.lab.shapes import problem_of
from tests import checks, naive
from tests.problems import indexed, sorted_rows

pytestmark = pytest.mark.spark

WANTS = [{t for t in range(7) if (v * v + 3 * t) % (t + 4) < 2} for v in range(20)] + [set(), {6}, set(range(7))]


def instance(kind):
    n = len(WANTS)
    pairs = [(u, v, 1 + (7 * u + 3 * v) % 11) for v in range(n) for u in range(v)]
    if kind == "listed":
        some = [pair for pair in pairs if sum(pair) % 3]
        return checks.instance_of(WANTS, 7, listed_costs(*np.array(some).T))
    if kind == "sites":
        u, v = np.indices((n, n))
        return checks.instance_of(
            WANTS, 7, site_costs(np.arange(n), 1 + (7 * np.maximum(u, v) + 3 * np.minimum(u, v)) % 11)
        )
    places = np.array([[v % 5, v // 5] for v in range(n)], float)
    return checks.instance_of(WANTS, 7, point_costs(places, np.arange(n) / 8, 0.01))


def by_definition(given):
    wants = naive.interests(given)
    return [(u, v, cost, len(wants[u] & wants[v])) for (u, v), cost in sorted(naive.allowed(given).items())]


@pytest.mark.parametrize("small", [True, False], ids=["broadcast", "shuffled"])
@pytest.mark.parametrize("kind", ["listed", "sites", "points"])
def test_candidates__are_those_by_definition(spark, workspace, kind, small):
    given = instance(kind)
    expected = by_definition(given)
    assert len(expected) > 100
    assert sorted_rows(candidates(indexed(problem_of(spark, given), workspace), small)) == expected


@pytest.mark.parametrize("small", [True, False], ids=["broadcast", "shuffled"])
def test_candidates__do_not_depend_on_how_topics_and_pairs_are_cut(spark, workspace, monkeypatch, small):
    given = instance("points")
    problem = indexed(problem_of(spark, given), workspace)
    monkeypatch.setattr(module, "NODES_A_CHUNK", 3)
    monkeypatch.setattr(module, "PAIRS_A_PART", 20)
    assert sorted_rows(candidates(problem, small)) == by_definition(given)


def test_one_in__keeps_all_pairs_of_some_nodes(spark, workspace):
    given = instance("points")
    problem = indexed(problem_of(spark, given), workspace)
    some = [tuple(row) for row in candidates(problem, True, one_in=3).collect()]
    chosen = {src for src, *_ in some}
    assert 1 < len(chosen) < 15
    assert sorted(some) == [row for row in by_definition(given) if row[0] in chosen]
