"""Results made up, to see how they are printed."""

from __future__ import annotations

from typing import Any

from overlay_spark.results import Facts, Metrics

NOTHING_MEASURED = {
    "topics_measured": 0,
    "largest_diameter": None,
    "average_diameter": None,
    "average_weighted_diameter": None,
}


def metrics(**changed: Any) -> Metrics:
    figures: dict[str, Any] = {
        "nodes": 1200,
        "topics": 30,
        "links": 1500,
        "cost": 1234.5,
        "average_degree": 2.5,
        "average_weighted_degree": 9.75,
        "max_degree": 17,
        "topics_measured": 30,
        "largest_diameter": 9,
        "average_diameter": 4.25,
        "average_weighted_diameter": 80.6,
    }
    return Metrics(**{**figures, **changed})


def facts(**changed: Any) -> Facts:
    told: dict[str, Any] = {
        "solve_seconds": 0.5,
        "sum_of_trees": None,
        "method": "grouped",
        "choice": "kernel, as asked",
    }
    return Facts(**{**told, **changed})
