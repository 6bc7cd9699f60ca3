"""Figures of an experiment as pictures; needs the extra ``report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from overlay_spark.errors import SetupError
from overlay_spark.jobs.experiments import ALL_LAWS, PAPER, PLANS, Plan
from overlay_spark.jobs.figures import Figure

Curves = Mapping[tuple[str, str, str], Mapping[float, Sequence[float]]]
"""(figure, law, metric) -> x -> values, one a seed."""


def require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise SetupError(
            "Pictures need matplotlib. Run: pip install 'overlay-spark[report]'; or leave out --plots."
        ) from error


def draw(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """One PNG a figure: a column for each law, a row for each panel; dashed is what the paper states."""
    import matplotlib

    matplotlib.use("Agg")
    curves = _curves(figures)
    folder.mkdir(parents=True, exist_ok=True)
    return [_draw(name, plan, curves, folder) for name, plan in PLANS.items() if any(key[0] == name for key in curves)]


def _curves(figures: Sequence[Figure]) -> Curves:
    curves: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    for _, figure, law, x, _, metric, value, _ in figures:
        if x is not None:
            curves.setdefault((figure, law, metric), {}).setdefault(x, []).append(value)
    return curves


def _draw(name: str, plan: Plan, curves: Curves, folder: Path) -> Path:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(4.2 * len(plan.laws), 2.8 * len(plan.panels)), layout="constrained")
    axes = canvas.subplots(len(plan.panels), len(plan.laws), squeeze=False)
    for row, (title, metrics) in zip(axes, plan.panels, strict=True):
        for axis, law in zip(row, plan.laws, strict=True):
            for i, metric in enumerate(metrics):
                points = curves[name, law, metric]
                xs = sorted(points)
                axis.plot(xs, [mean(points[x]) for x in xs], marker="o", markersize=3, color=f"C{i}", label=metric)
                axis.fill_between(
                    xs, [min(points[x]) for x in xs], [max(points[x]) for x in xs], color=f"C{i}", alpha=0.2
                )
                stated = PAPER.get((name, law, metric, None), PAPER.get((name, ALL_LAWS, metric, None)))
                if stated is not None:
                    axis.axhline(stated, color=f"C{i}", linestyle="--", linewidth=1, label=f"paper: {stated:g}")
                for (figure, of_law, of_metric, x), value in PAPER.items():
                    if (figure, of_law, of_metric) == (name, law, metric) and x is not None:
                        axis.plot([x], [value], marker="x", color=f"C{i}", linestyle="", label=f"paper: {value:g}")
            if title == "time":
                axis.set_yscale("log")
            axis.set_title(f"{title}, {law}", fontsize=9)
            axis.set_xlabel(plan.label, fontsize=8)
            axis.tick_params(labelsize=8)
            axis.legend(fontsize=7)
    canvas.suptitle(f"Paper 000, figure {name}, measured anew", fontsize=10)
    path = folder / f"000-figure-{name}.png"
    canvas.savefig(path, dpi=110)
    return path
