"""What calls give back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from overlay_spark.frames.lineage import Holder


@dataclass(frozen=True)
class Overlay:
    """A verified overlay: ``links``, ``topics`` and ``nodes`` as the OVERLAY_* tables, and its figures.

    ``lower_bound`` is a cost no overlay can beat, ``bound`` says which bound it is and ``gap`` is how far the cost
    lies above it, as a share; all None where no bound was computed. Intermediate results stay cached until
    :meth:`release`: call it before the same files are read again with other contents.
    """

    links: DataFrame
    topics: DataFrame
    nodes: DataFrame
    metrics: Mapping[str, Any]
    algorithm: str
    engine: str
    facts: Mapping[str, Any]
    lower_bound: float | None = None
    bound: str | None = None
    holder: Holder = field(default_factory=Holder, repr=False)

    @property
    def gap(self) -> float | None:
        if not self.lower_bound:
            return None
        return float(self.metrics["cost"]) / self.lower_bound - 1

    def release(self) -> None:
        """Let Spark drop what was cached for this overlay; its DataFrames would be computed anew."""
        self.holder.release()


@dataclass(frozen=True)
class Estimate:
    """What computing an overlay will take. ``candidates`` are exact, or at most this many where not ``is_exact``.

    ``engine`` can compute it where ``fits``: the task that solves it then needs no more than ``design.task_memory``.
    ``time_class`` is seconds, minutes or hours.
    """

    nodes: int
    topics: int
    subscriptions: int
    candidates: int
    is_exact: bool
    task_bytes: int
    engine: str
    fits: bool
    time_class: str


@dataclass(frozen=True)
class Verification:
    """Whether an overlay is right. ``broken_topics`` (topic_id, side, nodes) has a row for each side of each broken
    topic; ``faults`` is one sentence for each thing wrong, broken topics among them."""

    ok: bool
    broken_topics: DataFrame
    faults: tuple[str, ...]
    components: str
    holder: Holder = field(default_factory=Holder, repr=False)

    def release(self) -> None:
        """Let Spark drop what was cached for this verification."""
        self.holder.release()
