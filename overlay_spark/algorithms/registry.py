"""Every algorithm, every step that may follow one and every bound, by name: ours, and the papers' in any case."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from overlay_spark.algorithms.greedy import fewest_links, greedy
from overlay_spark.algorithms.low_degree import low_degree, min_max_degree
from overlay_spark.algorithms.primal_dual import primal_dual
from overlay_spark.algorithms.reverse_delete import primal_dual_reverse_delete, reverse_delete
from overlay_spark.algorithms.stars import dense_stars, weighted_stars, wide_stars
from overlay_spark.algorithms.trees import trees
from overlay_spark.errors import OptionError
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options
from overlay_spark.options.checks import nearest


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """One algorithm: its names, what it minimises within what factor, and the section of its options."""

    name: str
    paper_name: str
    minimises: str
    guarantee: str
    function: Callable[[Instance, Any, Links | None], Links]
    """From a problem, the options of ``section`` and links that are there already: the links to add."""
    section: str
    proves: str | None = None
    """The bound it proves beside its links, by name."""
    unit_costs: bool = False
    """Whether all links count alike, so that many candidates have the same rank."""
    in_rounds: bool = False
    """Whether it picks by least cost per topic joined: then rounds can pick many of its links at once."""
    by_cost_alone: bool = False
    """Whether a candidate's rank is its cost, whatever it joins."""
    bytes_a_pair: int = 0
    """What it holds of each two nodes, whether they share a topic or not."""

    def __call__(self, instance: Instance, options: Options, start: Links | None = None) -> Links:
        return self.function(instance, getattr(options, self.section), start)


@dataclass(frozen=True, kw_only=True)
class Step:
    """What may be done to an overlay once an algorithm has computed it."""

    name: str
    does: str
    function: Callable[[Instance, Links, Any, int], Links]
    """From a problem, its overlay, the options of ``section`` (all of them where it has none) and a seed."""
    section: str | None = None
    stage: str | None = None
    """The stage of links it adds; None where it adds none."""

    def __call__(self, instance: Instance, links: Links, options: Options) -> Links:
        chosen = options if self.section is None else getattr(options, self.section)
        return self.function(instance, links, chosen, options.design.seed)


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A way to compute a cost that no overlay can beat."""

    name: str
    says: str
    algorithm: str
    """The algorithm that proves it."""


ALGORITHMS = (
    Algorithm(
        name="greedy",
        paper_name="GrMAW",
        minimises="cost of the links",
        guarantee="H(g) x optimum, g = the most topics two nodes share",
        function=greedy,
        section="kernel",
        in_rounds=True,
    ),
    Algorithm(
        name="fewest_links",
        paper_name="GM",
        minimises="number of links",
        guarantee="H(g) x the least number of links",
        function=fewest_links,
        section="kernel",
        unit_costs=True,
        in_rounds=True,
    ),
    Algorithm(
        name="trees",
        paper_name="TrMAW",
        minimises="cost of each topic's own tree",
        guarantee="(number of topics) x optimum",
        function=trees,
        section="kernel",
        by_cost_alone=True,
    ),
    Algorithm(
        name="primal_dual",
        paper_name="PdMAW",
        minimises="cost of the links",
        guarantee="a factor of the instance (000 Lemma 8); proves a lower bound",
        function=primal_dual,
        section="kernel",
        proves="primal_dual",
    ),
    Algorithm(
        name="primal_dual_reverse_delete",
        paper_name="PdrdMAW",
        minimises="cost of the links",
        guarantee="a factor of the instance (000 Lemma 9); no link can go; proves a lower bound",
        function=primal_dual_reverse_delete,
        section="kernel",
        proves="primal_dual",
    ),
    Algorithm(
        name="low_degree",
        paper_name="Low-ODA",
        minimises="greatest and average degree, weighed by degrees.k",
        guarantee="greatest degree O((n / k) log s) x the least, links O(k log s) x the fewest, of s subscriptions",
        function=low_degree,
        section="degrees",
        unit_costs=True,
        bytes_a_pair=12,
    ),
    Algorithm(
        name="min_max_degree",
        paper_name="MinMax-ODA",
        minimises="greatest degree",
        guarantee="O(log(n t)) x the least greatest degree, for n nodes and t topics",
        function=min_max_degree,
        section="degrees",
        unit_costs=True,
        bytes_a_pair=12,
    ),
    *(
        Algorithm(
            name=name,
            paper_name=paper_name,
            minimises="number of links where no topic's diameter is above 2",
            guarantee="every topic's diameter is at most 2, where any two nodes may link",
            function=function,
            section="kernel",
            unit_costs=True,
        )
        for name, paper_name, function in (
            ("wide_stars", "CD-ODA", wide_stars),
            ("weighted_stars", "CD-ODA-I", weighted_stars),
            ("dense_stars", "CD-ODA-II", dense_stars),
        )
    ),
)

STEPS = (
    Step(
        name="reverse_delete",
        does="takes links away that no topic needs, the newest first",
        function=reverse_delete,
    ),
)

BOUNDS = (Bound(name="primal_dual", says="dual value of primal_dual", algorithm="primal_dual"),)


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def find(name: str) -> Algorithm:
    """The algorithm of this name; an unknown name is refused with the nearest known one."""
    return _find("algorithm", name, {n: a for a in ALGORITHMS for n in (a.name, a.paper_name)})


def find_step(name: str) -> Step:
    """The step of this name."""
    return _find("step", name, {step.name: step for step in STEPS})


def find_bound(name: str) -> Bound:
    """The bound of this name."""
    return _find("bound", name, {bound.name: bound for bound in BOUNDS})


def _find(kind: str, name: str, known: dict[str, T]) -> T:
    by_name = {n.lower(): found for n, found in known.items()}
    if name.lower() not in by_name:
        raise OptionError(f"There is no {kind} {name!r}.{nearest(name.lower(), by_name)}")
    return by_name[name.lower()]


def require_known(options: Options) -> None:
    """Refuse names in the options that nobody knows, before anything is read."""
    find(options.design.algorithm)
    for step in options.design.then:
        find_step(step)
    if options.design.bound is not None:
        find_bound(options.design.bound)


def option_names(section: str | None) -> str:
    """The options of a section, as section.key."""
    if section is None:
        return ""
    field = {f.name: f for f in dataclasses.fields(Options)}[section]
    keys = dataclasses.fields(typing.cast(type[Any], field.default_factory))
    return ", ".join(f"{section}.{key.name}" for key in keys)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *others = ("| " + " | ".join(line) + " |" for line in (header, *rows))
    return "\n".join((first, "|" + "---|" * len(header), *others))


def algorithms_as_markdown() -> str:
    """The table of algorithms, as the README shows it."""
    return _markdown(
        ("name", "in the papers", "minimises", "guarantee", "options"),
        [(a.name, a.paper_name, a.minimises, a.guarantee, option_names(a.section)) for a in ALGORITHMS],
    )


def steps_as_markdown() -> str:
    """The table of steps, as the README shows it."""
    return _markdown(
        ("step", "what it does", "stage of links it adds", "options"),
        [(s.name, s.does, s.stage or "-", option_names(s.section)) for s in STEPS],
    )
