"""How the frames engine works in rounds."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require


@dataclass(frozen=True, kw_only=True)
class FramesOptions:
    """How candidates are worked off in rounds.

    Those of lowest rank come first, ``band_share`` of all that are left at a time, and at least ``least_band``: larger
    bands take fewer rounds and read candidates more often. A task gets no more than about ``topic_rows`` edges of a
    topic. Once ``finish_in_task`` candidates are left (0: never), the rest is done by the kernel in one task.
    Subscriptions and their components are broadcast to the candidates, by way of the driver, where there are no more
    than ``broadcast_subscriptions``. Problems of more than ``most_candidates`` are refused.
    """

    band_share: float = 0.1
    least_band: int = 30_000
    topic_rows: int = 5_000_000
    finish_in_task: int = 5_000_000
    broadcast_subscriptions: int = 2_000_000
    most_candidates: int = 500_000_000

    def __post_init__(self) -> None:
        require(0 < self.band_share <= 1, f"frames.band_share must be above 0 and at most 1, got {self.band_share}.")
        at_least_one = ("least_band", "topic_rows", "most_candidates")
        for name in (*at_least_one, "finish_in_task", "broadcast_subscriptions"):
            least, value = int(name in at_least_one), getattr(self, name)
            require(value >= least, f"frames.{name} must be at least {least}, got {value}.")
