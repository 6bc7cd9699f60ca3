"""How the divide engine divides, conquers and combines."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require, require_one_of

CRITERIA = ("auto", "site", "coordinates", "landmarks", "random")
COVERS = ("topics", "weighted_degree", "all")


@dataclass(frozen=True, kw_only=True)
class DivideOptions:
    """How a problem is solved in parts that are joined through representatives.

    ``by`` says what makes nodes near: their ``site`` label, their ``coordinates`` (k-means), what links to a few
    ``landmarks`` cost (k-means again, for tables of costs), or nothing (``random``). ``auto`` goes by coordinates where
    these give the costs, else by site labels where every node has one, else by landmarks. A part has at most
    ``part_nodes`` nodes: larger ones are split, and those of fewer than ``least_nodes`` merged with near ones.

    Every topic of a part has ``copies`` representatives, chosen by ``cover``: nodes with most topics still in need,
    with most per unit of ``weighted_degree`` (of the links that were just made), or ``all`` nodes. At most
    ``join_nodes`` representatives of at most ``join_parts`` parts are joined at once: near parts in tasks, level by
    level, until the driver can join the rest. Only two parts that have more between them are joined all the same.
    """

    by: str = "auto"
    part_nodes: int = 8000
    least_nodes: int = 1000
    copies: int = 1
    cover: str = "topics"
    join_nodes: int = 10_000
    join_parts: int = 1000

    def __post_init__(self) -> None:
        require_one_of("divide.by", CRITERIA, self.by)
        require_one_of("divide.cover", COVERS, self.cover)
        for name, least in (("part_nodes", 1), ("least_nodes", 1), ("copies", 1), ("join_nodes", 2), ("join_parts", 2)):
            value = getattr(self, name)
            require(value >= least, f"divide.{name} must be at least {least}, got {value}.")
        require(
            self.least_nodes <= self.part_nodes,
            f"divide.least_nodes must be at most divide.part_nodes, got {self.least_nodes} and {self.part_nodes}.",
        )
