"""What all experiments share: what one is, how it is run in tasks, and how its figures stand beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from statistics import mean

import pyarrow as pa
from pyspark.sql import SparkSession

from overlay_spark.errors import OptionError
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.figures import Figure
from overlay_spark.options import Options
from overlay_spark.options.checks import nearest
from overlay_spark.workloads.latencies import MeasuredPoints

ALL = "all"
"""The series of means over all series of a figure."""


@dataclass(frozen=True)
class Aspect:
    """What a paper's statement says of a whole curve: its mean, a bound on its values or its steps, or such."""

    name: str
    of: Callable[[Sequence[float]], float]
    bound: str = ""
    of_steps: bool = False
    """Whether it is about what is added from one x to the next."""
    is_level: bool = True
    """Whether it can be drawn beside the curve."""

    def called(self, metric: str) -> str:
        """The name of this aspect of a metric."""
        return f"{self.name} {metric}"

    def over(self, curves: Iterable[Sequence[float]]) -> float:
        """The aspect of one curve, or of several taken together."""
        parts = [[b - a for a, b in pairwise(curve)] if self.of_steps else curve for curve in curves]
        return self.of(list(chain.from_iterable(parts)))


MEAN = Aspect("mean", mean)
MEAN_AT_MOST = Aspect("mean", mean, "at most")
MOST = Aspect("most", max, "at most")
LEAST = Aspect("least", min, "at least")
MOST_STEP = Aspect("most step of", max, "at most", of_steps=True, is_level=False)
LEAST_STEP = Aspect("least step of", min, "at least", of_steps=True, is_level=False)

Stated = Mapping[tuple[str, str, str, float | Aspect], float | None]
"""(figure, series, metric, x) -> what the paper states at this x, or of an aspect of the curve over all x; None where
it states nothing, and ours is told alone."""

Curve = Mapping[float, float]
"""x -> value."""

Row = tuple[str, str, float, int, str, float]
"""(figure, series, x, seed, metric, value)."""

_ROW = {"figure": "string", "series": "string", "x": "double", "seed": "bigint", "metric": "string", "value": "double"}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Metrics drawn together. ``a/b`` and ``a - b`` are made of two that were measured, unless they were themselves."""

    title: str
    metrics: tuple[str, ...]
    log: bool = False
    against: str = ""
    """Another metric that they are drawn against, a dot for each x of each workload; x says only which belong
    together."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One figure: what varies (``label`` names it), the series it is measured for, and its panels.

    Each of ``values`` is a workload's x; of one that gives curves, how far they go.
    """

    label: str
    series: tuple[str, ...]
    panels: tuple[Panel, ...]
    values: tuple[float, ...]
    quick_values: tuple[float, ...]
    measured_with: str = ""
    """The figure whose workloads give this one too, where it has none of its own."""

    @property
    def metrics(self) -> list[str]:
        shown = [metric for panel in self.panels for metric in (panel.against, *panel.metrics)]
        return [metric for metric in dict.fromkeys(shown) if metric]

    @property
    def dots(self) -> set[str]:
        """Metrics whose values at one x of different workloads have nothing to do with each other."""
        return {metric for panel in self.panels if panel.against for metric in (panel.against, *panel.metrics)}


@dataclass(frozen=True)
class Setting:
    """One workload of one figure."""

    figure: str
    series: str
    x: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A paper's experiment: its figures, what its text states, and how one workload is measured.

    What is measured is a figure at the x of the workload, or a whole curve. ``size`` says how large a workload is: the
    largest are measured first.
    """

    paper: str
    plans: Mapping[str, Plan]
    stated: Stated
    measure: Callable[[Setting, MeasuredPoints | None, Options], Mapping[str, float | Curve]]
    size: Callable[[Setting], float]

    def settings(self, quick: bool, seeds: int, figures: Sequence[str] = ()) -> list[Setting]:
        """All settings of these figures (none named: of all), and with them of those measured together; a quick run has
        fewer or smaller values and one seed."""
        for figure in figures:
            if figure not in self.plans:
                raise OptionError(f"Paper {self.paper} has no figure {figure!r} here.{nearest(figure, self.plans)}")
        asked = {self.plans[figure].measured_with or figure for figure in figures or self.plans}
        return [
            Setting(figure, series, float(x), seed)
            for figure, plan in self.plans.items()
            if figure in asked
            for series in plan.series
            for x in (plan.quick_values if quick else plan.values)
            for seed in range(1 if quick else seeds)
        ]


def run_experiment(
    spark: SparkSession,
    experiment: Experiment,
    chosen: Sequence[Setting],
    points: MeasuredPoints | None,
    options: Options,
    steps: Steps,
) -> list[Figure]:
    """Measure all settings, each a row of a Spark task; then the means the paper's text speaks of.

    Tasks side by side share the machine, so only quotients of times from the same setting say something.
    """

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for given in batch.to_pylist():
                rows = rows_of(experiment, Setting(**given), points, options)
                yield pa.RecordBatch.from_arrays([pa.array(c) for c in zip(*rows, strict=True)], list(_ROW))

    steps(f"measure {len(chosen)} workloads")
    largest_first = sorted(chosen, key=lambda setting: -experiment.size(setting))
    given = spark.createDataFrame(pa.Table.from_pylist([asdict(s) for s in largest_first])).repartition(len(chosen))
    ddl = ", ".join(f"{name} {type}" for name, type in _ROW.items())
    rows = [tuple(row) for row in given.mapInArrow(work, ddl).collect()]  # some forty figures a workload, or curves
    steps.done()
    return with_means(experiment, sorted(rows))


def rows_of(experiment: Experiment, setting: Setting, points: MeasuredPoints | None, options: Options) -> list[Row]:
    """All metrics of one setting, combined ones too; of figures that are measured together each has those it shows."""
    measured = experiment.measure(setting, points, options)
    found = {name: value if isinstance(value, Mapping) else {setting.x: value} for name, value in measured.items()}
    together = {f: plan for f, plan in experiment.plans.items() if setting.figure in (f, plan.measured_with)}
    rows: list[Row] = []
    for figure, plan in together.items():
        for metric in dict.fromkeys([*(found if len(together) == 1 else ()), *plan.metrics]):
            curve = found[metric] if metric in found else combined(metric, found)
            rows += [(figure, setting.series, float(x), setting.seed, metric, float(y)) for x, y in curve.items()]
    return rows


def combined(metric: str, found: Mapping[str, Curve]) -> Curve:
    """A quotient ``a/b`` or a difference ``a - b`` of two metrics, wherever both were measured."""
    a, b = (found[part] for part in metric.split(" - " if " - " in metric else "/"))
    return {x: a[x] - b[x] if " - " in metric else a[x] / b[x] for x in a if x in b}


def with_means(experiment: Experiment, rows: Sequence[Row]) -> list[Figure]:
    """Rows for the table ``experiments``: each with the paper's value at its x, then means and what else is stated of
    curves; a point of a curve is the mean over seeds."""
    paper, stated = experiment.paper, experiment.stated
    figures: list[Figure] = [
        (paper, figure, series, x, seed, metric, value, stated.get((figure, series, metric, x)))
        for figure, series, x, seed, metric, value in rows
    ]
    for (figure, series, metric), curves in sorted(_curves(experiment, rows).items()):
        told = [at for *what, at in stated if what == [figure, series, metric] and isinstance(at, Aspect)]
        for aspect in {aspect.name: aspect for aspect in (MEAN, *told)}.values():
            of_paper = stated.get((figure, series, metric, aspect))
            figures.append((paper, figure, series, None, -1, aspect.called(metric), aspect.over(curves), of_paper))
    return figures


def _curves(experiment: Experiment, rows: Sequence[Row]) -> dict[tuple[str, str, str], list[list[float]]]:
    """(figure, series, metric) -> its curve; for ALL series, where there are several, the curves of each."""
    points: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    for figure, series, x, _, metric, value in sorted(rows):
        points.setdefault((figure, series, metric), {}).setdefault(x, []).append(value)
    curves: dict[tuple[str, str, str], list[list[float]]] = {}
    for (figure, series, metric), by_x in points.items():
        plan = experiment.plans[figure]
        over_seeds = [values if metric in plan.dots else [mean(values)] for values in by_x.values()]
        for name in (series, ALL) if len(plan.series) > 1 else (series,):
            curves.setdefault((figure, name, metric), []).append([*chain.from_iterable(over_seeds)])
    return curves


def beside_the_paper(experiment: Experiment, figures: Sequence[Figure]) -> list[tuple[str, str, str, float, str]]:
    """(figure, series, what, ours, the paper's) wherever the paper states a figure or ours is told alone; over seeds,
    ours is the mean."""
    found: dict[tuple[str, str, str, float | None], list[float]] = {}
    for _, figure, series, x, _, metric, value, _ in figures:
        found.setdefault((figure, series, metric, x), []).append(value)
    told = []
    for (figure, series, metric, at), stated in experiment.stated.items():
        what, x, bound = (at.called(metric), None, at.bound) if isinstance(at, Aspect) else (metric, at, "")
        if ours := found.get((figure, series, what, x)):
            called = what if x is None else f"{what} at {x:g}"
            told.append((figure, series, called, mean(ours), "-" if stated is None else f"{bound} {stated:g}".lstrip()))
    return told
