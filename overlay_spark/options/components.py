"""How topic-connected components are found."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require, require_one_of

METHODS = ("auto", "graphframes", "grouped")


@dataclass(frozen=True, kw_only=True)
class ComponentOptions:
    """How topic-connected components are found, when an overlay is verified and in the rounds of the frames engine.

    ``grouped`` tasks look at whole topics, many at a time, and are several times faster as long as a topic fits a task;
    ``graphframes`` spreads each topic over the cluster. ``auto`` takes it where a topic has ``huge_topic`` nodes.
    """

    method: str = "auto"
    huge_topic: int = 5_000_000

    def __post_init__(self) -> None:
        require_one_of("components.method", METHODS, self.method)
        require(self.huge_topic > 0, f"components.huge_topic must be at least 1, got {self.huge_topic}.")
