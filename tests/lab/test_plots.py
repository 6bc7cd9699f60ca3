import pytest

from overlay_spark.lab.experiments.shared import Experiment, Panel, Plan
from overlay_spark.lab.plots import draw

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
    stated={("1", "a", "m", None): 3.0, ("1", "b", "n", 2.0): 4.0},
    measure=lambda *_: {},
    size=lambda setting: setting.x,
)


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
