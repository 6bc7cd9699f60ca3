"""Published constructions and independently computed overlays, link by link (tests/cases)."""

import json
from fractions import Fraction

import numpy as np
import pytest

from overlay_spark.algorithms.registry import find
from overlay_spark.costs import from_units, matrix_costs, to_units
from overlay_spark.options import Options
from tests import checks, naive
from tests.conftest import GOLDEN

UNIT = 1 / 1024
"""Costs of the cases are multiples of this."""
PAPER_NAMES = ("GrMAW", "GM", "TrMAW", "PdMAW", "PdrdMAW")


CASES = [json.loads(path.read_text()) for path in GOLDEN]
of_known_optimum = pytest.mark.parametrize("case", [c for c in CASES if c["optimum"]], ids=lambda case: case["name"])


def instance_of(case, listed=False):
    matrix = to_units(np.array(case["W"]), UNIT)
    costs = checks.fully_listed(matrix) if listed else matrix_costs(matrix)
    return checks.instance_of([np.flatnonzero(row) for row in case["X"]], case["T"], costs)


def design(case, name, listed=False):
    return find(name)(instance_of(case, listed), Options())


@pytest.mark.parametrize("name", PAPER_NAMES)
@pytest.mark.parametrize("listed", [False, True], ids=["matrix", "listed"])
def test_golden_case__gives_the_links_in_pick_order(case, name, listed):
    expected = case["expected"][name]
    links = design(case, name, listed)
    assert [list(pair) for pair in links.pairs()] == expected["edges"]
    assert from_units(links.total_cost, UNIT) == expected["total_weight"]
    assert len(links) == expected["edge_count"]


@pytest.mark.parametrize("name", PAPER_NAMES)
def test_golden_case__has_the_measured_diameters(case, name):
    shapes = instance_of(case).topic_shapes(design(case, name))
    hops, costs = shapes[shapes[:, 0] > 0, 3:].T
    expected = case["expected"][name]
    assert hops.mean() == pytest.approx(expected["avg_topic_diameter_unweighted"])
    assert from_units(costs.mean(), UNIT) == pytest.approx(expected["avg_topic_diameter_weighted"])


@pytest.mark.parametrize("name", PAPER_NAMES)
def test_golden_case__costs_no_less_than_the_certified_bound(case, name):
    assert case["lower_bound"]["value"] <= from_units(design(case, name).total_cost, UNIT)


@of_known_optimum
@pytest.mark.parametrize("name", PAPER_NAMES)
def test_golden_case__costs_no_less_than_the_optimum_and_that_no_less_than_its_bounds(case, name):
    links, best = design(case, name), case["optimum"]["total_weight"]
    assert case["lower_bound"]["value"] <= best <= from_units(links.total_cost, UNIT)
    assert links.lower_bound is None or from_units(links.lower_bound, UNIT) <= best


@of_known_optimum
def test_golden_case__keeps_the_proved_factor_of_greedy(case):
    factor = checks.harmonic(checks.most_shared(instance_of(case)))
    cost = from_units(design(case, "GrMAW").total_cost, UNIT)
    assert cost <= factor * case["optimum"]["total_weight"] * (1 + 1e-9)


def test_golden_case__has_the_dual_value(case):
    exact = Fraction(case["expected"]["PdMAW"]["dual_value_exact"])
    for name in ("PdMAW", "PdrdMAW"):
        bound = from_units(design(case, name).lower_bound, UNIT)
        assert bound <= exact
        assert bound == pytest.approx(float(exact), rel=1e-8)


def test_golden_case__agrees_with_the_slow_twins(case):
    instance = instance_of(case)
    expected = {name: [tuple(pair) for pair in case["expected"][name]["edges"]] for name in PAPER_NAMES}
    if case["V"] <= 30:
        picks, value = naive.primal_dual(instance)
        assert [pick[:2] for pick in picks] == expected["PdMAW"]
        assert value * Fraction(UNIT) == Fraction(case["expected"]["PdMAW"]["dual_value_exact"])
        assert naive.reverse_delete(instance, expected["PdMAW"]) == expected["PdrdMAW"]
    assert naive.trees(instance) == expected["TrMAW"]
    assert [pick[:2] for pick in naive.greedy(instance)] == expected["GrMAW"]
    assert [pick[:2] for pick in naive.fewest_links(instance)] == expected["GM"]
    if case["optimum"] and case["V"] <= 5:
        assert from_units(naive.optimum(instance), UNIT) == case["optimum"]["total_weight"]
