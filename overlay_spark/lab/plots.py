"""Figures of an experiment as pictures; needs the extra ``report``."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from overlay_spark.errors import SetupError
from overlay_spark.lab.experiments.shared import ALL, Experiment, Panel
from overlay_spark.lab.figures import Figure

Curves = Mapping[tuple[str, str, str], Mapping[float, Sequence[float]]]
"""(figure, series, metric) -> x -> values, one a seed."""


def require_matplotlib() -> None:
    """Refuse before anything is measured what could not be drawn afterwards."""
    if importlib.util.find_spec("matplotlib") is None:
        raise SetupError("Pictures need matplotlib. Run: pip install 'overlay-spark[report]'; or leave out --plots.")


def draw(experiment: Experiment, figures: Sequence[Figure], folder: Path) -> list[Path]:
    """One PNG a figure: a column for each series, a row for each panel; dashed is what the paper states."""
    import matplotlib

    matplotlib.use("Agg")
    curves = _curves(figures)
    folder.mkdir(parents=True, exist_ok=True)
    measured = {figure for figure, _, _ in curves}
    return [_draw(experiment, name, curves, folder) for name in experiment.plans if name in measured]


def _curves(figures: Sequence[Figure]) -> Curves:
    curves: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    for _, figure, series, x, _, metric, value, _ in figures:
        if x is not None:
            curves.setdefault((figure, series, metric), {}).setdefault(x, []).append(value)
    return curves


def _draw(experiment: Experiment, name: str, curves: Curves, folder: Path) -> Path:
    from matplotlib.figure import Figure as Canvas

    plan = experiment.plans[name]
    canvas = Canvas(figsize=(4.2 * len(plan.series), 2.8 * len(plan.panels)), layout="constrained")
    axes = canvas.subplots(len(plan.panels), len(plan.series), squeeze=False)
    for row, panel in zip(axes, plan.panels, strict=True):
        for axis, series in zip(row, plan.series, strict=True):
            _draw_panel(axis, experiment, name, series, panel, curves)
            axis.set_title(f"{panel.title}, {series}", fontsize=9)
            axis.set_xlabel(plan.label, fontsize=8)
            axis.tick_params(labelsize=8)
            axis.legend(fontsize=7)
    canvas.suptitle(f"Paper {experiment.paper}, figure {name}, measured anew", fontsize=10)
    path = folder / f"{experiment.paper}-figure-{name}.png"
    canvas.savefig(path, dpi=110)
    return path


def _draw_panel(axis: Any, experiment: Experiment, name: str, series: str, panel: Panel, curves: Curves) -> None:
    """A line for each metric with the range over seeds, and what the paper states of it."""
    for i, metric in enumerate(panel.metrics):
        points, colour = curves[name, series, metric], f"C{i}"
        xs = sorted(points)
        axis.plot(xs, [mean(points[x]) for x in xs], marker="o", markersize=3, color=colour, label=metric)
        axis.fill_between(xs, [min(points[x]) for x in xs], [max(points[x]) for x in xs], color=colour, alpha=0.2)
        over_all = experiment.stated.get((name, ALL, metric, None))
        stated = experiment.stated.get((name, series, metric, None), over_all)
        if stated is not None:
            axis.axhline(stated, color=colour, linestyle="--", linewidth=1, label=f"paper: {stated:g}")
        for (figure, of_series, of_metric, x), value in experiment.stated.items():
            if (figure, of_series, of_metric) == (name, series, metric) and x is not None:
                axis.plot([x], [value], marker="x", color=colour, linestyle="", label=f"paper: {value:g}")
    if panel.log:
        axis.set_yscale("log")
