"""A workload as its options describe it: what can be said, and refused, before any row is made."""

from __future__ import annotations

from dataclasses import dataclass, fields

from overlay_spark.errors import OptionError
from overlay_spark.options import Options, WorkloadOptions
from overlay_spark.workloads.interests import Interests
from overlay_spark.workloads.latencies import MeasuredPoints, MeasuredSites, read_measured

GROWS = (
    *("workload.topics=10000", "workload.law=zipf", "workload.alpha=1.0", "workload.least=10", "workload.most=30"),
    "design.engine=divide",
)
"""What the benchmark of growth is of: few of many topics, some of which most nodes want, in parts at any size."""


@dataclass(frozen=True)
class Workload:
    """What will be made: who wants what, and where nodes are or what links cost."""

    options: WorkloadOptions
    interests: Interests
    measured: MeasuredPoints | MeasuredSites | None

    @property
    def seed(self) -> int:
        return self.options.seed

    @property
    def points(self) -> MeasuredPoints | None:
        """The measured coordinates, None where no file was given; a file of anything else is refused."""
        if isinstance(self.measured, MeasuredSites):
            raise OptionError(f"{self.options.file}: has costs between sites, and this needs coordinates.")
        return self.measured

    @property
    def has_link_costs(self) -> bool:
        """Whether every pair of nodes has a cost of its own."""
        return self.options.costs == "pairs"

    @property
    def has_site_costs(self) -> bool:
        """Whether costs are between the sites of nodes."""
        return self.options.costs == "clusters" or isinstance(self.measured, MeasuredSites)


def plan_workload(options: Options) -> Workload:
    """The workload these options describe; refuses what cannot be made."""
    chosen = options.workload
    interests = Interests(**{field.name: getattr(chosen, field.name) for field in fields(Interests)})
    measured = read_measured(chosen.file, chosen.inner) if chosen.file is not None else None
    return Workload(chosen, interests, measured)
