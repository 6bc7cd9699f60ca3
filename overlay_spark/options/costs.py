"""How costs become whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require


@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """How costs become whole numbers: ``unit`` is the cost that counts as 1 inside."""

    unit: float = 1e-6

    def __post_init__(self) -> None:
        require(1e-30 <= self.unit <= 1e30, f"costs.unit must be a number from 1e-30 to 1e30, got {self.unit}.")
