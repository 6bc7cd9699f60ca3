"""What is told beforehand: numbers that are right, memory that is enough, and refusals."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from overlay_spark import CoordinateCosts, OverlayProblem, design, estimate
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.costs import site_costs
from overlay_spark.errors import GuardError
from overlay_spark.frames import estimates as module
from overlay_spark.jobs.kernel_run import peak_bytes
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
def test_design__refuses_beforehand_what_does_not_fit(spark, tmp_path, capsys):
    small = Options(design=DesignOptions(task_memory="100m"))
    with pytest.raises(GuardError) as refusal:
        design(by_distance(spark), options=small)
    assert str(refusal.value) == (
        "This problem is too large for one task: 5 nodes, 3 topics, 6 subscriptions, at most 4 candidate links; "
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
from overlay_spark.frames.solve_parts import COORDINATE, HEIGHT, LINK_COST, SUBSCRIPTION, _solver
from overlay_spark.jobs.benchmark import Case, make_instance
from overlay_spark.jobs.kernel_run import peak_bytes
from overlay_spark.options import DesignOptions, Options

listed = sys.argv[1] == "listed"
options = Options(design=DesignOptions(algorithm=sys.argv[2]))
instance = make_instance(Case(800, 300), None, 0)
n = instance.n_nodes
src, dst = np.triu_indices(n, 1)
parts = [(SUBSCRIPTION, instance.nodes, instance.topics)]
parts += [(LINK_COST, src, dst)] if listed else [(COORDINATE, np.arange(n), np.zeros(n)), (HEIGHT, np.arange(n), np.zeros(n))]
types = {"kind": pa.int8(), "a": pa.int32(), "b": pa.int32(), "value": pa.int64(), "real": pa.float64()}
batches = []
for kind, a, b in parts:
    columns = [np.full(len(a), kind), a, b, 1 + np.arange(len(a)) % 997, np.arange(len(a)) * 0.1]
    batches.append(pa.RecordBatch.from_arrays([pa.array(c).cast(t) for c, t in zip(columns, types.values())], list(types)))
rows = sum(b.num_rows for b in _solver(n, 300, options.to_mapping())(iter(batches)))
print(json.dumps({"rows": rows, "peak": peak_bytes(), "subscriptions": instance.n_subscriptions}))
"""


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "points"])
@pytest.mark.parametrize("algorithm", ["greedy", "primal_dual_reverse_delete"])
def test_task_bytes__are_enough_and_not_far_too_much(listed, algorithm):
    """A solving task in a process of its own, without Spark around it."""
    command = [sys.executable, "-c", SOLVE, "listed" if listed else "points", algorithm]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found["rows"] > 800
    pairs = 800 * 799 // 2
    size = module.Size(800, 300, found["subscriptions"], pairs, True, pairs if listed else None)
    assert found["peak"] <= size.task_bytes <= 3 * found["peak"]


@pytest.mark.parametrize(
    "nodes, topics, expected", [(1000, 200, "seconds"), (100_000, 1000, "minutes"), (10**6, 10**4, "hours")]
)
def test_time_class__grows_with_the_words_to_read(nodes, topics, expected):
    assert module.Size(nodes, topics, nodes * 60, nodes * (nodes - 1) // 2, False, None).time_class == expected


def test_task_bytes__count_every_candidate_where_ranks_may_be_the_same():
    """With one cost for all links every candidate is in the first bin."""
    nodes = 3000
    instance = checks.instance_of([[0]] * nodes, 1, site_costs(np.zeros(nodes), np.ones((1, 1))))
    pairs = nodes * (nodes - 1) // 2
    before = peak_bytes()
    assert len(greedy(instance)) == nodes - 1
    size = module.Size(nodes, 1, nodes, pairs, True, None, may_tie=True)
    assert peak_bytes() - before <= size.task_bytes - module.INTERPRETER
    assert size.task_bytes > module.Size(nodes, 1, nodes, pairs, True, None).task_bytes + (100 << 20)
    assert module.Size(nodes, 1, nodes, pairs, True, None, band=10**9).task_bytes > module.INTERPRETER + 16 * pairs


def test_size__says_whether_candidates_are_exact():
    assert "at most 10 candidate links" in module.Size(5, 1, 5, 10, False, None).say()
    assert ", 10 candidate links" in module.Size(5, 1, 5, 10, True, None).say()
    assert np.isclose(module.Size(0, 0, 0, 0, True, None).task_bytes, module.INTERPRETER)
