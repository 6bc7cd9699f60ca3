"""Paper 001, degrees and diameters: figures 1 to 5.

Its figures are pictures: what is stated is what its text says of them. It does not tell how many workloads a point is
the mean of, at which sizes of interests figure 5 was measured, nor which of many links that join as much GM picks. The
last decides GM's greatest degree, so that GM is measured twice: with ties to the lowest link, and with random ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.registry import find
from overlay_spark.costs import listed_costs
from overlay_spark.instance import Instance, Links
from overlay_spark.lab.experiments.shared import (
    LEAST,
    LEAST_STEP,
    MEAN,
    MOST,
    MOST_STEP,
    Experiment,
    Panel,
    Plan,
    Setting,
    Stated,
)
from overlay_spark.lab.measure import degrees_of, make_instance
from overlay_spark.options import DegreeOptions, Options
from overlay_spark.workloads.interests import Interests
from overlay_spark.workloads.latencies import MeasuredPoints, pair_costs, pairs_numbered

RANDOM_TIES = "GM random ties"
SHORT = {
    "GM": "GM",
    RANDOM_TIES: RANDOM_TIES,
    "MinMax-ODA": "MinMax",
    "Low-ODA": "Low",
    "CD-ODA": "CD",
    "CD-ODA-I": "CD-I",
    "CD-ODA-II": "CD-II",
}
"""The papers' names of algorithms, and how figures call them: D_GM is the greatest degree, d_GM the average one."""
TOPICS, NODES, SUBSCRIPTIONS, K = 100, 100, 10, 3.0
"""Topics there are; nodes, topics a node wants on average and k of Low-ODA where these are not what varies."""
NEARLY_ALIKE = 2.0**38
"""A cost in units; others exceed it by so little that a link which joins more topics still ranks before."""


@dataclass(frozen=True, kw_only=True)
class DegreePlan(Plan):
    """A figure of this paper: one series, the law of popularity."""

    algorithms: tuple[str, ...]


def _degrees(letter: str, title: str, label: str, values: tuple[int, ...], quick_values: tuple[int, ...]) -> DegreePlan:
    """Figures 1 to 4: the greatest or the average degree of Low-ODA and of the two it stands between."""
    algorithms = ("GM", RANDOM_TIES, "MinMax-ODA", "Low-ODA")
    gm, random_ties, min_max, low = (f"{letter}_{SHORT[name]}" for name in algorithms)
    return DegreePlan(
        label=label,
        series=("zipf",),
        algorithms=algorithms,
        panels=(
            Panel(title=title, metrics=(gm, random_ties, min_max, low)),
            Panel(title="compared", metrics=(f"{low}/{gm}", f"{low}/{random_ties}", f"{low}/{min_max}")),
        ),
        values=values,
        quick_values=quick_values,
    )


_UP_TO_1000 = (tuple(range(100, 1001, 100)), (100, 500, 1000))
_K_UP_TO_8 = (tuple(range(1, 9)), (1, 4, 8))

PLANS = {
    "1": _degrees("D", "greatest degree", "nodes", *_UP_TO_1000),
    "2": _degrees("d", "average degree", "nodes", *_UP_TO_1000),
    "3": _degrees("D", "greatest degree", "k", *_K_UP_TO_8),
    "4": _degrees("d", "average degree", "k", *_K_UP_TO_8),
    "5": DegreePlan(
        label="topics a node wants",
        series=("unif",),
        algorithms=("GM", "CD-ODA", "CD-ODA-I", "CD-ODA-II"),
        panels=(
            Panel(title="average degree", metrics=("d_GM", "d_CD", "d_CD-I", "d_CD-II")),
            Panel(title="beside GM", metrics=("d_CD/d_GM", "d_CD-I/d_GM", "d_CD-II/d_GM")),
            Panel(title="CD-ODA-II beside the others", metrics=("d_CD-II/d_CD", "d_CD-II/d_CD-I")),
        ),
        values=(10, 20, 30, 40, 50),
        quick_values=(10, 30, 50),
    ),
}

STATED: Stated = {
    ("1", "zipf", "D_Low/D_GM", MOST): 1,
    ("1", "zipf", "D_Low/D_GM random ties", MOST): 1,
    ("1", "zipf", "D_Low/D_MinMax", LEAST): 1,
    ("2", "zipf", "d_Low/d_GM", LEAST): 1,
    ("2", "zipf", "d_Low/d_GM random ties", LEAST): 1,
    ("2", "zipf", "d_Low/d_MinMax", MOST): 1,
    ("3", "zipf", "D_Low/D_GM", 1): 1,
    ("3", "zipf", "D_Low/D_GM random ties", 1): 1,
    ("3", "zipf", "D_Low/D_MinMax", 8): 1,
    ("3", "zipf", "D_Low", MOST_STEP): 0,
    ("4", "zipf", "d_Low/d_GM", 1): 1,
    ("4", "zipf", "d_Low/d_GM random ties", 1): 1,
    ("4", "zipf", "d_Low/d_MinMax", 8): 1,
    ("4", "zipf", "d_Low", LEAST_STEP): 0,
    ("5", "unif", "d_CD/d_GM", MOST): 2.3,
    ("5", "unif", "d_CD-II/d_GM", MOST): 1.8,
    ("5", "unif", "d_CD-II/d_CD", MEAN): 0.8,
    ("5", "unif", "d_CD-II/d_CD-I", MEAN): 0.99,
    **{("5", "unif", f"d_{name}", MOST_STEP): 0 for name in ("GM", "CD", "CD-I", "CD-II")},
}
"""What the text of the paper states: by figure, law of popularity and metric, of the curve or at one x.

Low-ODA lies between GM and MinMax-ODA (1, 2), behaves as GM where k = 1 and as MinMax-ODA where k = 8, and as k grows
greatest degrees fall and average ones rise (3, 4); average degrees fall as nodes want more topics (5). "Improves by
factor 20%" is taken as "a reduction of 20%", which its introduction calls it.

What does not come out, in ten workloads a point: where k = 1, Low-ODA has greatest degrees well below GM's, whatever
GM's ties are; from k = 3 on it is MinMax-ODA but for chance, above or below; CD-ODA-II has more than 1.8 times GM's
links where nodes want 20 topics; and up to there the average degrees of all CD-ODA rise.
"""


def interests_of(setting: Setting) -> Interests:
    """Each topic wanted by itself: by popularity i^-0.5, in figure 5 all alike and as many as x says."""
    if setting.figure == "5":
        return Interests(topics=TOPICS, sizes="bernoulli", mean=setting.x)
    return Interests(topics=TOPICS, sizes="bernoulli", mean=SUBSCRIPTIONS, law=setting.series, alpha=0.5)


def nodes_of(setting: Setting) -> int:
    """How many nodes a setting has."""
    return int(setting.x) if setting.figure in ("1", "2") else NODES


def k_of(setting: Setting) -> float:
    """The k of Low-ODA in a setting."""
    return setting.x if setting.figure in ("3", "4") else K


def measure(setting: Setting, points: MeasuredPoints | None, options: Options) -> dict[str, float]:
    """Greatest and average degree of each algorithm of the figure."""
    n = nodes_of(setting)
    instance = make_instance(n, interests_of(setting), points, setting.seed)
    options = replace(options, degrees=DegreeOptions(k=k_of(setting)))
    found: dict[str, float] = {}
    for paper_name in PLANS[setting.figure].algorithms:
        if paper_name == RANDOM_TIES:
            links = fewest_links_by_chance(instance, setting.seed)
        else:
            links = find(paper_name)(instance, options)
        short = SHORT[paper_name]
        found[f"D_{short}"], found[f"d_{short}"] = degrees_of(np.array([links.src, links.dst]), n)
    return found


def fewest_links_by_chance(instance: Instance, seed: int) -> Links:
    """GM with random ties: greedy at costs so nearly alike that they decide only between links that join as much."""
    numbers = np.arange(instance.n_nodes * (instance.n_nodes - 1) // 2)
    costs = np.rint(pair_costs(numbers, NEARLY_ALIKE, NEARLY_ALIKE * (1 + 0.5 / instance.n_topics), seed))
    return greedy(replace(instance, costs=listed_costs(*pairs_numbered(numbers), costs)))


EXPERIMENT = Experiment(paper="001", plans=PLANS, stated=STATED, measure=measure, size=nodes_of)
