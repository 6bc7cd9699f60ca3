"""What a call takes: the tables of one overlay problem. Their schemas are checked here, their values by ``design``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from overlay_spark.errors import InputError
from overlay_spark.frames.costs import LinkCosts, ListedCosts, SiteCosts
from overlay_spark.tables import catalog

__all__ = ["LinkCosts", "ListedCosts", "OverlayProblem", "SiteCosts"]


@dataclass(frozen=True)
class OverlayProblem:
    """Who wants what, and what links cost.

    Nodes are those of ``nodes`` where it is given, else those subscribed. Site costs need ``nodes``.
    """

    subscriptions: DataFrame
    costs: LinkCosts
    nodes: DataFrame | None = None

    def __post_init__(self) -> None:
        cost_table = catalog.LINK_COSTS if isinstance(self.costs, ListedCosts) else catalog.SITE_COSTS
        given = [(catalog.SUBSCRIPTIONS, self.subscriptions), (cost_table, self.costs.table)]
        if self.nodes is not None:
            given.append((catalog.NODES, self.nodes))
        faults = [fault for table, frame in given for fault in table.schema_faults(frame)[0]]
        if self.nodes is None and isinstance(self.costs, SiteCosts):
            faults.append("Table 'nodes' is not given. Site costs need it, to know the site of each node.")
        if faults:
            raise InputError(faults)
        conformed = {
            "subscriptions": catalog.SUBSCRIPTIONS.conform(self.subscriptions),
            "costs": replace(self.costs, table=cost_table.conform(self.costs.table)),
            "nodes": None if self.nodes is None else catalog.NODES.conform(self.nodes),
        }
        for name, value in conformed.items():
            object.__setattr__(self, name, value)
