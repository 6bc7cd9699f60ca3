"""How topic-connected components are found."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require, require_one_of

AUTO = "auto"
METHODS = (AUTO, "graphframes", "grouped")


@dataclass(frozen=True, kw_only=True)
class ComponentOptions:
    """How topic-connected components are found, when an overlay is verified and in the rounds of the frames engine.

    ``grouped`` tasks look at whole topics, many at a time, and are several times faster as long as a topic fits a task;
    ``graphframes`` spreads each topic over the cluster. ``auto`` takes it where a topic has ``huge_topic`` nodes, and
    leaves components to the task that repairs an overlay when it is refreshed.

    ``contract_above`` is about single topics, not about the method: when an overlay is verified, the links of a topic
    with more nodes, and more than diameters are measured for, are contracted where they lie and moved packed, not as
    a row each. It takes another look at all links, which topics of fewer nodes are not worth.
    """

    method: str = AUTO
    huge_topic: int = 5_000_000
    contract_above: int = 50_000

    def __post_init__(self) -> None:
        require_one_of("components.method", METHODS, self.method)
        for name in ("huge_topic", "contract_above"):
            value = getattr(self, name)
            require(value > 0, f"components.{name} must be at least 1, got {value}.")
