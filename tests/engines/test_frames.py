"""Greedy in rounds: the links of greedy, in its order, with its contributions, wherever and however it runs."""

from __future__ import annotations

import itertools
import json
import logging
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlay_spark import design
from overlay_spark.algorithms.registry import ALGORITHMS, find
from overlay_spark.costs import listed_costs
from overlay_spark.engines import frames as module
from overlay_spark.engines.frames import ENGINE, FINISH, ROUND, FramesEngine
from overlay_spark.errors import InputError, OptionError
from overlay_spark.frames.components import GRAPHFRAMES
from overlay_spark.frames.estimates import INTERPRETER, Size, left_of, size_in_rounds
from overlay_spark.frames.graphs import graphframes_is_available
from overlay_spark.frames.workspace import Workspace
from overlay_spark.instance import Instance
from overlay_spark.lab.shapes import problem_of
from overlay_spark.options import ComponentOptions, DesignOptions, FramesOptions, Options, WorkspaceOptions
from tests import naive
from tests.conftest import GOLDEN
from tests.problems import UNIT, golden_problem, indexed, links_in_order, options, problem
from tests.strategies import instances

CASES = [json.loads(path.read_text()) for path in GOLDEN]
IN_ROUNDS = FramesOptions(finish_in_task=0, band_share=0.2, least_band=20)


def beside(several):
    """Problems beside one another, as one with listed links: nothing of one has to do with another's."""
    nodes, topics, rows = [], [], []
    n_nodes = n_topics = 0
    for one in several:
        nodes.append(one.nodes + n_nodes)
        topics.append(one.topics + n_topics)
        rows += [(u + n_nodes, v + n_nodes, cost) for (u, v), cost in naive.allowed(one).items()]
        n_nodes, n_topics = n_nodes + one.n_nodes, n_topics + one.n_topics
    src, dst, cost = np.array(rows, np.int64).reshape(-1, 3).T
    used, numbers = np.unique(np.concatenate(topics), return_inverse=True)
    costs = listed_costs(src, dst, cost)
    return Instance.from_pairs(n_nodes, len(used), np.concatenate(nodes), numbers, costs)


def solved(given, chosen, workspace):
    """(src, dst, cost, shared topics, contribution) in pick order, the passes, and the stages."""
    passes = []
    found = FramesEngine().solve(given, chosen, workspace, passes.append)
    assert found.links.columns == ["src", "dst", "cost", "shared_topics", "contribution", "stage", "pick"]
    rows = found.links.orderBy("pick").collect()
    assert [row["pick"] for row in rows] == list(range(len(rows)))
    return [tuple(row)[:5] for row in rows], passes, [row["stage"] for row in rows]


def by_greedy(instance, name):
    links, wants = find(name)(instance, Options()), naive.interests(instance)
    columns = (links.src, links.dst, links.cost, links.contribution)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(u, v, cost, len(wants[u] & wants[v]), joins) for u, v, cost, joins in rows]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", ["greedy", "fewest_links"])
def test_golden_cases__of_which_a_task_finishes_are_solved_link_by_link(spark, name):
    """What rounds find to the end is in the suite of all engines, tests/test_api.py."""
    chosen = options(frames=replace(IN_ROUNDS, finish_in_task=400, band_share=0.5))
    connectable = [case for case in CASES if case["name"] != "disconnected_v14"]
    with design(golden_problem(spark, connectable, listed=True), name, "frames", options=chosen) as overlay:
        rows = overlay.links.orderBy("pick").collect()
        assert overlay.engine == "frames"
    for case in connectable:
        expected = case["expected"][find(name).paper_name]
        mine = [row for row in rows if row["src"].startswith(f"{case['name']}/")]
        assert [[int(row[end][-3:]) for end in ("src", "dst")] for row in mine] == expected["edges"]
        assert sum(row["cost"] for row in mine) == expected["total_weight"]
    assert {row["stage"] for row in rows} == {ROUND, FINISH}


@pytest.mark.slow
@pytest.mark.spark
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(instances(max_nodes=10, max_topics=70), min_size=6, max_size=6),
    st.sampled_from(["greedy", "fewest_links"]),
)
def test_rounds__pick_what_greedy_picks(spark, several, name):
    instance = beside([one for one in several if one.n_subscriptions])
    with Workspace(spark, WorkspaceOptions()) as workspace:
        given = indexed(problem_of(spark, instance), workspace)
        found, passes, _ = solved(given, Options(frames=IN_ROUNDS).designing(name), workspace)
        workspace.close()
    assert found == by_greedy(instance, name)
    assert sum(one.links for one in passes) == len(found)
    assert all(one.apart >= later.apart for one, later in itertools.pairwise(passes))


@pytest.fixture
def clusters(spark, workspace):
    """A golden case by site costs, indexed, and its links."""
    (case,) = [case for case in CASES if case["name"] == "clusters_v24"]
    given = indexed(golden_problem(spark, [case], listed=False).counted_in(UNIT), workspace)
    return given, [tuple(pair) for pair in case["expected"]["GrMAW"]["edges"]]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "chosen, conf",
    [
        (IN_ROUNDS, {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "7"}),
        (replace(IN_ROUNDS, broadcast_subscriptions=0), {"spark.sql.autoBroadcastJoinThreshold": "-1"}),
        (replace(IN_ROUNDS, band_share=1.0), {}),
        (replace(IN_ROUNDS, topic_rows=12, least_band=1, band_share=1.0), {}),
        (replace(IN_ROUNDS, finish_in_task=100), {}),
    ],
    ids=["adaptive", "nothing broadcast", "one band", "bands of twelve, cut by src", "finished in a task"],
)
def test_rounds__pick_the_same_whatever_the_session_and_the_bands(spark, clusters, workspace, chosen, conf):
    given, expected = clusters
    for name, value in conf.items():
        spark.conf.set(name, value)
    try:
        found, _, _ = solved(given, options(frames=chosen), workspace)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert [row[:2] for row in found] == expected


@pytest.mark.spark
def test_rounds__with_graphframes_pick_the_same(spark, clusters, workspace):
    if not graphframes_is_available(spark):
        pytest.skip("GraphFrames' JVM part is not in this session")
    given, expected = clusters
    chosen = options(frames=IN_ROUNDS, components=ComponentOptions(method=GRAPHFRAMES))
    found, _, _ = solved(given, chosen, workspace)
    assert [row[:2] for row in found] == expected


@pytest.mark.slow
@pytest.mark.spark
def test_rounds__where_nothing_can_be_kept_are_staged_and_let_go(spark, clusters, refusing, tmp_path, monkeypatch):
    given, expected = clusters
    most = []

    def tell(one):
        most.append(len(list(tmp_path.glob("*/*"))))

    staging = WorkspaceOptions(staging=str(tmp_path))
    with Workspace(spark, staging) as workspace:
        found = FramesEngine().solve(given, options(frames=IN_ROUNDS), workspace, tell)
        assert [(row["src"], row["dst"]) for row in found.links.orderBy("pick").collect()] == expected
        workspace.close()
    assert "localCheckpoint" in refusing
    assert list(tmp_path.iterdir()) == []
    picked = len(most)  # one frame a round stays until the end
    assert max(most) <= picked + 12


@pytest.mark.slow
@pytest.mark.spark
def test_links_that_cannot_connect_every_topic__are_told_by_the_proof(spark):
    wants, costs = [(n, "x") for n in "abcd"], [("a", "b", 1.0), ("c", "d", 1.0)]
    for frames in (IN_ROUNDS, FramesOptions()):
        with pytest.raises(InputError, match="Table 'link_costs' leaves 1 topic in pieces"):
            design(problem(spark, wants, costs), engine="frames", options=Options(frames=frames))


@pytest.mark.slow
@pytest.mark.spark
def test_rounds__are_logged_with_what_they_found(spark, clusters, workspace, caplog):
    given, expected = clusters
    caplog.set_level(logging.INFO, logger="overlay_spark")
    passes = []

    def tell(one):
        passes.append(one)
        module.log_round(one)

    FramesEngine().solve(given, options(frames=IN_ROUNDS), workspace, tell)
    assert caplog.messages[-1] == passes[-1].say()
    assert sum(one.links for one in passes) == len(expected)
    assert passes[0].read == passes[0].left + passes[0].links <= given.n_pairs
    assert passes[-1].apart == 0
    assert passes[0].say().startswith(f"round 1: {passes[0].links} links of {passes[0].band} candidates up to ")


@pytest.mark.spark
def test_nothing_to_connect__takes_no_round(spark, workspace):
    given = indexed(problem(spark, [("a", "x"), ("b", "y")], [("a", "b", 1.0)]), workspace)
    assert solved(given, Options(frames=IN_ROUNDS), workspace) == ([], [], [])


def test_engine__has_the_greedy_choices_and_others_are_refused_with_those_that_do(monkeypatch):
    assert [a.name for a in ALGORITHMS if ENGINE.has(a)] == ["greedy", "fewest_links"]
    from overlay_spark.engines import choose

    with pytest.raises(
        OptionError, match=r"The engine 'frames' does not run trees\. Engines that do: kernel, divide\."
    ):
        choose(None, Options().designing("trees", "frames"))


@pytest.mark.slow
@pytest.mark.spark
def test_links_in_order__are_those_of_the_kernel_engine(spark):
    (case,) = [case for case in CASES if case["name"] == "ties_v16"]
    given = golden_problem(spark, [case], listed=False)
    orders = []
    for engine in ("kernel", "frames"):
        with design(given, engine=engine, options=options()) as overlay:
            orders.append(links_in_order(overlay.links))
            assert overlay.engine == engine
    assert orders[0] == orders[1]


def rounds_of(candidates, chosen):
    size = Size(nodes=9000, topics=70, subscriptions=300_000, candidates=candidates, is_exact=True, pairs=10**9)

    class Problem:
        n_subscriptions, largest_topic = 300_000, 8000

    return size_in_rounds(size, Problem, chosen)


def test_refusal__is_of_too_many_candidates_or_tasks_too_large():
    chosen = Options(frames=FramesOptions(most_candidates=40_000_000))
    assert ENGINE.refusal(rounds_of(40_000_000, chosen), chosen) is None
    assert ENGINE.refusal(rounds_of(40_000_001, chosen), chosen) == (
        "This problem is too large to solve in rounds: 9,000 nodes, 70 topics, 300,000 subscriptions, 40,000,001 "
        "candidate links; frames.most_candidates allows 40,000,000. Set it higher, if your cluster has the time, or "
        "design fewer nodes at a time."
    )
    small = replace(chosen, design=DesignOptions(task_memory="600m"))
    assert ENGINE.refusal(rounds_of(40_000_000, small), small) == (
        "This problem is too large to solve in rounds: 9,000 nodes, 70 topics, 300,000 subscriptions, 40,000,000 "
        "candidate links; a task would need about 1.5 GiB, and design.task_memory allows 600m. A lower "
        "frames.topic_rows takes less."
    )
    less = replace(small, frames=FramesOptions(topic_rows=500_000))
    assert ENGINE.refusal(rounds_of(40_000_000, less), less) is None


def test_size_in_rounds__is_of_the_task_that_finishes_where_all_fits_it_from_the_start():
    chosen = Options()
    at_once, in_rounds = rounds_of(4_000_000, chosen), rounds_of(6_000_000, chosen)
    assert (at_once.at_once, in_rounds.at_once) == (True, False)
    assert at_once.task_bytes == left_of(at_once, 4_000_000).task_bytes == at_once.finish_bytes
    assert in_rounds.task_bytes == max(in_rounds.finish_bytes, INTERPRETER + 150 * in_rounds.edges)
    assert left_of(at_once, 10).tied == 0
    assert (at_once.time_class, in_rounds.time_class) == ("minutes", "minutes")
    assert rounds_of(400_000_000, chosen).time_class == "hours"
