"""What experiments share: settings, metrics that combine others, means, and tasks."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.experiments import PAPERS, find
from overlay_spark.lab.experiments.shared import (
    ALL,
    LEAST,
    LEAST_STEP,
    MEAN,
    MEAN_AT_MOST,
    MOST,
    MOST_STEP,
    Aspect,
    Experiment,
    Panel,
    Plan,
    Setting,
    beside_the_paper,
    combined,
    rows_of,
    run_experiment,
    with_means,
)
from overlay_spark.options import Options


def measured(setting, points, options):
    return {"a": setting.x, "b": 2.0 + setting.seed}


def size(setting):
    return setting.x


def plan(series):
    panel = Panel(title="both", metrics=("a", "a/b", "a - b"))
    return Plan(label="x", series=series, panels=(panel,), values=(1, 2, 3), quick_values=(1, 3))


EXPERIMENT = Experiment(
    paper="999",
    plans={"1": plan(("s", "t")), "2": plan(("s",))},
    stated={
        ("1", "s", "a/b", MEAN): 0.7,
        ("1", "all", "a", MEAN): 5.0,
        ("2", "s", "a - b", 3.0): 1.5,
        ("2", "s", "a", MOST): 2.3,
        ("2", "s", "a", LEAST_STEP): 0.0,
    },
    measure=measured,
    size=size,
)


def test_settings__are_all_or_those_of_the_figures_named():
    full = EXPERIMENT.settings(quick=False, seeds=2)
    assert len(full) == len(set(full)) == 2 * (2 * 3 + 3)
    assert EXPERIMENT.settings(quick=True, seeds=2, figures=["2"]) == [
        Setting("2", "s", 1.0, 0),
        Setting("2", "s", 3.0, 0),
    ]


def gives_curves(plan):
    """A workload of one that varies nothing is as long as its x."""
    return len(plan.values) == 1


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper__measures_what_it_states_even_in_a_quick_run(paper):
    experiment = find(paper)
    assert experiment.paper == paper
    for figure, series, metric, at in experiment.stated:
        plan = experiment.plans[figure]
        assert series in (*plan.series, ALL)
        assert metric in plan.metrics
        assert isinstance(at, Aspect) or at in plan.quick_values or (gives_curves(plan) and 0 < at <= plan.values[0])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper__has_fewer_workloads_of_all_figures_in_a_quick_run(paper):
    full, quick = find(paper).settings(False, 3), find(paper).settings(True, 3)
    assert len(set(full)) == len(full)
    assert len(quick) < len(full)
    for small in quick:
        plan = find(paper).plans[small.figure]
        whole = replace(small, x=float(plan.values[0]))
        assert small in full or (gives_curves(plan) and small.x < whole.x and whole in full)
    assert {s.seed for s in quick} == {0}
    assert {(s.figure, s.series) for s in quick} == {(s.figure, s.series) for s in full}


def test_combined__is_a_quotient_or_a_difference():
    found = {"a": {1.0: 3.0, 2.0: 4.0, 3.0: 0.0}, "b": {0.0: 1.0, 1.0: 2.0, 3.0: 5.0}}
    assert combined("a/b", found) == {1.0: 1.5, 3.0: 0.0}
    assert combined("a - b", found) == {1.0: 1.0, 3.0: -5.0}


def test_rows__have_what_was_measured_and_what_panels_make_of_it():
    assert rows_of(EXPERIMENT, Setting("2", "s", 3.0, 1), None, Options()) == [
        ("2", "s", 3.0, 1, "a", 3.0),
        ("2", "s", 3.0, 1, "b", 3.0),
        ("2", "s", 3.0, 1, "a/b", 1.0),
        ("2", "s", 3.0, 1, "a - b", 0.0),
    ]


TOGETHER = Experiment(
    paper="998",
    plans={
        "1": replace(plan(("s",)), panels=(Panel(title="line", metrics=("a", "a - b")),), values=(3,)),
        "2": replace(
            plan(("s",)),
            panels=(Panel(title="dots", metrics=("c/d",), against="b"),),
            values=(3,),
            measured_with="1",
        ),
        "3": plan(("s",)),
    },
    stated={("2", "s", "c/d", MOST): 3.0, ("2", "s", "c/d", MEAN_AT_MOST): 1.0, ("1", "s", "a", MOST): None},
    measure=lambda setting, points, options: {
        "a": {1.0: 5.0 + setting.seed, 2.0: 7.0},
        "b": {1.0: 1.0, 3.0: 2.0},
        "c/d": {3.0: 4.0 * setting.seed},
        "e": setting.x,
    },
    size=size,
)


def test_figures_measured_together__have_no_workloads_of_their_own():
    assert TOGETHER.settings(False, 2, ["2"]) == [Setting("1", "s", 3.0, 0), Setting("1", "s", 3.0, 1)]
    assert {s.figure for s in TOGETHER.settings(False, 2)} == {"1", "3"}


def test_rows_of_curves__are_at_their_own_x_and_of_figures_measured_together_what_each_shows():
    assert rows_of(TOGETHER, Setting("1", "s", 3.0, 1), None, Options()) == [
        ("1", "s", 1.0, 1, "a", 6.0),
        ("1", "s", 2.0, 1, "a", 7.0),
        ("1", "s", 1.0, 1, "a - b", 5.0),
        ("2", "s", 1.0, 1, "b", 1.0),
        ("2", "s", 3.0, 1, "b", 2.0),
        ("2", "s", 3.0, 1, "c/d", 4.0),
    ]


def test_dots__stand_for_themselves_and_points_of_lines_are_means_over_seeds():
    rows = [row for seed in (0, 1) for row in rows_of(TOGETHER, Setting("1", "s", 3.0, seed), None, Options())]
    figures = with_means(TOGETHER, rows)
    assert figures[len(rows) :] == [
        ("998", "1", "s", None, -1, "mean a", 6.25, None),
        ("998", "1", "s", None, -1, "most a", 7.0, None),
        ("998", "1", "s", None, -1, "mean a - b", 4.5, None),
        ("998", "2", "s", None, -1, "mean b", 1.5, None),
        ("998", "2", "s", None, -1, "mean c/d", 2.0, 1.0),
        ("998", "2", "s", None, -1, "most c/d", 4.0, 3.0),
    ]
    assert beside_the_paper(TOGETHER, figures) == [
        ("2", "s", "most c/d", 4.0, "at most 3"),
        ("2", "s", "mean c/d", 2.0, "at most 1"),
        ("1", "s", "most a", 7.0, "-"),
    ]


def test_means__stand_beside_what_the_paper_states():
    rows = [("1", s, x, 0, "a/b", value) for s, x, value in [("s", 1.0, 0.2), ("s", 2.0, 0.4), ("t", 1.0, 0.9)]]
    rows += [("1", "s", 1.0, 0, "a", 4.0), ("1", "t", 1.0, 0, "a", 8.0)]
    rows += [("2", "s", 3.0, seed, "a - b", value) for seed, value in [(0, 1.0), (1, 2.0)]]
    figures = with_means(EXPERIMENT, rows)
    assert figures[0] == ("999", "1", "s", 1.0, 0, "a/b", 0.2, None)
    assert ("999", "1", "t", None, -1, "mean a/b", 0.9, None) in figures
    assert not any(row[2] == "all" for row in figures if row[1] == "2")
    assert beside_the_paper(EXPERIMENT, figures) == [
        ("1", "s", "mean a/b", pytest.approx(0.3), "0.7"),
        ("1", "all", "mean a", 6.0, "5"),
        ("2", "s", "a - b at 3", 1.5, "1.5"),
    ]


def test_bounds__are_those_of_points_which_are_means_over_seeds():
    rows = [("2", "s", x, seed, "a", x + seed) for x in (1.0, 3.0, 2.0) for seed in (0, 1)]
    figures = with_means(EXPERIMENT, rows)
    assert figures[len(rows) :] == [
        ("999", "2", "s", None, -1, "mean a", 2.5, None),
        ("999", "2", "s", None, -1, "most a", 3.5, 2.3),
        ("999", "2", "s", None, -1, "least step of a", 1.0, 0.0),
    ]
    assert beside_the_paper(EXPERIMENT, figures) == [
        ("2", "s", "most a", 3.5, "at most 2.3"),
        ("2", "s", "least step of a", 1.0, "at least 0"),
    ]


@pytest.mark.parametrize(
    "aspect, expected", [(MEAN, 4.0), (MOST, 9.0), (LEAST, 1.0), (MOST_STEP, 4.0), (LEAST_STEP, -2.0)]
)
def test_aspects__of_several_curves_step_within_each(aspect, expected):
    assert aspect.over([[3.0, 1.0, 2.0], [5.0, 9.0]]) == expected


@pytest.mark.spark
def test_run_experiment__measures_every_setting_in_tasks(spark):
    chosen, steps = EXPERIMENT.settings(quick=False, seeds=2), Steps(io.StringIO())
    figures = run_experiment(spark, EXPERIMENT, chosen, None, Options(), steps)
    here = [row for setting in chosen for row in rows_of(EXPERIMENT, setting, None, Options())]
    assert figures == with_means(EXPERIMENT, sorted(here))
    assert list(steps.seconds) == ["measure 18 workloads"]
