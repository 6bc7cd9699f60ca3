"""What is told beforehand: numbers that are right, memory that is enough, and refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from overlay_spark import CoordinateCosts, OverlayProblem, design, estimate
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.costs import site_costs
from overlay_spark.errors import GuardError
from overlay_spark.frames import estimates as module
from overlay_spark.lab.measure import peak_bytes
from overlay_spark.options import DesignOptions, Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests import checks
from tests.problems import problem

TRIANGLE = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y"), ("d", "z")]
COSTS = [("a", "b", 1.0), ("a", "c", 2.5), ("c", "d", 1.0)]


def by_distance(spark):
    nodes = [(name, None, [float(i)]) for i, name in enumerate("abcde")]
    subscriptions = catalog.SUBSCRIPTIONS.rows(spark, TRIANGLE)
    return OverlayProblem(subscriptions, CoordinateCosts(), catalog.NODES.rows(spark, nodes))


@pytest.mark.spark
def test_estimate__counts_pairs_that_share_a_topic(spark):
    found = estimate(by_distance(spark))
    assert (found.nodes, found.topics, found.subscriptions) == (5, 3, 6)
    assert (found.candidates, found.is_exact) == (3, True)  # a-b, a-c, b-c: the pair a, c shares two topics
    assert (found.engine, found.fits, found.time_class) == ("kernel", True, "seconds")
    assert found.task_bytes > 100 << 20


@pytest.mark.spark
def test_estimate__bounds_what_is_dear_to_count(spark, monkeypatch):
    monkeypatch.setattr(module, "PAIRS_TO_COUNT", 3)
    found = estimate(by_distance(spark))
    assert (found.candidates, found.is_exact) == (4, False)


@pytest.mark.spark
def test_estimate__counts_listed_links_that_share_a_topic(spark):
    found = estimate(problem(spark, TRIANGLE, COSTS))
    assert (found.candidates, found.is_exact) == (2, True)


@pytest.mark.spark
def test_design_and_estimate__agree_where_many_listed_links_are_of_no_use(spark):
    """Of six hundred listed links three join nodes that share a topic: only those can be candidates."""
    useless = [(f"u{i}", f"v{i}", 1.0) for i in range(600)]
    nodes = [*"abcd", *[end for a, b, _ in useless for end in (a, b)]]
    given = problem(spark, TRIANGLE, [*COSTS, ("b", "c", 1.0), *useless], nodes)
    known = module.Size(nodes=1204, topics=3, subscriptions=6, candidates=4, is_exact=False, listed=604, may_tie=True)
    exact = replace(known, candidates=3, is_exact=True)
    assert exact.task_bytes < known.task_bytes
    for limit, fits in ((known.task_bytes, True), (exact.task_bytes, True), (exact.task_bytes - 1, False)):
        found = estimate(given, limited(limit))
        assert (found.fits, found.candidates, found.is_exact, found.task_bytes) == (fits, 3, True, exact.task_bytes)
        if fits:
            design(given, options=limited(limit)).close()
        else:
            with pytest.raises(GuardError, match="3 candidate links"):
                design(given, options=limited(limit))


class Limit(DesignOptions):
    """A limit to the byte."""

    task_bytes = 0


def limited(n_bytes):
    limit = type("Limit", (Limit,), {"task_bytes": n_bytes})
    return Options(design=limit())


@pytest.mark.spark
def test_design__refuses_beforehand_what_does_not_fit(spark, tmp_path, capsys):
    small = Options(design=DesignOptions(task_memory="100m"))
    with pytest.raises(GuardError) as refusal:
        design(by_distance(spark), options=small)
    assert str(refusal.value) == (
        "This problem is too large for one task: 5 nodes, 3 topics, 6 subscriptions, 3 candidate links; "
        "solving it needs about 0.5 GiB, and design.task_memory allows 100m. Raise design.task_memory if your workers "
        "have that much to spare; else design fewer nodes at a time."
    )
    (tmp_path / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\n")
    (tmp_path / "link_costs.csv").write_text("src,dst,cost\na,b,1\n")
    given = [f"--{t.replace('_', '-')}=csv:{tmp_path}/{t}.csv" for t in ("subscriptions", "link_costs")]
    out = str(tmp_path / "out")
    assert main(["design", *given, "--output", out, "--set", "design.task_memory=100m"]) == REFUSED
    assert "too large for one task" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["runs"]
    assert delta.read(spark, Destination.parse(out).table("runs")).collect()[0]["status"] == "refused"
    assert main(["estimate", *given, "--set", "design.task_memory=100m"]) == REFUSED
    assert "does not fit" in capsys.readouterr().out
    assert main(["estimate", *given]) == DONE
    told = capsys.readouterr().out
    assert "candidate links                    1  counted" in told


SOLVE = """
import json, sys
import numpy as np, pyarrow as pa
from overlay_spark.engines.kernel import solve_instance
from overlay_spark.frames import tasks
from overlay_spark.lab.measure import make_instance, peak_bytes
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests

listed = sys.argv[1] == "listed"
options = Options().designing(sys.argv[2])
instance = make_instance(800, Interests(topics=300), None, 0)
n, zeros = instance.n_nodes, np.zeros(instance.n_nodes)
src, dst = np.triu_indices(n, 1)
parts = [(tasks.SUBSCRIPTION, instance.nodes, instance.topics)]
parts += [(tasks.LINK_COST, src, dst)] if listed else [(kind, np.arange(n), zeros) for kind in (tasks.COORDINATE, tasks.HEIGHT)]
types = {"kind": pa.int8(), "a": pa.int32(), "b": pa.int32(), "value": pa.int64(), "real": pa.float64()}
batches = []
for kind, a, b in parts:
    columns = [np.full(len(a), kind), a, b, 1 + np.arange(len(a)) % 997, np.arange(len(a)) * 0.1]
    batches.append(pa.RecordBatch.from_arrays([pa.array(c).cast(t) for c, t in zip(columns, types.values())], list(types)))
task = tasks._task(tasks._by_kind(pa.Table.from_batches(batches)), n, 300, 1.0)
answer = solve_instance(task, options)
rows = pa.Table.from_batches(tasks._answer_rows(0, task, answer))
print(json.dumps({"links": len(rows["links"][0]), "peak": peak_bytes(), "subscriptions": instance.n_subscriptions}))
"""


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "points"])
@pytest.mark.parametrize("algorithm", ["greedy", "primal_dual_reverse_delete"])
def test_task_bytes__are_enough_and_not_far_too_much(listed, algorithm):
    """A solving task in a process of its own, without Spark around it."""
    command = [sys.executable, "-c", SOLVE, "listed" if listed else "points", algorithm]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found["links"] > 800
    pairs = 800 * 799 // 2
    size = module.Size(
        nodes=800,
        topics=300,
        subscriptions=found["subscriptions"],
        candidates=pairs,
        is_exact=True,
        listed=pairs if listed else None,
    )
    assert found["peak"] <= size.task_bytes <= 3 * found["peak"]


@pytest.mark.parametrize(
    "nodes, topics, expected", [(1000, 200, "seconds"), (100_000, 1000, "minutes"), (10**6, 10**4, "hours")]
)
def test_time_class__grows_with_the_words_to_read(nodes, topics, expected):
    assert (
        module.Size(
            nodes=nodes, topics=topics, subscriptions=nodes * 60, candidates=nodes * (nodes - 1) // 2, is_exact=False
        ).time_class
        == expected
    )


def test_task_bytes__count_every_candidate_where_ranks_may_be_the_same():
    """With one cost for all links every candidate is in the first bin."""
    nodes = 3000
    instance = checks.instance_of([[0]] * nodes, 1, site_costs(np.zeros(nodes), np.ones((1, 1))))
    pairs = nodes * (nodes - 1) // 2
    before = peak_bytes()
    assert len(greedy(instance)) == nodes - 1
    size = module.Size(nodes=nodes, topics=1, subscriptions=nodes, candidates=pairs, is_exact=True, may_tie=True)
    assert peak_bytes() - before <= size.task_bytes - module.INTERPRETER
    assert size.task_bytes > module.Size(
        nodes=nodes, topics=1, subscriptions=nodes, candidates=pairs, is_exact=True
    ).task_bytes + (100 << 20)
    assert (
        module.Size(nodes=nodes, topics=1, subscriptions=nodes, candidates=pairs, is_exact=True, band=10**9).task_bytes
        > module.INTERPRETER + 16 * pairs
    )


def test_size__says_whether_candidates_are_exact():
    assert (
        "at most 10 candidate links"
        in module.Size(nodes=5, topics=1, subscriptions=5, candidates=10, is_exact=False).say()
    )
    assert ", 10 candidate links" in module.Size(nodes=5, topics=1, subscriptions=5, candidates=10, is_exact=True).say()
    assert np.isclose(
        module.Size(nodes=0, topics=0, subscriptions=0, candidates=0, is_exact=True).task_bytes, module.INTERPRETER
    )
