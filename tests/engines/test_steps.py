"""What follows an engine: steps, the stages they leave behind, and bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark import engines
from overlay_spark.engines import steps as module
from overlay_spark.errors import OptionError
from overlay_spark.options import DesignOptions, Options
from tests.problems import indexed, problem, sorted_rows

pytestmark = pytest.mark.spark

WANTS = [("a", "x"), ("b", "x"), ("a", "y"), ("c", "y"), *[(node, "z") for node in "abc"]]
COSTS = [("a", "b", 3.0), ("a", "c", 3.0), ("b", "c", 1.0)]


@pytest.fixture
def solved(spark, workspace):
    """An indexed problem, options, and its overlay by trees, one of whose three links is needless."""
    given, options = (
        indexed(problem(spark, WANTS, COSTS), workspace),
        Options().designing("trees", then="reverse_delete"),
    )
    return given, options, engines.named("kernel").solve(given, options, workspace)


def test_follow__takes_the_steps_and_keeps_the_stage_of_what_stays(solved, workspace):
    given, options, before = solved
    links = before.links.select("*")
    after = module.follow(given, replace(before, links=links), options, workspace)
    columns = ("src", "dst", "contribution", "stage", "pick")
    assert before.links.count() == 3
    assert sorted_rows(after.links.select(*columns)) == [(0, 1, 2, "single", 0), (0, 2, 2, "single", 1)]
    assert after.links.columns == before.links.columns
    assert after.facts.seconds > before.facts.seconds
    assert (after.facts.sum_of_trees, before.facts.sum_of_trees) == (10**6 * 10, 10**6 * 10)


def test_follow__without_steps_leaves_the_overlay_alone(solved, workspace):
    given, options, before = solved
    none = replace(options, design=replace(options.design, then=()))
    assert module.follow(given, before, none, workspace) is before


def test_lower_bound__is_the_algorithms_own_else_the_one_asked_for(spark, solved, workspace):
    given, _, before = solved
    assert module.lower_bound(given, before, Options(), workspace) is None
    asked = module.lower_bound(given, before, Options(design=DesignOptions(bound="primal_dual")), workspace)
    dual = Options().designing("primal_dual")
    own = module.lower_bound(given, engines.named("kernel").solve(given, dual, workspace), dual, workspace)
    assert asked == own
    assert own.says == "dual value of primal_dual"
    assert 0 < own.value <= 6 * 10**6


def test_names__of_steps_and_bounds_nobody_knows_are_refused():
    with pytest.raises(OptionError, match=r"There is no step 'shuffle'"):
        engines.require_known(Options().designing(then="shuffle"))
    with pytest.raises(OptionError, match=r"There is no bound 'dual'"):
        engines.require_known(Options(design=DesignOptions(bound="dual")))
