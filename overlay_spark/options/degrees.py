"""How overlays of low degrees are designed."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require


@dataclass(frozen=True, kw_only=True)
class DegreeOptions:
    """``low_degree`` takes the best link among those that raise the greatest degree least, unless another is more than
    ``k`` times better: a lower ``k`` means fewer links, a higher one lower degrees. With ``weighted`` links are rated
    by the topics they join per cost; else costs do not matter.
    """

    k: float = 3.0
    weighted: bool = False

    def __post_init__(self) -> None:
        require(self.k >= 1, f"degrees.k must be at least 1, got {self.k}.")
