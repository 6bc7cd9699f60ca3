"""Transport: what goes into a task is the problem, and what comes out is what the task answered, in the whole's numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.costs import point_costs
from overlay_spark.frames.answers import Answer, Standing, TaskFacts
from overlay_spark.frames.task_rows import Task
from overlay_spark.frames.tasks import Groups, in_groups, in_one_task, on_driver
from overlay_spark.instance import Instance
from overlay_spark.kernels.link_costs import costs_of
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests import checks
from tests.problems import indexed

N = 30


def arrays(model):
    """A problem of thirty nodes, of which the last wants nothing, as arrays."""
    rng = np.random.default_rng(4)
    wants = rng.random((N, 9)) < 0.35
    wants[-1] = False
    points = point_costs(rng.integers(0, 40, (N, 2)) / 4, rng.integers(0, 3, N) / 2, 0.25)
    src, dst = (ends.astype(np.int32) for ends in np.triu_indices(N, 1))
    prices = costs_of(points, src, dst)
    nodes, topics = np.nonzero(wants)
    return wants, points, (src, dst, prices), Instance.from_pairs(N, 9, nodes, topics, points)


def frames(spark, model):
    """The same as tables."""
    wants, points, (src, dst, prices), _ = arrays(model)
    subscriptions = [(f"n{v:02d}", f"t{t}") for v, t in zip(*np.nonzero(wants), strict=True)]
    pairs = [(f"n{u:02d}", f"n{v:02d}", cost / 4) for u, v, cost in zip(src, dst, prices.tolist(), strict=True)]
    nodes = [
        (f"n{v:02d}", f"n{v:02d}", point, height)
        for v, (point, height) in enumerate(zip(points.points.tolist(), points.heights.tolist(), strict=True))
    ]
    costs = {
        "listed": lambda: ListedCosts(catalog.LINK_COSTS.rows(spark, pairs)),
        "sites": lambda: SiteCosts(catalog.SITE_COSTS.rows(spark, pairs)),
        "points": CoordinateCosts,
    }[model]()
    return OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, subscriptions), costs, catalog.NODES.rows(spark, nodes), unit=0.25
    )


def solve(task: Task) -> Answer:
    links = greedy(task.instance)
    return Answer(links, "solved", TaskFacts(0.5, float(len(task.links)), int(links.total_cost)))


def rows_of(links):
    return list(zip(*[c.tolist() for c in (links.src, links.dst, links.cost, links.contribution)], strict=True))


@pytest.mark.spark
@pytest.mark.parametrize("by", ["one task", "frames"])
@pytest.mark.parametrize("model", ["listed", "sites", "points"])
def test_one_task__gets_the_whole_problem(spark, workspace, model, by):
    instance, given = arrays(model)[-1], indexed(frames(spark, model), workspace)
    found = in_one_task(given if by == "one task" else replace(given, packed=None), solve, workspace)
    expected = greedy(instance)
    links = found.links.orderBy("pick").collect()
    assert [(r["src"], r["dst"], r["cost"], r["contribution"]) for r in links] == rows_of(expected)
    assert [r["pick"] for r in links] == list(range(len(expected)))
    assert {(r["group"], r["stage"]) for r in links} == {(0, "solved")}
    assert [r["shared_topics"] for r in links] == [
        len(set(instance.topics_of(r["src"])) & set(instance.topics_of(r["dst"]))) for r in links
    ]
    assert found.facts() == {0: TaskFacts(0.5, 0.0, expected.total_cost, len(expected))}


@pytest.mark.spark
@pytest.mark.parametrize("model", ["listed", "sites", "points"])
@pytest.mark.parametrize("n_partitions", ["1", "5"])
def test_groups__get_what_is_inside_them_and_answer_in_the_wholes_numbers(spark, workspace, model, n_partitions):
    spark.conf.set("spark.sql.shuffle.partitions", n_partitions)
    instance = arrays(model)[-1]
    of_group = {7: list(range(0, N, 2)), 3: list(range(1, N, 3)), 5: [N - 1, 4]}  # some nodes in two, some in none
    groups = spark.createDataFrame([(g, v) for g, nodes in of_group.items() for v in nodes], "group int, node int")
    given = indexed(frames(spark, model), workspace)
    found = in_groups(given, Groups(groups, len(of_group), 100), solve, workspace)
    links, facts = found.links.collect(), found.facts()
    assert facts.keys() == of_group.keys()
    for group, nodes in of_group.items():
        wants = [instance.topics_of(v) if v in nodes else [] for v in range(N)]
        expected = greedy(checks.instance_of(wants, 9, instance.costs))
        mine = sorted((r for r in links if r["group"] == group), key=lambda r: r["pick"])
        assert [(r["src"], r["dst"], r["cost"], r["contribution"]) for r in mine] == rows_of(expected)
        assert facts[group].sum_of_trees == expected.total_cost
    assert {group: len(wants) for group, wants in of_group.items() if facts[group].sum_of_trees} == {7: 15, 3: 10}


def answer_what_is_there(task: Task) -> Answer:
    more = task.instance.links_between(np.append(task.links.src, 0), np.append(task.links.dst, 2))
    return Answer(more, "new", TaskFacts(0.0))


@pytest.mark.spark
def test_links_that_are_there__come_in_their_order_and_keep_their_stage(spark, workspace):
    instance, given = arrays("points")[-1], indexed(frames(spark, "points"), workspace)
    there = spark.createDataFrame([(8, 20, 5), (4, 12, 9), (2, 6, 7)], "src int, dst int, pick bigint")
    found = in_one_task(given, answer_what_is_there, workspace, there).links
    expected = [(8, 20), (2, 6), (4, 12), (0, 2)]
    rows = found.orderBy("pick").collect()
    assert [(r["src"], r["dst"]) for r in rows] == expected
    assert [r["stage"] for r in rows] == [None] * (len(expected) - 1) + ["new"]
    src, dst = np.array(expected).T
    assert [r["cost"] for r in rows] == instance.links_between(src, dst).cost.tolist()


def tell_what_is_given(task: Task) -> Answer:
    """The components as given, and every node beyond which a topic is wanted, as who stands for the group."""
    wanted = np.unique(task.instance.nodes[task.beyond])
    nothing = task.links
    return Answer(nothing, "s", TaskFacts(0.0), Standing(wanted.astype(np.int32), task.components))


@pytest.mark.spark
@pytest.mark.parametrize("where", ["tasks", "driver"])
def test_components_and_topics_beyond__come_with_the_nodes_of_a_group(spark, workspace, where):
    given = indexed(frames(spark, "points"), workspace)
    rows = [(4, 3, [1, 5], [3, 0]), (4, 9, [1], [7]), (4, 12, [0, 5], [12, 0])]
    nodes = spark.createDataFrame(rows, "group int, node int, topics array<int>, components array<int>")
    groups = Groups(nodes, 1, 5, spark.createDataFrame([(4, 5)], "group int, topic int"))
    found = on_driver(given, groups, tell_what_is_given)
    if where == "tasks":
        found = in_groups(given, groups, tell_what_is_given, workspace)
    standing = sorted((r["group"], r["node"], r["topics"], r["components"]) for r in found.standing.collect())
    assert standing == [row for row in rows if 5 in row[2]]
    assert found.facts() == {4: TaskFacts(0.0, chosen=2, wanted=4)}


@pytest.mark.spark
def test_group__of_nodes_that_want_nothing_answers_too(spark, workspace):
    given = indexed(frames(spark, "points"), workspace)
    groups = Groups(spark.createDataFrame([(0, N - 1)], "group int, node int"), 1, 1)
    assert in_groups(given, groups, solve, workspace).facts() == {0: TaskFacts(0.5, 0.0, 0)}
