"""What is told beforehand: numbers that are right, memory that is enough, and refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from overlay_spark import CoordinateCosts, OverlayProblem, design, estimate
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.costs import site_costs
from overlay_spark.errors import GuardError
from overlay_spark.frames import candidates as candidates_module
from overlay_spark.frames import estimates as module
from overlay_spark.frames.estimates import known_size
from overlay_spark.lab.shapes import SHAPES, problem_of, shape
from overlay_spark.options import DesignOptions, Options
from overlay_spark.tables import catalog
from overlay_spark.tables.references import Destination
from tests import checks, plain_delta
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
    assert (found.engine, found.fits) == ("kernel", True)
    told = {engine.name: engine for engine in found.engines}
    assert list(told) == ["kernel", "frames", "divide"]
    assert {(e.tasks > 0, e.task_bytes > 100 << 20, e.time_class, e.refusal) for e in found.engines} == {
        (True, True, "seconds", None)
    }
    assert [name for name, engine in told.items() if engine.driver_bytes] == ["divide"]


@pytest.mark.spark
def test_estimate__bounds_what_is_dear_to_count(spark, monkeypatch):
    monkeypatch.setattr(module, "PAIRS_TO_COUNT", 2)
    monkeypatch.setattr(candidates_module, "is_drawn", lambda one_in: module.F.lit(False))
    found = estimate(by_distance(spark))
    assert (found.candidates, found.is_exact) == (4, False)


@pytest.mark.spark
def test_estimate__tells_from_some_nodes_about_how_many_candidates_there_are(spark, monkeypatch):
    instance = shape("one_site", 0.15)
    wants = [set(instance.topics_of(v).tolist()) for v in range(instance.n_nodes)]
    candidates = sum(not a.isdisjoint(b) for a, b in combinations(wants, 2))
    sizes = instance.topic_sizes
    pairs = int((sizes * (sizes - 1) // 2).sum())
    monkeypatch.setattr(module, "known_size", lambda *given: replace(known_size(*given), candidates=10**9))
    given = problem_of(spark, instance)
    exact = estimate(given)
    assert (exact.is_exact, exact.is_sampled, exact.candidates) == (True, False, candidates)
    monkeypatch.setattr(module, "PAIRS_TO_COUNT", pairs // 8)
    about = estimate(given)
    assert (about.is_exact, about.is_sampled) == (False, True)
    assert 0.7 < about.candidates / candidates < 1.4
    assert about.candidates != candidates


@pytest.mark.spark
def test_estimate__counts_listed_links_that_share_a_topic(spark):
    found = estimate(problem(spark, TRIANGLE, COSTS))
    assert (found.candidates, found.is_exact) == (2, True)


@pytest.mark.slow
@pytest.mark.spark
def test_design_and_estimate__agree_where_many_listed_links_are_of_no_use(spark):
    """Of six hundred listed links three join nodes that share a topic: only those can be candidates."""
    useless = [(f"u{i}", f"v{i}", 1.0) for i in range(600)]
    nodes = [*"abcd", *[end for a, b, _ in useless for end in (a, b)]]
    given = problem(spark, TRIANGLE, [*COSTS, ("b", "c", 1.0), *useless], nodes)
    known = module.Size(nodes=1204, topics=3, subscriptions=6, candidates=4, is_exact=False, listed=604, tied=4)
    exact = replace(known, candidates=3, is_exact=True)
    assert exact.task_bytes < known.task_bytes
    for limit, fits in ((known.task_bytes, True), (exact.task_bytes, True), (exact.task_bytes - 1, False)):
        found = estimate(given, limited(limit))
        assert (found.fits, found.candidates, found.is_exact) == (fits, 3, True)
        assert found.engines[0].task_bytes == exact.task_bytes
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
    return Options(design=limit(engine="kernel"))


@pytest.mark.slow
@pytest.mark.spark
def test_design__refuses_beforehand_what_does_not_fit(spark, tmp_path, capsys):
    small = Options(design=DesignOptions(task_memory="100m"))
    with pytest.raises(GuardError) as refusal:
        design(by_distance(spark), options=small)
    assert str(refusal.value) == (
        "This problem is too large for one task: 5 nodes, 3 topics, 6 subscriptions, 3 candidate links; "
        "solving it needs about 0.4 GiB, and design.task_memory allows 100m. It would fit with design.task_memory = "
        "417m, if your workers have that much to spare."
    )
    (tmp_path / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\n")
    (tmp_path / "link_costs.csv").write_text("src,dst,cost\na,b,1\n")
    given = [f"--{t.replace('_', '-')}=csv:{tmp_path}/{t}.csv" for t in ("subscriptions", "link_costs")]
    out = str(tmp_path / "out")
    assert main(["design", *given, "--output", out, "--set", "design.task_memory=100m"]) == REFUSED
    assert "too large for one task" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["runs"]
    assert plain_delta.read(Destination.parse(out).table("runs"))[0]["status"] == "refused"
    assert main(["estimate", *given, "--set", "design.task_memory=100m"]) == REFUSED
    assert "is not taken" in capsys.readouterr().out
    assert main(["estimate", *given]) == DONE
    told = capsys.readouterr().out
    assert "candidate links  1  counted" in told


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "name, algorithm, scale",
    [*((name, "fewest_links" if name == "unit_costs" else "greedy", 0.2) for name in SHAPES), ("one_site", "trees", 2)],
)
def test_estimate__is_enough_and_at_most_twice_what_a_task_takes(spark, name, algorithm, scale):
    """The solving task in a process of its own, without Spark around it."""
    found = estimate(problem_of(spark, shape(name, scale)), Options().designing(algorithm))
    command = [sys.executable, "-m", "overlay_spark.lab.as_task", name, str(scale), algorithm]
    taken = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert taken["links"] > 500
    assert (taken["nodes"], taken["subscriptions"]) == (found.nodes, found.subscriptions)
    kernel = found.engines[0]
    assert taken["peak"] <= kernel.task_bytes <= 2 * taken["peak"]
    assert kernel.time_class == "seconds"
    assert taken["seconds"] < 60


@pytest.mark.parametrize(
    "nodes, topics, expected", [(1000, 200, "seconds"), (100_000, 1000, "minutes"), (10**6, 10**3, "hours")]
)
def test_time_class__grows_with_the_pairs_to_go_over(nodes, topics, expected):
    pairs = topics * (60 * nodes // topics) ** 2 // 2
    given = {"nodes": nodes, "topics": topics, "subscriptions": nodes * 60, "candidates": pairs, "is_exact": False}
    assert module.Size(**given, pairs=pairs).time_class == expected
    assert module.Size(**given, pairs=pairs, listed=1000).time_class == "seconds"


def test_task_bytes__count_what_is_held_of_each_two_nodes():
    known = module.Size(nodes=10_000, topics=1, subscriptions=1, candidates=1, is_exact=True)
    assert replace(known, bytes_a_pair=12).task_bytes == known.task_bytes + 12 * 10**8


def test_task_bytes__count_every_candidate_where_all_tie():
    """With one topic and one cost every candidate is in the first bin."""
    nodes = 3000
    instance = checks.instance_of([[0]] * nodes, 1, site_costs(np.zeros(nodes), np.ones((1, 1))))
    pairs = nodes * (nodes - 1) // 2
    assert len(greedy(instance)) == nodes - 1
    known = {"nodes": nodes, "topics": 1, "subscriptions": nodes, "candidates": pairs, "is_exact": True}
    tied = module.most_alike({1: (pairs, pairs)}, nodes - 1)
    assert tied == pairs
    size = module.Size(**known, tied=tied)
    assert size.task_bytes > module.Size(**known).task_bytes + (100 << 20)
    assert module.Size(**known, band=10**9).task_bytes > module.INTERPRETER + 16 * pairs


@pytest.mark.parametrize(
    "found, joins, expected",
    [
        ({}, 10, 0),
        ({1: (50, 7)}, 10, 7),
        ({3: (5, 5), 2: (20, 9), 1: (90, 60)}, 10, 60),
        ({3: (40, 4), 2: (20, 9), 1: (90, 60)}, 10, 4),
    ],
)
def test_most_alike__looks_no_further_than_contributions_that_join_everything(found, joins, expected):
    assert module.most_alike(found, joins) == expected


def test_nodes_within__is_what_would_fit():
    known = {"topics": 100, "is_exact": True, "listed": None}
    size = module.Size(nodes=64_000, subscriptions=3_840_000, candidates=2 * 10**9, pairs=10**10, tied=10**7, **known)
    limit = 1 << 30
    fits = size.nodes_within(limit)
    assert 0 < fits < size.nodes
    assert size.part(fits / size.nodes).task_bytes <= limit < size.part((fits + 1000) / size.nodes).task_bytes
    assert size.nodes_within(100 << 20) == 0  # even none would need more


def test_size__says_whether_candidates_are_exact():
    about = module.Size(nodes=5, topics=1, subscriptions=5, candidates=10, is_exact=False, is_sampled=True)
    assert ", about 10 candidate links" in about.say()
    assert (
        "at most 10 candidate links"
        in module.Size(nodes=5, topics=1, subscriptions=5, candidates=10, is_exact=False).say()
    )
    assert ", 10 candidate links" in module.Size(nodes=5, topics=1, subscriptions=5, candidates=10, is_exact=True).say()
    assert np.isclose(
        module.Size(nodes=0, topics=0, subscriptions=0, candidates=0, is_exact=True).task_bytes, module.INTERPRETER
    )
