"""Which overlay to compute."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require, require_memory


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """Which overlay to compute: ``algorithm`` and ``engine`` by name, ``seed`` for algorithms and steps that draw.

    ``then`` names the steps that follow (engine divide takes them inside each part). ``bound`` names a lower bound on
    the cost of every overlay, to be computed where the algorithm does not prove one itself. A problem whose solving
    task would need more than ``task_memory`` is refused beforehand. With more than ``exact_candidates`` links to look
    at, engine ``auto`` solves it in parts.
    """

    algorithm: str = "greedy"
    engine: str = "auto"
    seed: int = 0
    then: tuple[str, ...] = ()
    bound: str | None = None
    task_memory: str = "8g"
    exact_candidates: int = 1_000_000_000

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**63, f"design.seed must be from 0 to 2^63 - 1, got {self.seed}.")
        require(self.exact_candidates >= 0, f"design.exact_candidates must be at least 0, got {self.exact_candidates}.")
        require_memory("design.task_memory", self.task_memory)

    @property
    def task_bytes(self) -> int:
        """``task_memory`` as a number of bytes."""
        return int(self.task_memory[:-1]) << {"m": 20, "g": 30}[self.task_memory[-1]]
