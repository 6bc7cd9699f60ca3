"""How the compiled kernels work."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require


@dataclass(frozen=True, kw_only=True)
class KernelOptions:
    """How many candidates the kernels hold at a time, 20 to 40 bytes each: ``band`` = 0 lets them choose."""

    band: int = 0

    def __post_init__(self) -> None:
        require(self.band >= 0, f"kernel.band must be at least 0, got {self.band}.")
