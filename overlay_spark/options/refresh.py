"""What a refresh may do to a stored overlay."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require

SHARES = ("most_added", "most_removed", "most_recosted", "most_nodes_lost", "most_drift")


@dataclass(frozen=True, kw_only=True)
class RefreshOptions:
    """A refresh that would add, remove or re-cost more than these shares of the links, or finds more than that share of
    the nodes gone, stops and asks for approval.

    Where links have become dearer per topic they join than ``most_drift`` above a new design, a refresh says so; with
    ``redesign_on_drift`` it designs anew. Where the change feed has a hole it refuses, or with ``redesign_on_hole``
    designs anew, whatever that changes. Overlays of at most ``backups_up_to`` nodes keep their backups in a table;
    larger ones do without by cost, and choose them when they are needed by degree.
    """

    most_added: float = 0.3
    most_removed: float = 0.3
    most_recosted: float = 0.5
    most_nodes_lost: float = 0.2
    most_drift: float = 0.1
    redesign_on_drift: bool = False
    redesign_on_hole: bool = False
    backups_up_to: int = 5000

    def __post_init__(self) -> None:
        for name in SHARES:
            share = getattr(self, name)
            require(share >= 0, f"refresh.{name} must be at least 0, got {share}.")
        require(self.backups_up_to >= 0, f"refresh.backups_up_to must be at least 0, got {self.backups_up_to}.")
