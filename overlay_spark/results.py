"""What calls give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, Self

from pyspark.sql import DataFrame


class Closes(Protocol):
    """What holds rows of a result and can let them go."""

    def close(self) -> None: ...


class _Result:
    """A result whose intermediate rows are kept until it is closed; use it in a ``with`` block, or call close()."""

    workspace: Closes

    def close(self) -> None:
        """Let go what was kept for this result: read its DataFrames before. Forgetting it costs memory only."""
        self.workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """An overlay in figures. Means over topics count those whose diameter was measured; None where none was."""

    nodes: int
    topics: int
    links: int
    cost: float
    average_degree: float
    average_weighted_degree: float
    max_degree: int
    topics_measured: int
    largest_diameter: int | None
    average_diameter: float | None
    average_weighted_diameter: float | None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """How an overlay came about."""

    choice: str
    """Which engine was chosen, and why."""
    method: str
    """How topic-connected components were found when it was verified."""
    solve_seconds: float
    """What the algorithm itself took, summed over tasks; in rounds, all of them by the clock."""
    sum_of_trees: float | None = None
    """What the topics' trees cost when each topic pays for its own, where the algorithm builds trees."""


@dataclass(frozen=True, kw_only=True)
class Overlay(_Result):
    """A verified overlay: ``links``, ``topics`` and ``nodes`` as the OVERLAY_* tables, and its figures.

    ``lower_bound`` is a cost no overlay can beat, ``bound`` says which bound it is and ``gap`` is how far the cost
    lies above it, as a share; all None where no bound was computed.
    """

    links: DataFrame
    topics: DataFrame
    nodes: DataFrame
    metrics: Metrics
    facts: Facts
    algorithm: str
    engine: str
    lower_bound: float | None = None
    bound: str | None = None
    workspace: Closes = field(repr=False)

    @property
    def gap(self) -> float | None:
        if not self.lower_bound:
            return None
        return self.metrics.cost / self.lower_bound - 1


@dataclass(frozen=True, kw_only=True)
class RefreshMetrics:
    """What a refresh changes, in figures. ``joined`` is how many components links join, over all topics; costs in your
    unit."""

    links_before: int
    links: int
    added: int
    removed: int
    recosted: int
    updated: int
    nodes_before: int
    nodes_lost: int
    nodes: int
    topics: int
    topics_touched: int
    topics_apart: int
    shadow_nodes: int
    cost_before: float
    cost: float
    joined_before: int
    joined: int
    max_degree: int
    solve_seconds: float


@dataclass(frozen=True, kw_only=True)
class Refresh(_Result):
    """A checked overlay as changes of a stored one: ``changes`` (action, step, and the columns of OVERLAY_LINKS), of
    which those of action ``update`` are in no step; the others are whole tables."""

    changes: DataFrame
    topics: DataFrame
    nodes: DataFrame
    backups: DataFrame
    state: DataFrame
    metrics: RefreshMetrics
    workspace: Closes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class EngineEstimate:
    """What one engine would take: ``candidates`` to look at, in about so many ``tasks`` of at most ``task_bytes``.

    ``driver_bytes`` is what the driver solves itself; ``time_class`` is seconds, minutes or hours; ``refusal`` says why
    it would not be taken.
    """

    name: str
    candidates: int
    tasks: int
    task_bytes: int
    driver_bytes: int
    time_class: str
    refusal: str | None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What computing an overlay will take.

    ``candidates`` are counted where ``is_exact``, about so many where ``is_sampled``, and else at most so many.

    ``engine`` can compute it where ``fits``; ``choice`` says which engine was chosen and why. ``engines`` tells what
    each that has the algorithm would take.
    """

    nodes: int
    topics: int
    subscriptions: int
    candidates: int
    is_exact: bool
    is_sampled: bool
    engine: str
    fits: bool
    choice: str
    engines: tuple[EngineEstimate, ...]


@dataclass(frozen=True, kw_only=True)
class Verification(_Result):
    """Whether an overlay is right. ``broken_topics`` (topic_id, side, nodes) has a row for each side of each broken
    topic; ``faults`` is one sentence for each thing wrong, broken topics among them. ``method`` is how components were
    found."""

    ok: bool
    broken_topics: DataFrame
    faults: tuple[str, ...]
    method: str
    stale: tuple[str, ...] = ()
    """A sentence for each table beside a stored overlay that belongs to an earlier one."""
    workspace: Closes = field(repr=False)
