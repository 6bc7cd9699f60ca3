"""Paper 000, weighted overlays: figures 4 to 9.

Weights are divided by the mean over all pairs of nodes, as the paper does; those of figure 9, between clusters, are
taken as they are. Times are of algorithms on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from overlay_spark.algorithms.divide_conquer import divide_conquer
from overlay_spark.algorithms.registry import find
from overlay_spark.costs import SITES, cost_row, site_costs
from overlay_spark.instance import Instance, Links
from overlay_spark.lab.experiments.shared import ALL, MEAN, Experiment, Panel, Plan, Setting, Stated
from overlay_spark.lab.measure import make_instance, timed
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests
from overlay_spark.workloads.latencies import MeasuredPoints, random_sites

LAWS = ("unif", "zipf", "expo")
SHORT = {"GrMAW": "Gr", "PdMAW": "Pd", "TrMAW": "Tr", "PdrdMAW": "Pdrd", "GM": "GM", "DcMAW": "DC"}
"""The papers' names of algorithms, and how figures call them."""
DIVIDED = "DcMAW"
"""The algorithm that is given the clusters as parts."""
NODES_A_CLUSTER, INNER, OUTER = 100, 1, 10
"""Figure 9: about so many nodes a cluster, the weight of a link inside one and of a link between two."""
HALF_RANGE = 40
"""Interests reach from their middle size this much down and up: 20 to 100 topics around 60."""


@dataclass(frozen=True, kw_only=True)
class WeightedPlan(Plan):
    """A figure of this paper: its series are laws of popularity."""

    algorithms: tuple[str, ...]
    nodes: int | None = None
    """How many nodes, where they are not what varies."""
    with_diameters: bool = False
    in_clusters: bool = False
    """Whether nodes stand in clusters, within which links weigh little."""


_COMPARED = (
    Panel(title="average weighted degree", metrics=("w_Gr", "w_Pd", "w_Tr", "w_sum of trees")),
    Panel(title="weights compared", metrics=("w_Tr/w_Gr", "w_sum of trees/w_Gr", "w_Pd/w_Gr")),
    Panel(title="weights apart", metrics=("w_Pd - w_Gr", "w_Tr - w_Gr")),
    Panel(title="time", metrics=("T_Gr/T_Pd", "T_Pd/T_Gr", "T_Tr/T_Gr"), log=True),
)
_SIMPLE = ("GrMAW", "PdMAW", "TrMAW")
_UP_TO_1000 = tuple(range(100, 1001, 100))

PLANS = {
    "4": WeightedPlan(
        label="nodes",
        series=LAWS,
        algorithms=_SIMPLE,
        panels=_COMPARED,
        values=_UP_TO_1000,
        quick_values=(100, 500, 1000),
    ),
    "5": WeightedPlan(
        label="topics",
        series=LAWS,
        algorithms=_SIMPLE,
        panels=_COMPARED,
        values=_UP_TO_1000,
        quick_values=(100, 1000),
        nodes=800,
    ),
    "6": WeightedPlan(
        label="middle size of interests",
        series=LAWS,
        algorithms=_SIMPLE,
        panels=_COMPARED,
        values=(50, 75, 100, 125, 150),
        quick_values=(50, 150),
        nodes=800,
    ),
    "7": WeightedPlan(
        label="nodes",
        series=("zipf",),
        algorithms=("PdMAW", "PdrdMAW"),
        panels=(
            Panel(title="average weighted degree", metrics=("w_Pd", "w_Pdrd", "w_Pd - w_Pdrd")),
            Panel(title="average degree", metrics=("d_Pd", "d_Pdrd", "d_Pd - d_Pdrd")),
            Panel(title="time", metrics=("T_Pdrd/T_Pd",), log=True),
        ),
        values=_UP_TO_1000,
        quick_values=(100, 1000),
    ),
    "8": WeightedPlan(
        label="nodes",
        series=("unif",),
        algorithms=("GrMAW", "GM"),
        panels=(
            Panel(title="average weighted degree", metrics=("w_Gr", "w_GM", "w_GM - w_Gr")),
            Panel(title="compared", metrics=("w_Gr/w_GM", "T_Gr/T_GM")),
            Panel(title="weighted diameter", metrics=("wdiam_Gr", "wdiam_GM", "wdiam_GM - wdiam_Gr")),
            Panel(title="diameter and degree apart", metrics=("diam_Gr - diam_GM", "d_Gr - d_GM")),
        ),
        values=_UP_TO_1000,
        quick_values=(100, 1000),
        with_diameters=True,
    ),
    "9": WeightedPlan(
        label="nodes",
        series=("unif",),
        algorithms=("GrMAW", DIVIDED),
        panels=(
            Panel(title="average weighted degree", metrics=("w_Gr", "w_DC", "w_DC - w_Gr")),
            Panel(title="average degree", metrics=("d_Gr", "d_DC", "d_DC - d_Gr")),
            Panel(title="weighted diameter", metrics=("wdiam_Gr", "wdiam_DC")),
            Panel(title="diameter", metrics=("diam_Gr", "diam_DC")),
            Panel(title="time", metrics=("T_DC/T_Gr",), log=True),
        ),
        values=tuple(range(1000, 10_001, 1000)),
        quick_values=(1000, 3000),
        with_diameters=True,
        in_clusters=True,
    ),
}

STATED: Stated = {
    ("4", ALL, "w_Tr/w_Gr", MEAN): 7.28,
    ("4", ALL, "w_sum of trees/w_Gr", MEAN): 7.28,
    ("4", ALL, "w_Pd - w_Gr", MEAN): 3.35,
    ("4", "unif", "w_Tr", 1000): 224,
    ("4", "unif", "w_Gr", 1000): 18.76,
    ("4", "unif", "T_Pd/T_Gr", 1000): 60.7,
    ("4", "unif", "T_Gr/T_Pd", MEAN): 0.157,
    ("4", "zipf", "T_Gr/T_Pd", MEAN): 0.266,
    ("4", "expo", "T_Gr/T_Pd", MEAN): 0.282,
    ("5", "unif", "w_Tr - w_Gr", MEAN): 221,
    ("5", "unif", "T_Gr/T_Pd", MEAN): 0.195,
    ("5", "zipf", "T_Gr/T_Pd", MEAN): 0.096,
    ("5", "expo", "T_Gr/T_Pd", MEAN): 0.045,
    ("6", "unif", "T_Gr/T_Pd", MEAN): 0.030,
    ("6", "zipf", "T_Gr/T_Pd", MEAN): 0.046,
    ("6", "expo", "T_Gr/T_Pd", MEAN): 0.064,
    ("7", "zipf", "w_Pd - w_Pdrd", MEAN): 5.10,
    ("7", "zipf", "d_Pd - d_Pdrd", MEAN): 3.87,
    ("7", "zipf", "T_Pdrd/T_Pd", MEAN): 50,
    ("8", "unif", "w_Gr/w_GM", MEAN): 0.4,
    ("8", "unif", "w_GM - w_Gr", MEAN): 30,
    ("8", "unif", "wdiam_GM - wdiam_Gr", 1000): 124,
    ("8", "unif", "d_Gr - d_GM", MEAN): 4,
    ("8", "unif", "diam_Gr - diam_GM", MEAN): 2.7,
    ("8", "unif", "T_Gr/T_GM", MEAN): 0.7,
    ("9", "unif", "w_DC - w_Gr", MEAN): 0.88,
    ("9", "unif", "d_DC - d_Gr", MEAN): 0.097,
    ("9", "unif", "T_DC/T_Gr", MEAN): 0.057,
}
"""What the text of the paper states: by figure, law of popularity and metric, on average or at one x.

Its TrMAW costs as much as if each topic's tree were paid for separately, so its figure stands beside both. Its
weights have a scale it does not tell: compare quotients; differences and absolute weights only by their sign.
"""


def interests_of(setting: Setting) -> Interests:
    """200 topics, of which each node wants 60 give or take; figures 5 and 6 vary the one and the other."""
    topics = int(setting.x) if setting.figure == "5" else 200
    middle = int(setting.x) if setting.figure == "6" else 60
    return Interests(topics=topics, least=middle - HALF_RANGE, most=middle + HALF_RANGE, law=setting.series)


def nodes_of(setting: Setting) -> int:
    """How many nodes a setting has."""
    return PLANS[setting.figure].nodes or int(setting.x)


def measure(setting: Setting, points: MeasuredPoints | None, options: Options) -> dict[str, float]:
    """Times, weights and degrees of each algorithm of the figure, diameters where it shows them."""
    n, plan = nodes_of(setting), PLANS[setting.figure]
    instance = make_instance(n, interests_of(setting), points, setting.seed)
    if plan.in_clusters:
        instance = in_clusters(instance, setting.seed)
    weight = 1.0 if plan.in_clusters else mean_cost(instance)
    found: dict[str, float] = {}
    for paper_name in plan.algorithms:
        short = SHORT[paper_name]
        algorithm = divided if paper_name == DIVIDED else find(paper_name)
        (found[f"T_{short}"],), links = timed(algorithm, instance, options)
        found[f"w_{short}"] = 2 * links.total_cost / weight / n
        found[f"d_{short}"] = 2 * len(links) / n
        if links.sum_of_trees is not None:
            found["w_sum of trees"] = 2 * links.sum_of_trees / weight / n
        if plan.with_diameters:
            found.update(_diameters(instance, links, short, weight))
    return found


def in_clusters(instance: Instance, seed: int) -> Instance:
    """The same interests of nodes that stand in clusters."""
    clusters = max(1, instance.n_nodes // NODES_A_CLUSTER)
    weights = np.full((clusters, clusters), OUTER)
    np.fill_diagonal(weights, INNER)
    return replace(instance, costs=site_costs(random_sites(np.arange(instance.n_nodes), clusters, seed), weights))


def divided(instance: Instance, options: Options) -> Links:
    """Divide and conquer with the clusters as parts."""
    assert instance.costs.kind == SITES
    return divide_conquer(instance, instance.costs.sites[: instance.n_nodes], 1, options.kernel)


def mean_cost(instance: Instance) -> float:
    """The mean cost over all pairs of nodes."""
    n = instance.n_nodes
    total = sum(int(cost_row(instance.costs, u)[u + 1 :].sum()) for u in range(n))
    return total / (n * (n - 1) // 2)


def _diameters(instance: Instance, links: Links, short: str, weight: float) -> dict[str, float]:
    shapes = instance.topic_shapes(links)
    wanted = shapes[shapes[:, 0] > 0]
    return {f"diam_{short}": float(wanted[:, 3].mean()), f"wdiam_{short}": float(wanted[:, 4].mean()) / weight}


EXPERIMENT = Experiment(paper="000", plans=PLANS, stated=STATED, measure=measure, size=nodes_of)
