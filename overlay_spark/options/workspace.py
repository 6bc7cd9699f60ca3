"""Where intermediate results are kept."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require


@dataclass(frozen=True, kw_only=True)
class WorkspaceOptions:
    """Where results wait that several jobs read, in a session that offers neither cache nor local checkpoint.

    ``staging`` is a folder for them (jobs take one beside their output); without it up to ``handover_rows`` rows at a
    time pass through the driver, and more are refused.
    """

    staging: str | None = None
    handover_rows: int = 2_000_000

    def __post_init__(self) -> None:
        require(self.handover_rows > 0, f"workspace.handover_rows must be at least 1, got {self.handover_rows}.")
