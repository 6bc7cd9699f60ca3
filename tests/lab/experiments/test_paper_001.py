"""Paper 001: that its settings are the paper's and its figures are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from overlay_spark.algorithms.registry import find
from overlay_spark.lab.experiments.paper_001 import (
    EXPERIMENT,
    PLANS,
    RANDOM_TIES,
    SHORT,
    fewest_links_by_chance,
    interests_of,
    k_of,
    measure,
    nodes_of,
)
from overlay_spark.lab.experiments.shared import Setting, rows_of
from overlay_spark.lab.measure import make_instance
from overlay_spark.options import DegreeOptions, Options
from tests import checks, naive
from tests.strategies import instances


def test_settings__are_those_of_every_figure_value():
    assert len(EXPERIMENT.settings(False, 3)) == 3 * (10 + 10 + 8 + 8 + 5)


@pytest.mark.parametrize(
    "figure, law, x, nodes, k, mean, first",
    [
        ("1", "zipf", 300.0, 300, 3.0, 10, 0.5379),
        ("2", "zipf", 1000.0, 1000, 3.0, 10, 0.5379),
        ("3", "zipf", 8.0, 100, 8.0, 10, 0.5379),
        ("4", "zipf", 1.0, 100, 1.0, 10, 0.5379),
        ("5", "unif", 40.0, 100, 3.0, 40, 0.4),
    ],
)
def test_settings__are_the_paper_s(figure, law, x, nodes, k, mean, first):
    setting = Setting(figure, law, x, 0)
    assert PLANS[figure].series == (law,)
    assert nodes_of(setting) == EXPERIMENT.size(setting) == nodes
    assert k_of(setting) == k
    chances = interests_of(setting).chances()
    assert len(chances) == 100
    assert (chances.sum(), chances[0]) == (pytest.approx(mean), pytest.approx(first, abs=1e-4))
    if law == "zipf":
        assert chances[0] / chances[99] == pytest.approx(100**0.5)


@pytest.mark.parametrize("figure, x", [("1", 60.0), ("2", 60.0), ("3", 2.0), ("4", 5.0), ("5", 30.0)])
def test_measure__gives_every_metric_of_the_panels(figure, x):
    plan = PLANS[figure]
    setting = Setting(figure, plan.series[0], x, 1)
    found = {metric: value for *_, metric, value in rows_of(EXPERIMENT, setting, None, Options())}
    assert set(plan.metrics) <= found.keys()
    n = nodes_of(setting)
    instance = make_instance(n, interests_of(setting), None, 1)
    options = Options(degrees=DegreeOptions(k=k_of(setting)))
    for name in plan.algorithms:
        by_chance = name == RANDOM_TIES
        links = fewest_links_by_chance(instance, 1) if by_chance else find(name)(instance, options)
        assert checks.is_topic_connected(instance, links)
        ends = np.array(links.pairs()).ravel().tolist()
        degrees = [ends.count(v) for v in range(n)]
        assert found[f"D_{SHORT[name]}"] == max(degrees)
        assert found[f"d_{SHORT[name]}"] == pytest.approx(sum(degrees) / n)


def test_measure__gives_low_oda_the_k_of_the_figure_whatever_the_options_say():
    low, high = (measure(Setting("4", "zipf", k, 2), None, Options(degrees=DegreeOptions(k=5.0))) for k in (1.0, 8.0))
    assert low["d_Low"] < high["d_Low"] == pytest.approx(high["d_MinMax"], rel=0.02)
    assert low["d_GM"] == high["d_GM"]


@given(instances(max_nodes=8, max_topics=65, listed=False).filter(lambda instance: instance.n_topics > 0))
def test_fewest_links_by_chance__picks_links_that_join_most(instance):
    links = fewest_links_by_chance(instance, 3)
    overlay, pairs = naive.Overlay(instance), naive.allowed(instance)
    for u, v in links.pairs():
        most = max(len(overlay.joined(*pair)) for pair in pairs)
        assert len(overlay.add(u, v)) == most
    assert checks.is_topic_connected(instance, links)


def test_fewest_links_by_chance__breaks_ties_by_the_seed():
    instance = make_instance(60, interests_of(Setting("1", "zipf", 60.0, 0)), None, 0)
    first, again, other = (fewest_links_by_chance(instance, seed) for seed in (1, 1, 2))
    assert first.pairs() == again.pairs() != other.pairs()
    lowest = find("GM")(instance, Options())
    assert greatest(first) < greatest(lowest)


def greatest(links):
    ends = np.array(links.pairs()).ravel().tolist()
    return max(map(ends.count, ends))
