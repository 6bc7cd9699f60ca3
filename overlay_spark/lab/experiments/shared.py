"""What all experiments share: what one is, how it is run in tasks, and how its figures stand beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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

Stated = Mapping[tuple[str, str, str, float | None], float]
"""(figure, series, metric, x) -> what the paper states; x is None where it states a mean."""

Row = tuple[str, str, float, int, str, float]
"""(figure, series, x, seed, metric, value)."""

_ROW = {"figure": "string", "series": "string", "x": "double", "seed": "bigint", "metric": "string", "value": "double"}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Metrics drawn together. ``a/b`` and ``a - b`` are made of two that were measured."""

    title: str
    metrics: tuple[str, ...]
    log: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One figure: what varies (``label`` names it), the series it is measured for, and its panels."""

    label: str
    series: tuple[str, ...]
    panels: tuple[Panel, ...]
    values: tuple[float, ...]
    quick_values: tuple[float, ...]

    @property
    def metrics(self) -> list[str]:
        return [metric for panel in self.panels for metric in panel.metrics]


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

    ``size`` says how large a workload is: the largest are measured first.
    """

    paper: str
    plans: Mapping[str, Plan]
    stated: Stated
    measure: Callable[[Setting, MeasuredPoints | None, Options], Mapping[str, float]]
    size: Callable[[Setting], float]

    def settings(self, quick: bool, seeds: int, figures: Sequence[str] = ()) -> list[Setting]:
        """All settings of these figures (none named: of all); a quick run has fewer values and one seed."""
        for figure in figures:
            if figure not in self.plans:
                raise OptionError(f"Paper {self.paper} has no figure {figure!r} here.{nearest(figure, self.plans)}")
        return [
            Setting(figure, series, float(x), seed)
            for figure, plan in self.plans.items()
            if not figures or figure in figures
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
    rows = [tuple(row) for row in given.mapInArrow(work, ddl).collect()]  # some forty figures a workload
    steps.done()
    return with_means(experiment, sorted(rows))


def rows_of(experiment: Experiment, setting: Setting, points: MeasuredPoints | None, options: Options) -> list[Row]:
    """All metrics of one setting, combined ones too."""
    found = dict(experiment.measure(setting, points, options))
    for metric in experiment.plans[setting.figure].metrics:
        if metric not in found:
            found[metric] = combined(metric, found)
    where = (setting.figure, setting.series, float(setting.x), setting.seed)
    return [(*where, metric, float(value)) for metric, value in found.items()]


def combined(metric: str, found: Mapping[str, float]) -> float:
    """A quotient ``a/b`` or a difference ``a - b`` of two metrics."""
    if " - " in metric:
        a, b = metric.split(" - ")
        return found[a] - found[b]
    a, b = metric.split("/")
    return found[a] / found[b]


def with_means(experiment: Experiment, rows: Sequence[Row]) -> list[Figure]:
    """Rows for the table ``experiments``: each with the paper's value at its x, then means over x and seeds."""
    paper, stated = experiment.paper, experiment.stated
    figures: list[Figure] = [
        (paper, figure, series, x, seed, metric, value, stated.get((figure, series, metric, x)))
        for figure, series, x, seed, metric, value in rows
    ]
    together: dict[tuple[str, str, str], list[float]] = {}
    for figure, series, _, _, metric, value in rows:
        for name in (series, ALL) if len(experiment.plans[figure].series) > 1 else (series,):
            together.setdefault((figure, name, metric), []).append(value)
    for (figure, series, metric), values in sorted(together.items()):
        of_paper = stated.get((figure, series, metric, None))
        figures.append((paper, figure, series, None, -1, f"mean {metric}", mean(values), of_paper))
    return figures


def beside_the_paper(figures: Sequence[Figure]) -> list[tuple[str, str, str, float, float]]:
    """(figure, series, what, ours, the paper's) wherever the paper states a figure; over seeds, ours is the mean."""
    told: dict[tuple[str, str, str, float], list[float]] = {}
    for _, figure, series, x, _, metric, value, stated in figures:
        if stated is not None:
            at = "" if x is None else f" at {x:g}"
            told.setdefault((figure, series, metric + at, stated), []).append(value)
    return [
        (figure, series, what, mean(values), stated) for (figure, series, what, stated), values in sorted(told.items())
    ]
