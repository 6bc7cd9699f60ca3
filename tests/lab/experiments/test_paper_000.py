"""Paper 000: that its settings are the paper's and its figures are what they say."""

from __future__ import annotations

from itertools import combinations

import pytest

from overlay_spark.algorithms.divide_conquer import divide_conquer
from overlay_spark.algorithms.registry import find
from overlay_spark.lab.experiments.paper_000 import (
    EXPERIMENT,
    PLANS,
    SHORT,
    in_clusters,
    interests_of,
    mean_cost,
    measure,
    nodes_of,
)
from overlay_spark.lab.experiments.shared import Setting, rows_of
from overlay_spark.lab.measure import make_instance
from overlay_spark.options import Options
from tests import naive


def test_settings__are_those_of_every_figure_law_and_value():
    assert len(EXPERIMENT.settings(False, 3)) == 3 * (3 * (10 + 10 + 5) + 10 + 10 + 10)


@pytest.mark.parametrize(
    "figure, law, x, nodes, topics, least, most",
    [
        ("4", "unif", 300.0, 300, 200, 20, 100),
        ("5", "zipf", 300.0, 800, 300, 20, 100),
        ("6", "expo", 150.0, 800, 200, 110, 190),
        ("7", "zipf", 100.0, 100, 200, 20, 100),
        ("8", "unif", 1000.0, 1000, 200, 20, 100),
        ("9", "unif", 10_000.0, 10_000, 200, 20, 100),
    ],
)
def test_settings__are_the_paper_s(figure, law, x, nodes, topics, least, most):
    setting = Setting(figure, law, x, 0)
    drawn = interests_of(setting)
    assert nodes_of(setting) == EXPERIMENT.size(setting) == nodes
    assert (drawn.topics, drawn.least, drawn.most, drawn.law) == (topics, least, most, law)


@pytest.mark.parametrize("figure", ["4", "7", "8"])
def test_measure__gives_every_metric_of_the_panels(figure):
    plan = PLANS[figure]
    setting = Setting(figure, plan.series[0], 60.0, 1)
    found = {metric: value for *_, metric, value in rows_of(EXPERIMENT, setting, None, Options())}
    assert set(plan.metrics) <= found.keys()
    instance = make_instance(60, interests_of(setting), None, 1)
    all_costs = [naive.cost_between(instance.costs, u, v) for u, v in combinations(range(60), 2)]
    weight = sum(all_costs) / len(all_costs)
    assert mean_cost(instance) == pytest.approx(weight)
    for name in plan.algorithms:
        links, short = find(name)(instance, Options()), SHORT[name]
        assert found[f"d_{short}"] == 2 * len(links) / 60
        assert found[f"w_{short}"] == pytest.approx(2 * links.total_cost / weight / 60)
        assert found[f"T_{short}"] > 0
    if figure == "4":
        assert found["w_Tr/w_Gr"] == found["w_Tr"] / found["w_Gr"]
        assert found["w_Pd - w_Gr"] == found["w_Pd"] - found["w_Gr"]
        pairs = naive.allowed(instance)
        tree_costs = sum(pairs[pair] * n for pair, n in _trees_by_link(instance).items())
        assert found["w_sum of trees"] == pytest.approx(2 * tree_costs / weight / 60)


def test_measure__gives_diameters_of_topics_that_somebody_wants():
    setting = Setting("8", "unif", 60.0, 1)
    found = measure(setting, None, Options())
    instance = make_instance(60, interests_of(setting), None, 1)
    shapes = instance.topic_shapes(find("greedy")(instance, Options()))
    wanted = [row for row in shapes.tolist() if row[0] > 0]
    assert found["diam_Gr"] == pytest.approx(sum(row[3] for row in wanted) / len(wanted))
    weighted = sum(row[4] for row in wanted) / len(wanted)
    assert found["wdiam_Gr"] == pytest.approx(weighted / mean_cost(instance))


def _trees_by_link(instance):
    """How many topics' trees use each link: each topic's own Kruskal."""
    used = {}
    for topic in range(instance.n_topics):
        members = naive.members(instance)[topic]
        label = {v: v for v in members}
        for (u, v), _ in sorted(naive.allowed(instance).items(), key=lambda item: (item[1], item[0])):
            if u in label and v in label and label[u] != label[v]:
                used[u, v] = used.get((u, v), 0) + 1
                kept, gone = label[u], label[v]
                label = {node: kept if at == gone else at for node, at in label.items()}
    return used


def test_measure__of_clusters_divides_by_them_and_takes_weights_as_they_are():
    setting = Setting("9", "unif", 300.0, 2)
    found = {metric: value for *_, metric, value in rows_of(EXPERIMENT, setting, None, Options())}
    assert set(PLANS["9"].metrics) <= found.keys()
    instance = in_clusters(make_instance(300, interests_of(setting), None, 2), 2)
    assert sorted(set(instance.costs.sites.tolist())) == [0, 1, 2]
    assert instance.costs.table.tolist() == [[1, 10, 10], [10, 1, 10], [10, 10, 1]]
    parts = divide_conquer(instance, instance.costs.sites, 1, Options().kernel)
    whole = find("greedy")(instance, Options())
    assert (found["w_DC"], found["d_DC"]) == (2 * parts.total_cost / 300, 2 * len(parts) / 300)
    assert (found["w_Gr"], found["d_Gr"]) == (2 * whole.total_cost / 300, 2 * len(whole) / 300)
    assert found["wdiam_DC"] == pytest.approx(instance.topic_shapes(parts)[:, 4].mean())
