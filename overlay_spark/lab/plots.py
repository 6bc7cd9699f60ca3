"""Figures of an experiment as pictures; needs the extra ``report``."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from overlay_spark.errors import SetupError
from overlay_spark.lab.experiments.shared import ALL, Aspect, Experiment, Panel
from overlay_spark.lab.figures import Figure

Curves = Mapping[tuple[str, str, str], Mapping[float, Mapping[int, float]]]
"""(figure, series, metric) -> x -> seed -> value."""
FEW = 30
"""So many points of a line are marked."""


def require_matplotlib() -> None:
    """Refuse before anything is measured what could not be drawn afterwards."""
    if importlib.util.find_spec("matplotlib") is None:
        raise SetupError("Pictures need matplotlib. Run: pip install 'overlay-spark[report]'; or leave out --plots.")


def draw(experiment: Experiment, figures: Sequence[Figure], folder: Path) -> list[Path]:
    """One PNG a figure: a column for each series, a row for each panel; dashed is what the paper states on average,
    dotted what it gives as a bound."""
    import matplotlib

    matplotlib.use("Agg")
    curves = _curves(figures)
    folder.mkdir(parents=True, exist_ok=True)
    measured = {figure for figure, _, _ in curves}
    return [_draw(experiment, name, curves, folder) for name in experiment.plans if name in measured]


def _curves(figures: Sequence[Figure]) -> Curves:
    curves: dict[tuple[str, str, str], dict[float, dict[int, float]]] = {}
    for _, figure, series, x, seed, metric, value, _ in figures:
        if x is not None:
            curves.setdefault((figure, series, metric), {}).setdefault(x, {})[seed] = value
    return curves


def _draw(experiment: Experiment, name: str, curves: Curves, folder: Path) -> Path:
    from matplotlib.figure import Figure as Canvas

    plan = experiment.plans[name]
    canvas = Canvas(figsize=(5.4 * len(plan.series), 2.8 * len(plan.panels)), layout="constrained")
    axes = canvas.subplots(len(plan.panels), len(plan.series), squeeze=False)
    for row, panel in zip(axes, plan.panels, strict=True):
        for axis, series in zip(row, plan.series, strict=True):
            _draw_panel(axis, experiment, name, series, panel, curves)
            axis.set_title(f"{panel.title}, {series}", fontsize=9)
            axis.set_xlabel(panel.against or plan.label, fontsize=8)
            axis.tick_params(labelsize=8)
            axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), markerscale=1.5)
    canvas.suptitle(f"Paper {experiment.paper}, figure {name}, measured anew", fontsize=10)
    path = folder / f"{experiment.paper}-figure-{name}.png"
    canvas.savefig(path, dpi=110)
    return path


def _draw_panel(axis: Any, experiment: Experiment, name: str, series: str, panel: Panel, curves: Curves) -> None:
    """Each metric, and what the paper states of it."""
    for i, metric in enumerate(panel.metrics):
        points, colour = curves.get((name, series, metric), {}), f"C{i}"
        if not points:
            continue  # in a short run nobody left, or nobody joined
        if panel.against:
            _draw_dots(axis, curves[name, series, panel.against], points, colour, metric)
        else:
            _draw_line(axis, points, colour, metric)
        for (figure, of_series, of_metric, at), value in experiment.stated.items():
            if (figure, of_metric) != (name, metric) or of_series not in (series, ALL) or value is None:
                continue
            if not isinstance(at, Aspect):
                axis.plot([at], [value], marker="x", color=colour, linestyle="", label=f"paper: {value:g}")
            elif at.is_level:
                label = " ".join(filter(None, ("paper:", at.bound, f"{value:g}")))
                axis.axhline(value, color=colour, linestyle=":" if at.bound else "--", linewidth=1, label=label)
    if panel.log:
        axis.set_yscale("log")


def _draw_line(axis: Any, points: Mapping[float, Mapping[int, float]], colour: str, label: str) -> None:
    """The mean over seeds, and their range."""
    xs = sorted(points)
    each = [[*points[x].values()] for x in xs]
    marker = "o" if len(xs) <= FEW else ""
    axis.plot(xs, [mean(values) for values in each], marker=marker, markersize=3, color=colour, label=label)
    axis.fill_between(xs, [*map(min, each)], [*map(max, each)], color=colour, alpha=0.2)


def _draw_dots(
    axis: Any,
    across: Mapping[float, Mapping[int, float]],
    points: Mapping[float, Mapping[int, float]],
    colour: str,
    label: str,
) -> None:
    """A dot for each x and seed that both metrics have."""
    both = [(across[x][seed], y) for x, by_seed in points.items() for seed, y in by_seed.items()]
    axis.scatter(*zip(*both, strict=True), s=6, linewidth=0, alpha=0.5, color=colour, label=label)
