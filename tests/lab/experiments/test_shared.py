"""What experiments share: settings, metrics that combine others, means, and tasks."""

from __future__ import annotations

import io

import pytest

from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.experiments.shared import (
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
    stated={("1", "s", "a/b", None): 0.7, ("1", "all", "a", None): 5.0, ("2", "s", "a - b", 3.0): 1.5},
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


def test_combined__is_a_quotient_or_a_difference():
    assert combined("a/b", {"a": 3.0, "b": 2.0}) == 1.5
    assert combined("a - b", {"a": 3.0, "b": 2.0}) == 1.0


def test_rows__have_what_was_measured_and_what_panels_make_of_it():
    assert rows_of(EXPERIMENT, Setting("2", "s", 3.0, 1), None, Options()) == [
        ("2", "s", 3.0, 1, "a", 3.0),
        ("2", "s", 3.0, 1, "b", 3.0),
        ("2", "s", 3.0, 1, "a/b", 1.0),
        ("2", "s", 3.0, 1, "a - b", 0.0),
    ]


def test_means__stand_beside_what_the_paper_states():
    rows = [("1", s, x, 0, "a/b", value) for s, x, value in [("s", 1.0, 0.2), ("s", 2.0, 0.4), ("t", 1.0, 0.9)]]
    rows += [("1", "s", 1.0, 0, "a", 4.0), ("1", "t", 1.0, 0, "a", 8.0)]
    rows += [("2", "s", 3.0, seed, "a - b", value) for seed, value in [(0, 1.0), (1, 2.0)]]
    figures = with_means(EXPERIMENT, rows)
    assert figures[0] == ("999", "1", "s", 1.0, 0, "a/b", 0.2, None)
    assert ("999", "1", "t", None, -1, "mean a/b", 0.9, None) in figures
    assert not any(row[2] == "all" for row in figures if row[1] == "2")
    assert beside_the_paper(figures) == [
        ("1", "all", "mean a", 6.0, 5.0),
        ("1", "s", "mean a/b", pytest.approx(0.3), 0.7),
        ("2", "s", "a - b at 3", 1.5, 1.5),
    ]


@pytest.mark.spark
def test_run_experiment__measures_every_setting_in_tasks(spark):
    chosen, steps = EXPERIMENT.settings(quick=False, seeds=2), Steps(io.StringIO())
    figures = run_experiment(spark, EXPERIMENT, chosen, None, Options(), steps)
    here = [row for setting in chosen for row in rows_of(EXPERIMENT, setting, None, Options())]
    assert figures == with_means(EXPERIMENT, sorted(here))
    assert list(steps.seconds) == ["measure 18 workloads"]
