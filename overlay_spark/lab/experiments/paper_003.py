"""Paper 003, overlays kept up under churn: figures 2 to 8.

Its figures are pictures: what is stated is what its text says of them. It does not tell under which law of popularity
figures 4 to 8 were measured: 4 and 5 are measured under the uniform one, as 2 and 3 are, and 6 to 8 under each.

D is the greatest degree, d the average one, T seconds, S the number of shadow nodes, V that of all. Times are of
repairs alone, unless backups are named, and stand beside the mean time of Low-ODA in the same run, which builds anew
the overlays before and after one round in twenty. ``trimmed`` is ours: shadows, and after each repair links are given
up that others can take over; its times are with that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from statistics import mean
from typing import Any, NamedTuple

from overlay_spark.algorithms.shadows import LiveOverlay
from overlay_spark.instance import Links
from overlay_spark.lab.churn import KINDS, Round, TimedOverlay, Workload, make_workload, rounds_of
from overlay_spark.lab.experiments.shared import (
    LEAST,
    MEAN,
    MEAN_AT_MOST,
    MOST,
    Aspect,
    Curve,
    Experiment,
    Panel,
    Plan,
    Setting,
    Stated,
)
from overlay_spark.options import DegreeOptions, Options
from overlay_spark.options.churn import DEGREE, GREEDY, PRIMAL_DUAL, RANDOM
from overlay_spark.workloads.interests import Interests
from overlay_spark.workloads.latencies import MeasuredPoints

Found = dict[str, dict[float, float]]

LAWS = ("unif", "zipf", "expo")
NODES, TOPICS, ROUNDS = 2000, 200, 1000
LOW = DegreeOptions(k=3.0)
AS_PAPER: Mapping[str, Any] = {"objective": DEGREE, "coverage": 3, "backups": PRIMAL_DUAL, "pick": RANDOM}
"""Its options of churn, where they are not what varies."""
COVERS = {GREEDY: "greedy", PRIMAL_DUAL: "primal-dual"}
"""The ways to choose backups, and how figures call them."""
BACKUPS_IN = {"2": GREEDY, "3": PRIMAL_DUAL}
COVERAGES = {1: 31, 2: 25, 3: 24, 4: 24}
"""Figure 5: the coverages, and the greatest degree that the paper comes to with each."""
NOTED_EVERY = 10
"""Degrees are noted after so many rounds of churn each, and after the first."""
REBUILT_EVERY = 20
"""Low-ODA builds the overlays before and after so many rounds of churn each."""
WARM = (60, 2 * REBUILT_EVERY)
"""Nodes and rounds of a small workload."""


class Variant(NamedTuple):
    """A way to keep an overlay up, and how figures call it."""

    name: str
    shadows: bool = True
    trim: bool = False


SHADOW, NAIVE, TRIMMED = VARIANTS = Variant("Shadow"), Variant("Naive", shadows=False), Variant("trimmed", trim=True)
TIMED = (*(v.name for v in VARIANTS), "Shadow with backups")


def _degrees(*names: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(title=f"{title} degree", metrics=tuple(f"{letter}_{name}" for name in names))
        for letter, title in (("D", "greatest"), ("d", "average"))
    )


def _of(kind: str, metrics: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{metric} of {kind}" for metric in metrics)


_BACKUPS = Plan(
    label="nodes",
    series=("unif",),
    panels=(
        Panel(title="backups, as a share of all nodes", metrics=("backups/V",), against="topics"),
        Panel(title="nodes it is backup of", metrics=("primaries",), against="topics"),
    ),
    values=(NODES,),
    quick_values=(NODES,),
)
_UNDER_CHURN = Plan(
    label="rounds of churn",
    series=("unif",),
    panels=_degrees(*COVERS.values()),
    values=(ROUNDS,),
    quick_values=(ROUNDS,),
)
_BESIDE_LOW = replace(
    _UNDER_CHURN,
    series=LAWS,
    panels=(
        *_degrees(*(v.name for v in VARIANTS), "Low"),
        Panel(title="greatest degrees apart", metrics=tuple(f"D_{v.name} - D_Low" for v in VARIANTS)),
        Panel(title="average degrees apart", metrics=tuple(f"d_{v.name} - d_Low" for v in VARIANTS)),
    ),
    quick_values=(10 * REBUILT_EVERY,),
)
_TIMES = tuple(f"T_{name}/T_Low" for name in TIMED)
_CHANGED = ("changed_Shadow", "changed_trimmed", "changed_Low")
_SHARES = tuple(f"{metric}/links" for metric in _CHANGED)

PLANS = {
    "2": _BACKUPS,
    "3": _BACKUPS,
    "4": _UNDER_CHURN,
    "5": replace(_UNDER_CHURN, panels=_degrees(*(f"coverage {c}" for c in COVERAGES))),
    "6": _BESIDE_LOW,
    "7": replace(
        _BESIDE_LOW,
        panels=(
            *(Panel(title=f"time, {kind}", metrics=_of(kind, _TIMES), log=True, against="S") for kind in KINDS),
            Panel(title="shadow nodes, as a share of all", metrics=("S/V",), against="topics"),
            Panel(title="seconds of Low-ODA", metrics=("T_Low",)),
        ),
        measured_with="6",
    ),
    "8": replace(
        _BESIDE_LOW,
        panels=(
            *(Panel(title=f"links changed, {k}", metrics=_of(k, _CHANGED), log=True, against="topics") for k in KINDS),
            *(Panel(title=f"as a share, {k}", metrics=_of(k, _SHARES), log=True, against="topics") for k in KINDS),
            Panel(title="links changed by Low-ODA", metrics=("changed_Low",), against="topics"),
            Panel(title="as a share", metrics=("changed_Low/links",), against="topics"),
        ),
        measured_with="6",
    ),
}

BELOW_5 = Aspect("share below 5 of", lambda values: sum(value < 5 for value in values) / len(values), is_level=False)

_UNDER_EACH_LAW: Mapping[tuple[str, str, float | Aspect], float | None] = {
    ("6", "D_Shadow", 1): 13,
    ("6", "D_Shadow", ROUNDS): 22,
    ("6", "D_Naive", ROUNDS): 22,
    ("6", "D_Shadow - D_Low", MEAN_AT_MOST): 5.5,
    ("6", "d_Shadow - d_Low", MEAN_AT_MOST): 0.798,
    ("6", "D_trimmed - D_Low", ROUNDS): None,
    ("6", "d_trimmed - d_Low", ROUNDS): None,
    ("7", "T_Shadow/T_Low of joins", MEAN): 0.00014,
    ("7", "T_Naive/T_Low of joins", MEAN): 0.00043,
    ("7", "T_trimmed/T_Low of joins", MEAN): None,
    ("7", "T_Shadow with backups/T_Low of joins", MEAN): None,
    ("7", "T_Shadow/T_Low of leaves", MEAN): 0.0178,
    ("7", "T_Naive/T_Low of leaves", MEAN): 0.14,
    ("7", "T_Naive/T_Low of leaves", MOST): 0.616,
    ("7", "T_trimmed/T_Low of leaves", MEAN): None,
    ("7", "T_Shadow with backups/T_Low of leaves", MEAN): None,
    ("7", "T_Low", MEAN): None,
    ("7", "S/V", MEAN): 0.0159,
    ("7", "S/V", MOST): 0.0497,
    ("8", "changed_Shadow of joins", MEAN): 4.83,
    ("8", "changed_Shadow of leaves", MEAN): 12.24,
    ("8", "changed_trimmed of joins", MEAN): None,
    ("8", "changed_trimmed of leaves", MEAN): None,
    ("8", "changed_Low", MEAN): 610,
    ("8", "changed_Shadow/links of joins", MEAN): 0.00068,
    ("8", "changed_Shadow/links of leaves", MEAN): 0.0017,
    ("8", "changed_Low/links of joins", MEAN): 0.113,
    ("8", "changed_Low/links of leaves", MEAN): 0.075,
    ("8", "changed_Low/links", MEAN): 0.094,
}
STATED: Stated = {
    ("2", "unif", "backups/V", MEAN): 0.011,
    ("2", "unif", "primaries", BELOW_5): 0.429,
    ("3", "unif", "backups/V", MEAN): 0.028,
    ("3", "unif", "primaries", LEAST): 21,
    ("3", "unif", "primaries", MOST): 59,
    ("4", "unif", "D_greedy", ROUNDS): 84,
    ("4", "unif", "D_primal-dual", ROUNDS): None,
    **{("5", "unif", f"D_coverage {c}", ROUNDS): of_paper for c, of_paper in COVERAGES.items()},
    **{(figure, law, metric, at): value for law in LAWS for (figure, metric, at), value in _UNDER_EACH_LAW.items()},
}
"""What the text of the paper states: by figure, law of popularity and metric, of the curve or at one x; None where only
ours is told.

What comes out much alike, in three workloads a figure: how many shadow nodes there are, the greatest degree of shadows
and of naive repairs, and under the uniform law how many links a repair changes and how far the average degree drifts.

What does not come out. Backups are fewer, 0.6 % of the nodes by greedy and 1.7 % by primal-dual; by greedy no node is
backup of less than five, nor do its repairs end at a greater degree than primal-dual's. (2.8 % would make each node
backup of 56 others on average, near the most that the paper finds.) Coverage 2 to 4 end at the same greatest degree.
Under the uniform law shadows end 11 above Low-ODA, 6.3 on average. What Low-ODA changes in a round is 26 to 53 % of the
links it had, and more than all where someone with many topics comes or goes. A join takes 0.3 % of what Low-ODA does,
not 0.014 %, for Low-ODA takes a tenth of a second, not 19.
"""


def measure(setting: Setting, points: MeasuredPoints | None, options: Options) -> Mapping[str, Curve]:
    """The curves of a figure, and of those measured with it."""
    n, seed, interests = int(setting.x), setting.seed, interests_of(setting.series)
    if setting.figure in BACKUPS_IN:
        workload = make_workload(interests, n, 0, seed)
        return backups_built(start(workload, options, seed, backups=BACKUPS_IN[setting.figure]))
    workload = make_workload(interests, NODES, n, seed)
    if setting.figure == "6":
        under_churn(make_workload(interests, *WARM, seed), options, seed)  # loads the compiled kernels
        return under_churn(workload, options, seed)
    if setting.figure == "4":
        lives = {name: start(workload, options, seed, backups=cover) for cover, name in COVERS.items()}
    else:
        lives = {f"coverage {c}": start(workload, options, seed, coverage=c) for c in COVERAGES}
    found: Found = defaultdict(dict)
    for name, live in lives.items():
        _note_degrees(found, name, live.links, workload, 0)
        for happened in rounds_of(live, workload):
            _note_degrees(found, name, live.links, workload, happened.number)
    return found


def interests_of(law: str) -> Interests:
    """From 10 to 90 topics a node, the more the rarer."""
    return Interests(topics=TOPICS, sizes="power", least=10, most=90, exponent=2.0, law=law)


def start(workload: Workload, options: Options, seed: int, variant: Variant = SHADOW, **churn: Any) -> TimedOverlay:
    """Low-ODA's overlay of the nodes that are there at first, to be kept up with the paper's options but for these."""
    how = replace(options, degrees=LOW, churn=replace(options.churn, **{**AS_PAPER, "trim": variant.trim, **churn}))
    first = workload.everyone.among(workload.present(0))
    return TimedOverlay(first, workload.rebuilt(0, LOW)[0], how, seed, variant.shadows)


def backups_built(live: LiveOverlay) -> Mapping[str, Curve]:
    """Of each node how many topics it wants, its backups as a share of all nodes, and how many it is backup of."""
    nodes = range(live.instance.n_nodes)
    return {
        "topics": {v: len(live.instance.topics_of(v)) for v in nodes},
        "backups/V": {v: len(live.backups[v]) / len(nodes) for v in nodes},
        "primaries": {v: len(live.primaries.get(v, ())) for v in nodes},
    }


def under_churn(workload: Workload, options: Options, seed: int) -> Found:
    """Figures 6 to 8: all variants side by side, and Low-ODA anew now and then, so that what else the machine does
    slows all of them alike."""
    found: Found = defaultdict(dict)
    lives = [start(workload, options, seed, variant) for variant in VARIANTS]
    for variant, live in zip(VARIANTS, lives, strict=True):
        _note_degrees(found, variant.name, live.links, workload, 0)
    for same_round in zip(*(rounds_of(live, workload) for live in lives), strict=True):
        for variant, live, happened in zip(VARIANTS, lives, same_round, strict=True):
            _note_degrees(found, variant.name, live.links, workload, happened.number)
            _note_round(found, variant, happened, workload)
        if (rounds := same_round[0].number) % REBUILT_EVERY == 0:
            _note_rebuilt(found, workload, rounds)
    low = mean(found["T_Low"].values())
    for name, kind in product(TIMED, KINDS):
        found[f"T_{name}/T_Low of {kind}"] = {x: y / low for x, y in found[f"T_{name} of {kind}"].items()}
    return found


def _note_degrees(found: Found, name: str, links: Links, workload: Workload, rounds: int) -> None:
    if rounds == 1 or rounds % NOTED_EVERY == 0:
        found[f"D_{name}"][rounds], found[f"d_{name}"][rounds] = workload.degrees(links, rounds)


def _note_round(found: Found, variant: Variant, happened: Round, workload: Workload) -> None:
    x, kind, changed = happened.number, happened.kind, happened.repair.changes
    found[f"T_{variant.name} of {kind}"][x] = happened.seconds
    if variant != NAIVE:
        found[f"changed_{variant.name} of {kind}"][x] = changed
        found[f"changed_{variant.name}/links of {kind}"][x] = changed / happened.links
    if variant == SHADOW:
        found[f"T_Shadow with backups of {kind}"][x] = happened.seconds + happened.backup_seconds
        found["topics"][x] = len(workload.everyone.topics_of(happened.repair.node))
        found["S"][x] = len(happened.repair.shadow)
        found["S/V"][x] = found["S"][x] / len(workload.present(x))


def _note_rebuilt(found: Found, workload: Workload, rounds: int) -> None:
    """What Low-ODA builds before and after a round; its seconds on average."""
    (old, of_old), (new, of_new) = (workload.rebuilt(at, LOW) for at in (rounds - 1, rounds))
    _note_degrees(found, "Low", new, workload, rounds)
    changed = len({*old.pairs()} ^ {*new.pairs()})
    for name, value in (("changed_Low", changed), ("changed_Low/links", changed / len(old))):
        found[name][rounds] = found[f"{name} of {workload.kind(rounds)}"][rounds] = value
    found["T_Low"][rounds] = (of_old + of_new) / 2


def size(setting: Setting) -> float:
    """Rounds of churn, those of figure 6 by far the longest."""
    return setting.x * {"4": 1, "5": 2, "6": 30}.get(setting.figure, 0.01)


EXPERIMENT = Experiment(paper="003", plans=PLANS, stated=STATED, measure=measure, size=size)
