"""Experiments of paper 000 measured anew (figures 4 to 8): seeded settings, each run as a row of a Spark task.

Weights are divided by the mean over all pairs of nodes, as the paper does. Times are of algorithms on arrays, each
after a run on a small part that loads the compiled kernels; tasks side by side share the machine, so only ratios of
times that come from the same task say something.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from overlay_spark.algorithms.registry import find
from overlay_spark.costs import cost_row, point_costs
from overlay_spark.instance import Instance, Links
from overlay_spark.jobs.figures import Figure
from overlay_spark.jobs.kernel_run import part_of
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests, subscriptions
from overlay_spark.workloads.latencies import MeasuredPoints, random_points

EXPERIMENT = "000"
LAWS = ("unif", "zipf", "expo")
SHORT = {
    "GrMAW": "Gr",
    "PdMAW": "Pd",
    "TrMAW": "Tr",
    "PdrdMAW": "Pdrd",
    "GM": "GM",
}
"""The papers' names of algorithms, and how figures call them."""
UNIT, SIDE = 1e-3, 200.0
HALF_RANGE = 40
"""Interests reach from their middle size this much down and up: 20 to 100 topics around 60."""


@dataclass(frozen=True)
class Plan:
    """One figure: what varies, who is compared, and its panels of metrics."""

    label: str
    algorithms: tuple[str, ...]
    laws: tuple[str, ...]
    panels: tuple[tuple[str, tuple[str, ...]], ...]
    values: tuple[int, ...]
    quick_values: tuple[int, ...]
    nodes: int | None = None
    """How many nodes, where they are not what varies."""
    with_diameters: bool = False


_COMPARED = (
    ("average weighted degree", ("w_Gr", "w_Pd", "w_Tr", "w_sum of trees")),
    ("weights compared", ("w_Tr/w_Gr", "w_sum of trees/w_Gr", "w_Pd/w_Gr")),
    ("weights apart", ("w_Pd - w_Gr", "w_Tr - w_Gr")),
    ("time", ("T_Gr/T_Pd", "T_Pd/T_Gr", "T_Tr/T_Gr")),
)
_UP_TO_1000 = tuple(range(100, 1001, 100))
_SIMPLE = ("GrMAW", "PdMAW", "TrMAW")

PLANS = {
    "4": Plan("nodes", _SIMPLE, LAWS, _COMPARED, _UP_TO_1000, (100, 500, 1000)),
    "5": Plan("topics", _SIMPLE, LAWS, _COMPARED, _UP_TO_1000, (100, 1000), nodes=800),
    "6": Plan("middle size of interests", _SIMPLE, LAWS, _COMPARED, (50, 75, 100, 125, 150), (50, 150), nodes=800),
    "7": Plan(
        "nodes",
        ("PdMAW", "PdrdMAW"),
        ("zipf",),
        (
            ("average weighted degree", ("w_Pd", "w_Pdrd", "w_Pd - w_Pdrd")),
            ("average degree", ("d_Pd", "d_Pdrd", "d_Pd - d_Pdrd")),
            ("time", ("T_Pdrd/T_Pd",)),
        ),
        _UP_TO_1000,
        (100, 1000),
    ),
    "8": Plan(
        "nodes",
        ("GrMAW", "GM"),
        ("unif",),
        (
            ("average weighted degree", ("w_Gr", "w_GM", "w_GM - w_Gr")),
            ("compared", ("w_Gr/w_GM", "T_Gr/T_GM")),
            ("weighted diameter", ("wdiam_Gr", "wdiam_GM", "wdiam_GM - wdiam_Gr")),
            ("diameter and degree apart", ("diam_Gr - diam_GM", "d_Gr - d_GM")),
        ),
        _UP_TO_1000,
        (100, 1000),
        with_diameters=True,
    ),
}

ALL_LAWS = "all"
PAPER: dict[tuple[str, str, str, int | None], float] = {
    ("4", ALL_LAWS, "w_Tr/w_Gr", None): 7.28,
    ("4", ALL_LAWS, "w_sum of trees/w_Gr", None): 7.28,
    ("4", ALL_LAWS, "w_Pd - w_Gr", None): 3.35,
    ("4", "unif", "w_Tr", 1000): 224,
    ("4", "unif", "w_Gr", 1000): 18.76,
    ("4", "unif", "T_Pd/T_Gr", 1000): 60.7,
    ("4", "unif", "T_Gr/T_Pd", None): 0.157,
    ("4", "zipf", "T_Gr/T_Pd", None): 0.266,
    ("4", "expo", "T_Gr/T_Pd", None): 0.282,
    ("5", "unif", "w_Tr - w_Gr", None): 221,
    ("5", "unif", "T_Gr/T_Pd", None): 0.195,
    ("5", "zipf", "T_Gr/T_Pd", None): 0.096,
    ("5", "expo", "T_Gr/T_Pd", None): 0.045,
    ("6", "unif", "T_Gr/T_Pd", None): 0.030,
    ("6", "zipf", "T_Gr/T_Pd", None): 0.046,
    ("6", "expo", "T_Gr/T_Pd", None): 0.064,
    ("7", "zipf", "w_Pd - w_Pdrd", None): 5.10,
    ("7", "zipf", "d_Pd - d_Pdrd", None): 3.87,
    ("7", "zipf", "T_Pdrd/T_Pd", None): 50,
    ("8", "unif", "w_Gr/w_GM", None): 0.4,
    ("8", "unif", "w_GM - w_Gr", None): 30,
    ("8", "unif", "wdiam_GM - wdiam_Gr", 1000): 124,
    ("8", "unif", "d_Gr - d_GM", None): 4,
    ("8", "unif", "diam_Gr - diam_GM", None): 2.7,
    ("8", "unif", "T_Gr/T_GM", None): 0.7,
}
"""What the text of the paper states: by figure, law and metric, on average (x is None) or at one x.

Its TrMAW costs as much as if each topic's tree were paid for separately, so its figure stands beside both. Its
weights have a scale it does not tell: compare quotients; differences and absolute weights only by their sign.
"""

Row = tuple[str, str, float, int, str, float]
"""(figure, law, x, seed, metric, value)."""


@dataclass(frozen=True)
class Setting:
    """One workload of one figure."""

    figure: str
    law: str
    x: int
    seed: int

    @property
    def interests(self) -> Interests:
        topics = self.x if self.figure == "5" else 200
        middle = self.x if self.figure == "6" else 60
        return Interests(topics=topics, least=middle - HALF_RANGE, most=middle + HALF_RANGE, law=self.law)

    @property
    def nodes(self) -> int:
        return PLANS[self.figure].nodes or self.x


def settings(quick: bool, seeds: int) -> list[Setting]:
    """All settings; a quick run has fewer values and one seed."""
    return [
        Setting(figure, law, x, seed)
        for figure, plan in PLANS.items()
        for law in plan.laws
        for x in (plan.quick_values if quick else plan.values)
        for seed in range(1 if quick else seeds)
    ]


def run_experiment(
    spark: SparkSession,
    chosen: Sequence[Setting],
    points: MeasuredPoints | None,
    options: Options,
    say: Callable[[str], None],
) -> list[Figure]:
    """Measure all settings in tasks; then the means the paper's text speaks of, with its figures beside ours."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for given in batch.to_pylist():
                rows = measure(Setting(**given), points, options)
                yield pa.RecordBatch.from_arrays([pa.array(c) for c in zip(*rows, strict=True)], list(_ROW))

    largest_first = sorted(chosen, key=lambda s: -s.nodes)
    columns = {name: [getattr(s, name) for s in largest_first] for name in ("figure", "law", "x", "seed")}
    given = spark.createDataFrame(pa.table(columns)).repartition(len(chosen))
    say(f"{len(chosen)} workloads")
    ddl = ", ".join(f"{name} {type}" for name, type in _ROW.items())
    rows = [tuple(row) for row in given.mapInArrow(work, ddl).collect()]  # some forty figures a workload
    return with_means(sorted(rows))


_ROW = {"figure": "string", "law": "string", "x": "double", "seed": "bigint", "metric": "string", "value": "double"}


def measure(setting: Setting, points: MeasuredPoints | None, options: Options) -> list[Row]:
    """All metrics of one setting."""
    instance, mean_cost = make_instance(setting, points)
    found: dict[str, float] = {}
    for paper_name in PLANS[setting.figure].algorithms:
        algorithm, short = find(paper_name), SHORT[paper_name]
        algorithm(part_of(instance, 20), options)
        started = time.perf_counter()
        links = algorithm(instance, options)
        found[f"T_{short}"] = time.perf_counter() - started
        found[f"w_{short}"] = 2 * links.total_cost / mean_cost / instance.n_nodes
        found[f"d_{short}"] = 2 * len(links) / instance.n_nodes
        if links.sum_of_trees is not None:
            found["w_sum of trees"] = 2 * links.sum_of_trees / mean_cost / instance.n_nodes
        if PLANS[setting.figure].with_diameters:
            found.update(_diameters(instance, links, short, mean_cost))
    for _, metrics in PLANS[setting.figure].panels:
        for metric in metrics:
            if metric not in found:
                found[metric] = _combined(metric, found)
    where = (setting.figure, setting.law, float(setting.x), setting.seed)
    return [(*where, metric, float(value)) for metric, value in found.items()]


def _combined(metric: str, found: dict[str, float]) -> float:
    """A quotient ``a/b`` or a difference ``a - b`` of two metrics."""
    if " - " in metric:
        a, b = metric.split(" - ")
        return found[a] - found[b]
    a, b = metric.split("/")
    return found[a] / found[b]


def make_instance(setting: Setting, points: MeasuredPoints | None) -> tuple[Instance, float]:
    """The arrays of a setting, and the mean cost over all pairs."""
    nodes = np.arange(setting.nodes)
    who, what = subscriptions(setting.interests, nodes, setting.seed)
    if points is None:
        places, heights = random_points(nodes, 2, SIDE, setting.seed), np.zeros(len(nodes))
    else:
        places, heights = points.place(nodes, setting.seed)
    costs = point_costs(places, heights, UNIT)
    total = sum(int(cost_row(costs, int(u))[u + 1 :].sum()) for u in nodes)
    pairs = len(nodes) * (len(nodes) - 1) // 2
    return Instance.from_pairs(len(nodes), setting.interests.topics, who, what, costs), total / pairs


def _diameters(instance: Instance, links: Links, short: str, mean_cost: float) -> dict[str, float]:
    shapes = instance.topic_shapes(links)
    wanted = shapes[shapes[:, 0] > 0]
    return {f"diam_{short}": wanted[:, 3].mean(), f"wdiam_{short}": wanted[:, 4].mean() / mean_cost}


def with_means(rows: Sequence[Row]) -> list[Figure]:
    """Rows for the table ``experiments``: each with the paper's value at its x, then means over x and seeds."""
    figures: list[Figure] = [
        (EXPERIMENT, figure, law, x, seed, metric, value, PAPER.get((figure, law, metric, int(x))))
        for figure, law, x, seed, metric, value in rows
    ]
    by_law: dict[tuple[str, str, str], list[float]] = {}
    for figure, law, _, _, metric, value in rows:
        for series in (law, ALL_LAWS) if len(PLANS[figure].laws) > 1 else (law,):
            by_law.setdefault((figure, series, metric), []).append(value)
    for (figure, series, metric), values in sorted(by_law.items()):
        stated = PAPER.get((figure, series, metric, None))
        figures.append((EXPERIMENT, figure, series, None, -1, f"mean {metric}", mean(values), stated))
    return figures


def beside_the_paper(figures: Sequence[Figure]) -> list[tuple[str, str, str, float, float]]:
    """(figure, law, what, ours, the paper's) wherever the paper states a figure; over seeds, ours is the mean."""
    told: dict[tuple[str, str, str, float], list[float]] = {}
    for _, figure, law, x, _, metric, value, stated in figures:
        if stated is not None:
            at = "" if x is None else f" at {x:g}"
            told.setdefault((figure, law, metric + at, stated), []).append(value)
    return [(figure, law, what, mean(values), stated) for (figure, law, what, stated), values in sorted(told.items())]
