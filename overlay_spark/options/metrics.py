"""What is measured of an overlay."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require


@dataclass(frozen=True, kw_only=True)
class MetricsOptions:
    """Diameters are exact, and left out (null) for topics with more than ``diameter_max_nodes`` nodes."""

    diameter_max_nodes: int = 2000

    def __post_init__(self) -> None:
        require(
            self.diameter_max_nodes >= 0,
            f"metrics.diameter_max_nodes must be at least 0, got {self.diameter_max_nodes}.",
        )
