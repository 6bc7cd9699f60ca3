"""What a call takes: the tables of one overlay problem. Their schemas are checked here, their values by ``design``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from overlay_spark.errors import InputError
from overlay_spark.options import CostOptions
from overlay_spark.tables import catalog
from overlay_spark.tables.contract import Table


@dataclass(frozen=True)
class ListedCosts:
    """Only listed links may be used: ``table`` is a LINK_COSTS table."""

    table: DataFrame


@dataclass(frozen=True)
class SiteCosts:
    """Every pair may link, at the cost between their sites: ``table`` is a SITE_COSTS table."""

    table: DataFrame


@dataclass(frozen=True)
class CoordinateCosts:
    """Every pair may link, at the distance between the coordinates of the NODES table, plus both heights."""


LinkCosts = ListedCosts | SiteCosts | CoordinateCosts


@dataclass(frozen=True)
class OverlayProblem:
    """Who wants what, and what links cost.

    Nodes are those of ``nodes`` where it is given, else those subscribed. Only listed costs do without ``nodes``.
    ``unit`` is the cost that counts as 1 inside; ``options.costs.unit`` where it is not given.
    """

    subscriptions: DataFrame
    costs: LinkCosts
    nodes: DataFrame | None = None
    unit: float | None = None

    def __post_init__(self) -> None:
        if self.unit is not None:
            CostOptions(unit=self.unit)  # refuses what is no unit
        given = self._tables()
        faults = [fault for table, frame in given for fault in table.schema_faults(frame)[0]]
        if self.nodes is None and isinstance(self.costs, SiteCosts):
            faults.append("Table 'nodes' is not given. Site costs need it, to know the site of each node.")
        if self.nodes is None and isinstance(self.costs, CoordinateCosts):
            faults.append("Table 'nodes' is not given. Costs by coordinates need it, to know where each node is.")
        if faults:
            raise InputError(faults)
        for table, frame in given:
            conformed = table.conform(frame)
            if table in (catalog.LINK_COSTS, catalog.SITE_COSTS):
                assert not isinstance(self.costs, CoordinateCosts)
                object.__setattr__(self, "costs", replace(self.costs, table=conformed))
            else:
                object.__setattr__(self, table.name, conformed)

    def _tables(self) -> list[tuple[Table, DataFrame]]:
        given: list[tuple[Table, DataFrame | None]] = [
            (catalog.SUBSCRIPTIONS, self.subscriptions),
            (catalog.LINK_COSTS, self.costs.table if isinstance(self.costs, ListedCosts) else None),
            (catalog.SITE_COSTS, self.costs.table if isinstance(self.costs, SiteCosts) else None),
            (catalog.NODES, self.nodes),
        ]
        return [(table, frame) for table, frame in given if frame is not None]

    @property
    def frames(self) -> list[DataFrame]:
        """The tables that were given."""
        return [frame for _, frame in self._tables()]

    def counted_in(self, unit: float) -> OverlayProblem:
        """The same problem with this unit, where it has none of its own."""
        return self if self.unit is not None else replace(self, unit=unit)

    @property
    def unit_cost(self) -> float:
        """The cost that counts as 1 inside."""
        return CostOptions().unit if self.unit is None else self.unit


@dataclass(frozen=True, kw_only=True)
class StoredOverlay:
    """An overlay designed or refreshed before, as its tables: OVERLAY_LINKS, OVERLAY_NODES and OVERLAY_TOPICS, and
    OVERLAY_BACKUPS where they were kept.

    ``changes`` (node_id, topic_id, change) are the subscriptions that came (1) or went (-1) since, each once.
    """

    links: DataFrame
    nodes: DataFrame
    topics: DataFrame
    changes: DataFrame
    backups: DataFrame | None = None


@dataclass(frozen=True, kw_only=True)
class PackedOverlay:
    """An overlay as a refresh left it, packed: OVERLAY_STATE. The subscriptions of then are in it; those of now follow
    from the ``changes`` since, which are as for :class:`StoredOverlay`."""

    state: DataFrame
    changes: DataFrame
