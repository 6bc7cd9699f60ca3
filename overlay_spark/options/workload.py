"""What a made workload looks like."""

from __future__ import annotations

import math
from dataclasses import dataclass

from overlay_spark.options.checks import require, require_one_of

COSTS = ("plane", "file", "clusters", "pairs")


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    """What ``overlay-spark workload`` makes.

    How many of ``topics`` topics each of ``nodes`` nodes wants is drawn by ``sizes``:
    uniform    from ``least`` to ``most``, all sizes alike (``least`` = ``most``: all nodes want as many)
    power      from ``least`` to ``most``, size s as often as s^-exponent says: most nodes want few
    bernoulli  ``mean`` on average, each topic wanted or not by itself
    Popularity of topics falls by ``law``: unif (not at all), zipf (i^-alpha) or expo. Costs are drawn by ``costs``:
    plane     nodes are points of a square of the given ``side`` (``dimensions`` 2), cost is distance
    file      nodes take coordinates, or sites, of the measured set in ``file``
    clusters  nodes sit in ``clusters`` sites: cost ``inner`` within, ``outer`` between them, times 1 +- ``spread``
    pairs     every pair has a cost of its own, from ``low`` to ``high``: a table of all pairs
    """

    seed: int = 0
    nodes: int = 1000
    topics: int = 200
    sizes: str = "uniform"
    least: int = 20
    most: int = 100
    exponent: float = 2.0
    mean: float = 10.0
    law: str = "unif"
    alpha: float = 2.0
    costs: str = "plane"
    file: str | None = None
    dimensions: int = 2
    side: float = 100.0
    clusters: int = 10
    inner: float = 1.0
    outer: float = 50.0
    spread: float = 0.5
    low: float = 1.0
    high: float = 100.0

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**63, f"workload.seed must be from 0 to 2^63 - 1, got {self.seed}.")
        require(self.nodes > 0, f"workload.nodes must be at least 1, got {self.nodes}.")
        require_one_of("workload.costs", COSTS, self.costs)
        require(
            (self.costs == "file") == (self.file is not None),
            "workload.file names the measured set of workload.costs = 'file': give both or neither.",
        )
        require(1 <= self.dimensions <= 16, f"workload.dimensions must be from 1 to 16, got {self.dimensions}.")
        require(self.clusters > 0, f"workload.clusters must be at least 1, got {self.clusters}.")
        for name in ("side", "inner", "outer", "low"):
            value = getattr(self, name)
            require(0 < value < math.inf, f"workload.{name} must be a number above 0, got {value}.")
        require(self.low <= self.high < math.inf, f"workload.high must be at least workload.low, got {self.high}.")
        require(0 <= self.spread < 1, f"workload.spread must be at least 0 and below 1, got {self.spread}.")
