import pytest

from overlay_spark.lab.experiments.shared import LEAST_STEP, MEAN, MOST, Experiment, Panel, Plan
from overlay_spark.lab.plots import _draw_panel, draw

EXPERIMENT = Experiment(
    paper="999",
    plans={
        name: Plan(
            label="nodes",
            series=("a", "b"),
            panels=(Panel(title="time", metrics=("m", "n"), log=True),),
            values=(1.0, 2.0),
            quick_values=(1.0,),
        )
        for name in ("1", "2")
    },
    stated={
        ("1", "all", "m", MEAN): 3.0,
        ("1", "b", "n", 2.0): 4.0,
        ("1", "b", "n", MOST): 5.0,
        ("1", "a", "n", LEAST_STEP): 0.0,
        ("1", "a", "m", MOST): None,
    },
    measure=lambda *_: {},
    size=lambda setting: setting.x,
)


@pytest.mark.parametrize(
    "series, expected",
    [("a", ["m", "paper: 3", "n"]), ("b", ["m", "paper: 3", "n", "paper: 4", "paper: at most 5"])],
)
def test_draw__shows_what_the_paper_states_of_levels(series, expected):
    figure = pytest.importorskip("matplotlib.figure")
    axis = figure.Figure().subplots()
    curves = {("1", series, metric): {1.0: {0: 2.0}, 2.0: {0: 3.0, 1: 4.0}} for metric in "mn"}
    _draw_panel(axis, EXPERIMENT, "1", series, EXPERIMENT.plans["1"].panels[0], curves)
    assert axis.get_legend_handles_labels()[1] == expected


def test_draw__sets_a_dot_for_each_x_and_seed_against_another_metric():
    figure = pytest.importorskip("matplotlib.figure")
    axis = figure.Figure().subplots()
    curves = {
        ("1", "b", "m"): {1.0: {0: 10.0, 1: 20.0}, 2.0: {0: 30.0}, 3.0: {1: 40.0}},
        ("1", "b", "n"): {1.0: {1: 5.0}, 2.0: {0: 6.0}},
    }
    panel = Panel(title="n against m; nobody measured o", metrics=("n", "o"), against="m")
    _draw_panel(axis, EXPERIMENT, "1", "b", panel, curves)
    (dots,) = axis.collections
    assert sorted(map(tuple, dots.get_offsets().tolist())) == [(20.0, 5.0), (30.0, 6.0)]
    assert axis.get_legend_handles_labels()[1] == ["n", "paper: 4", "paper: at most 5"]


def test_draw__makes_a_picture_of_each_figure_measured(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        ("999", "1", series, x, seed, metric, 1.0 + x + seed, None)
        for series in "ab"
        for x in (1.0, 2.0)
        for seed in (0, 1)
        for metric in "mn"
    ]
    mean = ("999", "2", "a", None, -1, "mean m", 2.0, None)
    (drawn,) = draw(EXPERIMENT, [*rows, mean], tmp_path / "plots")
    assert drawn == tmp_path / "plots" / "999-figure-1.png"
    assert drawn.stat().st_size > 10_000
