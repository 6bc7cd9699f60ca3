"""The kernel engine: what an algorithm gives on arrays, from tables and into them; and what it does not take."""

from __future__ import annotations

import json
import time

import pytest

from overlay_spark.algorithms.registry import find
from overlay_spark.engines.kernel import ENGINE, STAGE, solve_instance
from overlay_spark.frames.estimates import Size
from overlay_spark.frames.tasks import Task
from overlay_spark.options import DesignOptions, Options
from tests import checks
from tests.conftest import CASES
from tests.problems import UNIT, golden_problem, indexed


def case_named(name):
    """A golden case: as arrays, and as it is stored."""
    case = json.loads((CASES / f"{name}.json").read_text())
    wants = [[t for t, wanted in enumerate(row) if wanted] for row in case["X"]]
    rows = [(u, v, round(case["W"][u][v] / UNIT)) for v in range(case["V"]) for u in range(v)]
    return checks.instance_of(wants, len(case["X"][0]), checks.matrix(rows)), case


@pytest.mark.spark
@pytest.mark.parametrize("listed", [True, False])
def test_solve__gives_the_links_the_algorithm_gives_on_arrays(spark, workspace, listed):
    instance, case = case_named("ties_v16")
    given = indexed(golden_problem(spark, [case], listed).counted_in(UNIT), workspace)
    for algorithm in ("trees", "primal_dual"):
        started, options = time.perf_counter(), Options().designing(algorithm)
        solved = ENGINE.solve(given, options, workspace)
        took = time.perf_counter() - started
        expected = find(algorithm)(instance, options)
        rows = solved.links.orderBy("pick").collect()
        assert solved.links.columns == ["src", "dst", "cost", "shared_topics", "contribution", "stage", "pick"]
        assert [(row["src"], row["dst"]) for row in rows] == expected.pairs()
        assert [row["cost"] for row in rows] == expected.cost.tolist()
        assert [row["contribution"] for row in rows] == expected.contribution.tolist()
        assert [row["pick"] for row in rows] == list(range(len(expected)))
        assert {row["stage"] for row in rows} == {STAGE}
        assert solved.facts.lower_bound == expected.lower_bound
        assert solved.facts.sum_of_trees == expected.sum_of_trees
        assert 0 < solved.facts.seconds < took
        assert solved.parts is None
    assert expected.lower_bound > 0


def test_solve_instance__runs_the_algorithm_of_the_options_with_its_options():
    instance, _ = case_named("clusters_v24")
    none = instance.links_between([], [])
    for algorithm in ("greedy", "TrMAW", "fewest_links"):
        answer = solve_instance(Task(instance, none), Options().designing(algorithm))
        expected = find(algorithm)(instance, Options())
        assert checks.picks(answer.links) == checks.picks(expected)
        assert (answer.facts.sum_of_trees, answer.stage) == (expected.sum_of_trees, STAGE)


def test_solve_instance__goes_on_from_the_links_that_are_there():
    instance, _ = case_named("clusters_v24")
    whole = find("greedy")(instance, Options())
    first = whole.take(slice(0, 10))
    answer = solve_instance(Task(instance, first), Options())
    assert checks.picks(answer.links) == checks.picks(whole)[10:]


def size(listed=None):
    return Size(nodes=1500, topics=70, subscriptions=30_000, candidates=1_124_250, is_exact=False, listed=listed)


def limited(monkeypatch, n_bytes):
    monkeypatch.setattr(DesignOptions, "task_bytes", n_bytes)
    return Options(design=DesignOptions(task_memory="700m"))


@pytest.mark.parametrize("listed, enough", [(None, "423m"), (1_200_000, "560m"), (9_000_000, "2g")])
def test_refusal__is_of_what_needs_a_byte_more_than_a_task_has_and_says_what_would_fit(monkeypatch, listed, enough):
    needs = size(listed).task_bytes
    assert ENGINE.refusal(size(listed), limited(monkeypatch, needs)) is None
    fewer = size(listed).nodes_within(needs - 1)
    assert 1400 < fewer < 1500
    assert ENGINE.refusal(size(listed), limited(monkeypatch, needs - 1)) == (
        "This problem is too large for one task: 1,500 nodes, 70 topics, 30,000 subscriptions, at most 1,124,250 "
        f"candidate links; solving it needs about {needs / 2**30:.1f} GiB, and design.task_memory allows 700m. It would "
        f"fit with design.task_memory = {enough}, if your workers have that much to spare, or design at most about "
        f"{fewer:,} such nodes at a time{', or list fewer links' if listed else ''}."
    )
    monkeypatch.undo()
    assert ENGINE.refusal(size(listed), Options(design=DesignOptions(task_memory=enough))) is None


def test_every_algorithm__can_be_run():
    from overlay_spark.algorithms.registry import ALGORITHMS

    assert all(ENGINE.has(algorithm) for algorithm in ALGORITHMS)
    assert ENGINE.name == "kernel"
