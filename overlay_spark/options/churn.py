"""How an overlay is kept up while nodes come and go."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require, require_one_of

AUTO, COST, DEGREE = OBJECTIVES = ("auto", "cost", "degree")
GREEDY, PRIMAL_DUAL = COVERS = ("greedy", "primal_dual")
LOWEST, RANDOM = PICKS = ("lowest", "random")


@dataclass(frozen=True, kw_only=True)
class ChurnOptions:
    """Repairs link shadow nodes: former neighbours of what left, and backups.

    A node's backups are ``coverage`` disjoint sets of nodes, each of which wants all of its topics; ``backups`` says
    how they are chosen, ``pick`` which topic primal-dual covers next (in refreshes the lowest). Repairs take links by
    their cost per topic joined, or by ``objective`` "degree" as low_degree does, with ``degrees.k``; "auto" is "degree"
    for an overlay that low_degree or min_max_degree designed. With ``trim`` links near a repair that no topic needs are
    dropped; then, for each node that came or went, ``exchange`` links near it that do least are given up where others
    can take over with less: not so many where topics are so large that it would take long.
    """

    objective: str = AUTO
    coverage: int = 3
    backups: str = PRIMAL_DUAL
    pick: str = LOWEST
    trim: bool = True
    exchange: int = 24

    @property
    def by_degree(self) -> bool:
        return self.objective == DEGREE

    def __post_init__(self) -> None:
        require_one_of("churn.objective", OBJECTIVES, self.objective)
        require_one_of("churn.backups", COVERS, self.backups)
        require_one_of("churn.pick", PICKS, self.pick)
        require(self.coverage >= 1, f"churn.coverage must be at least 1, got {self.coverage}.")
        require(self.exchange >= 0, f"churn.exchange must be at least 0, got {self.exchange}.")
