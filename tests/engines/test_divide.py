"""Divide and conquer on Spark: published overlays, and whatever the parts are, every topic connected."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from pyspark.sql import functions as F

from overlay_spark import OverlayProblem, design, verify
from overlay_spark.costs import listed_costs, point_costs, site_costs
from overlay_spark.engines.divide import DRIVER, ENGINE, INNER, WIDENED
from overlay_spark.errors import GuardError, InputError
from overlay_spark.frames.estimates import known_size
from overlay_spark.frames.workspace import Workspace
from overlay_spark.instance import Instance
from overlay_spark.lab.shapes import problem_of
from overlay_spark.options import DesignOptions, DivideOptions, Options, WorkspaceOptions
from overlay_spark.problems import ListedCosts
from overlay_spark.tables import catalog
from tests import naive
from tests.conftest import GOLDEN
from tests.problems import golden_problem, indexed, node, options, sorted_rows

pytestmark = pytest.mark.spark

CASES = [json.loads(path.read_text()) for path in GOLDEN]
SMALL = DivideOptions(part_nodes=12, least_nodes=3)


def solved(given, chosen, workspace):
    """(src, dst, cost, shared topics, contribution) in pick order, the stages, and (part, representative) by node."""
    found = ENGINE.solve(given, chosen, workspace)
    assert found.links.columns == ["src", "dst", "cost", "shared_topics", "contribution", "stage", "pick"]
    rows = found.links.orderBy("pick").collect()
    assert [row["pick"] for row in rows] == list(range(len(rows)))
    parts = {row["node"]: (row["part"], row["representative"]) for row in found.parts.collect()}
    return [tuple(row)[:5] for row in rows], [row["stage"] for row in rows], parts


def labelled(spark, case_list, listed):
    """Golden cases beside one another, their published parts as the sites of their nodes."""
    given = golden_problem(spark, case_list, listed)
    sites = [
        (node(case, v), f"{case['name']}/p{part:03d}") for case in case_list for v, part in enumerate(case["partition"])
    ]
    return OverlayProblem(given.subscriptions, given.costs, catalog.NODES.rows(spark, sites))


COPIES = sorted({case["dc_lambda"] for case in CASES})


@pytest.mark.parametrize("copies", [pytest.param(COPIES[0], marks=pytest.mark.slow), *COPIES[1:]])
def test_golden_cases__have_their_inner_links_by_part_and_then_those_between(spark, copies):
    cases = [case for case in CASES if case["dc_lambda"] == copies]
    divided = DivideOptions(by="site", least_nodes=1, copies=copies)
    chosen = options(divide=divided).designing(engine="divide")
    with design(labelled(spark, cases, listed=True), options=chosen) as overlay:
        links = overlay.links.orderBy("pick").collect()
        nodes = {row["node_id"]: row for row in overlay.nodes.collect()}
    for case in cases:
        expected, names = case["expected"]["DcMAW"], [node(case, v) for v in range(case["V"])]
        mine = [row for row in links if row["src"].startswith(case["name"] + "/")]
        inner = [row for row in mine if row["stage"] == INNER]
        assert mine == inner + [row for row in mine if row["stage"] == DRIVER]
        assert [[names.index(row["src"]), names.index(row["dst"])] for row in mine] == expected["edges"]
        assert len(inner) == expected["inner_edges"]
        chosen = {v for part in expected["representatives"] for v in part}
        wanting = [v for v in range(case["V"]) if any(case["X"][v])]
        assert {v for v in wanting if nodes[names[v]]["representative"]} == chosen & set(wanting)
        assert len({nodes[name]["part_id"] for name in names}) == len(set(case["partition"]))


def drawn(rng, model, n=60, n_topics=9):
    """A problem of sixty nodes, the last of which wants nothing."""
    wants = rng.random((n, n_topics)) < 0.3
    wants[-1] = False
    nodes, topics = np.nonzero(wants)
    if model == "sites":
        table = rng.integers(1, 30, (14, 14))
        costs = site_costs(rng.integers(0, len(table), n), np.minimum(table, table.T))
    elif model == "points":
        costs = point_costs(rng.random((n, 2)) * 50, rng.random(n), 1e-3)
    else:
        share = {"listed": 1.0, "few listed": 0.06}[model]
        src, dst = np.triu_indices(n, 1)
        kept = (rng.random(len(src)) < share) | (dst == src + 1)
        costs = listed_costs(src[kept], dst[kept], rng.integers(1, 9, kept.sum()))
    return Instance.from_pairs(n, n_topics, nodes, topics, costs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model, divided",
    [
        ("points", {"by": "coordinates"}),
        ("points", {"by": "random", "join_nodes": 20, "join_parts": 3}),
        ("points", {"join_nodes": 15, "cover": "weighted_degree", "copies": 2}),
        ("sites", {"by": "site"}),
        ("sites", {"by": "landmarks", "cover": "all", "join_parts": 2}),
        ("listed", {"by": "auto"}),
        ("few listed", {"by": "auto"}),
        ("few listed", {"by": "random", "join_nodes": 10, "part_nodes": 5, "least_nodes": 1}),
    ],
)
def test_divide__connects_all_that_can_be_with_links_that_each_join_something(spark, workspace, model, divided):
    instance = drawn(np.random.default_rng(7), model)
    given = indexed(problem_of(spark, instance), workspace)
    chosen = Options(divide=replace(SMALL, **divided))
    rows, stages, parts = solved(given, chosen, workspace)
    pairs = [row[:2] for row in rows]
    assert naive.topic_components(instance, pairs) == naive.topic_components(instance, naive.allowed(instance))
    assert [row[4] for row in rows] == naive.replay(instance, pairs)
    assert all(row[4] for row in rows)
    costs, wants = naive.allowed(instance), naive.interests(instance)
    assert [row[2] for row in rows] == [costs[pair] for pair in pairs]
    assert [row[3] for row in rows] == [len(wants[u] & wants[v]) for u, v in pairs]
    within = [parts[u][0] == parts[v][0] for u, v in pairs]
    assert all(is_inner for is_inner, stage in zip(within, stages, strict=True) if stage == INNER)
    assert not any(is_inner for is_inner, stage in zip(within, stages, strict=True) if stage in (DRIVER, "level-1"))
    assert len(parts) == instance.n_nodes
    sizes = np.bincount([part for part, _ in parts.values()])
    assert len(sizes) > 1
    assert sizes.max() <= chosen.divide.part_nodes
    joined = {v for (u, v), stage in zip(pairs, stages, strict=True) if stage not in (INNER, WIDENED)}
    assert joined
    assert all(parts[v][1] for v in joined)
    if divided.get("join_nodes") or divided.get("join_parts"):
        assert "level-1" in stages
        levels = [stage for stage in dict.fromkeys(stages) if stage.startswith("level-")]
        assert levels == [f"level-{i + 1}" for i in range(len(levels))]
    assert (WIDENED in stages) == (model == "few listed")


@pytest.mark.slow
def test_divide__gives_the_same_however_rows_are_split(spark, workspace):
    instance = drawn(np.random.default_rng(3), "points")
    table = problem_of(spark, instance)
    found = []
    for n_partitions in ("1", "2", "16"):
        spark.conf.set("spark.sql.shuffle.partitions", n_partitions)
        split = replace(
            table,
            subscriptions=table.subscriptions.repartition(int(n_partitions)),
            nodes=table.nodes.repartition(int(n_partitions), F.rand(5)),
        )
        chosen = Options(divide=replace(SMALL, join_nodes=15))
        found.append(solved(indexed(split, workspace), chosen, workspace))
    assert found[0] == found[1] == found[2]
    assert "level-1" in found[0][1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm, steps", [("trees", ()), ("fewest_links", ()), ("primal_dual", ("reverse_delete",))]
)
def test_design__runs_any_algorithm_and_step_in_parts(spark, algorithm, steps):
    instance = drawn(np.random.default_rng(5), "points")
    given = problem_of(spark, instance)
    chosen = Options(divide=SMALL).designing(algorithm, "divide", steps)
    with design(given, options=chosen) as overlay:
        assert overlay.engine == "divide"
        assert overlay.lower_bound is None
        assert verify(given, overlay.links).ok
        links = overlay.links.orderBy("pick").collect()
        nodes = sorted_rows(overlay.nodes)
    assert [row["contribution"] for row in links] == naive.replay(
        instance, [(int(row["src"]), int(row["dst"])) for row in links]
    )
    assert {row["stage"] for row in links} == {INNER, DRIVER}
    assert {row[4] for row in nodes} == set(range(1 + max(row[4] for row in nodes)))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["points", "few listed"])
def test_divide__where_nothing_can_be_kept_gives_the_same(spark, workspace, refusing, tmp_path, monkeypatch, model):
    table = problem_of(spark, drawn(np.random.default_rng(3), model))
    chosen = Options(divide=replace(SMALL, join_nodes=15))
    found = []
    with Workspace(spark, WorkspaceOptions(staging=str(tmp_path))) as staged:
        found.append(solved(indexed(table, staged), chosen, staged))
        staged.close()
    assert "localCheckpoint" in refusing
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    found.append(solved(indexed(table, workspace), chosen, workspace))
    assert found[0] == found[1]


@pytest.mark.slow
def test_topics_that_cannot_be_connected__are_named_with_their_sides(spark):
    wants = [(name, topic) for name in "abcdef" for topic in ("x", "y")]
    costs = [("a", "b", 1.0), ("b", "c", 1.0), ("d", "e", 1.0), ("e", "f", 1.0)]
    given = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, wants),
        ListedCosts(catalog.LINK_COSTS.rows(spark, costs)),
        catalog.NODES.rows(spark, [(name, name) for name in "abcdef"]),
    )
    chosen = Options(divide=DivideOptions(by="site", part_nodes=2, least_nodes=1)).designing(engine="divide")
    with pytest.raises(InputError, match=r"topic 'x' is in 2 pieces: 3 nodes with 'a', 3 nodes with 'd'"):
        design(given, options=chosen)


def test_divide__refuses_tasks_that_are_too_large_with_their_numbers(spark, workspace):
    given = indexed(problem_of(spark, drawn(np.random.default_rng(5), "points")), workspace)
    small = Options(design=DesignOptions(task_memory="100m"))
    size = ENGINE.size(known_size(given, small), given, small)
    assert "in parts of 8,000 nodes" in ENGINE.refusal(size, small)
    with pytest.raises(GuardError, match=r"\(a part\) would need about 0\.4 GiB.*Lower divide\.part_nodes"):
        ENGINE.solve(given, small, workspace)
