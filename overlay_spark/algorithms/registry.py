"""Every algorithm by name: ours, and the papers' in any case."""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay_spark.algorithms.greedy import fewest_links, greedy
from overlay_spark.algorithms.primal_dual import primal_dual
from overlay_spark.algorithms.reverse_delete import primal_dual_reverse_delete, reverse_delete
from overlay_spark.algorithms.trees import trees
from overlay_spark.errors import OptionError
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: its names, what it minimises within what factor, and which options it takes."""

    name: str
    paper_name: str
    minimises: str
    guarantee: str
    function: Callable[[Instance, Any], Links]
    section: str

    @property
    def options(self) -> str:
        """The options it takes, as section.key."""
        section = {f.name: f for f in dataclasses.fields(Options)}[self.section]
        keys = dataclasses.fields(typing.cast(type[Any], section.default_factory))
        return ", ".join(f"{self.section}.{key.name}" for key in keys)

    def __call__(self, instance: Instance, options: Options) -> Links:
        return self.function(instance, getattr(options, self.section))


ALGORITHMS = (
    Algorithm(
        "greedy",
        "GrMAW",
        "cost of the links",
        "H(g) x optimum, g = the most topics two nodes share",
        greedy,
        "greedy",
    ),
    Algorithm("fewest_links", "GM", "number of links", "H(g) x the least number of links", fewest_links, "greedy"),
    Algorithm("trees", "TrMAW", "cost of each topic's own tree", "(number of topics) x optimum", trees, "greedy"),
    Algorithm(
        "primal_dual",
        "PdMAW",
        "cost of the links",
        "a factor of the instance (000 Lemma 8); proves a lower bound",
        primal_dual,
        "greedy",
    ),
    Algorithm(
        "primal_dual_reverse_delete",
        "PdrdMAW",
        "cost of the links",
        "a factor of the instance (000 Lemma 9); no link can go; proves a lower bound",
        primal_dual_reverse_delete,
        "greedy",
    ),
)

THEN: dict[str, Callable[[Instance, Links], Links]] = {"reverse_delete": reverse_delete}
"""What may be done to an overlay once an algorithm has computed it."""


def find(name: str) -> Algorithm:
    """The algorithm of this name; an unknown name is refused with the nearest known one."""
    wanted = name.lower()
    by_name = {n.lower(): a for a in ALGORITHMS for n in (a.name, a.paper_name)}
    if wanted in by_name:
        return by_name[wanted]
    close = difflib.get_close_matches(wanted, by_name, n=1, cutoff=0.5)
    hint = f"Did you mean {by_name[close[0]].name!r}?" if close else f"Known: {', '.join(a.name for a in ALGORITHMS)}."
    raise OptionError(f"There is no algorithm {name!r}. {hint}")


def solve(instance: Instance, options: Options) -> Links:
    """The overlay that ``options.design`` asks for: its algorithm, then what is to be done after."""
    links = find(options.design.algorithm)(instance, options)
    for step in options.design.then:
        links = THEN[step](instance, links)
    return links


def as_markdown() -> str:
    """The table of algorithms, as the README shows it."""
    lines = ["| name | in the papers | minimises | guarantee | options |", "|---|---|---|---|---|"]
    lines += [f"| {a.name} | {a.paper_name} | {a.minimises} | {a.guarantee} | {a.options} |" for a in ALGORITHMS]
    return "\n".join(lines)
