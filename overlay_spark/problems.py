"""What a call takes: the tables of one overlay problem. Their schemas are checked here, their values by ``design``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from overlay_spark.errors import InputError
from overlay_spark.frames.costs import CoordinateCosts, LinkCosts, ListedCosts, SiteCosts
from overlay_spark.tables import catalog
from overlay_spark.tables.contract import Table

__all__ = ["CoordinateCosts", "LinkCosts", "ListedCosts", "OverlayProblem", "SiteCosts"]


@dataclass(frozen=True)
class OverlayProblem:
    """Who wants what, and what links cost.

    Nodes are those of ``nodes`` where it is given, else those subscribed. Only listed costs do without ``nodes``.
    """

    subscriptions: DataFrame
    costs: LinkCosts
    nodes: DataFrame | None = None

    def __post_init__(self) -> None:
        given = [(catalog.SUBSCRIPTIONS, self.subscriptions)]
        if not isinstance(self.costs, CoordinateCosts):
            given.append((cost_table(self.costs), self.costs.table))
        if self.nodes is not None:
            given.append((catalog.NODES, self.nodes))
        faults = [fault for table, frame in given for fault in table.schema_faults(frame)[0]]
        if self.nodes is None and isinstance(self.costs, SiteCosts):
            faults.append("Table 'nodes' is not given. Site costs need it, to know the site of each node.")
        if self.nodes is None and isinstance(self.costs, CoordinateCosts):
            faults.append("Table 'nodes' is not given. Costs by coordinates need it, to know where each node is.")
        if faults:
            raise InputError(faults)
        conformed = {
            "subscriptions": catalog.SUBSCRIPTIONS.conform(self.subscriptions),
            "costs": self.costs
            if isinstance(self.costs, CoordinateCosts)
            else replace(self.costs, table=cost_table(self.costs).conform(self.costs.table)),
            "nodes": None if self.nodes is None else catalog.NODES.conform(self.nodes),
        }
        for name, value in conformed.items():
            object.__setattr__(self, name, value)


def cost_table(costs: ListedCosts | SiteCosts) -> Table:
    """Which table of the catalog the costs are given by."""
    return catalog.LINK_COSTS if isinstance(costs, ListedCosts) else catalog.SITE_COSTS
