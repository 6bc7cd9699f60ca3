"""Experiments of the papers measured anew, a file each, by the papers' numbers.

To add one: ``paper_<number>.py`` with its plans, what the paper states and a measure, together as ``EXPERIMENT``; and a
line here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from overlay_spark.lab.experiments.shared import Experiment

PAPERS = {
    "000": "weighted overlays, figures 4 to 9",
    "001": "degrees and diameters, figures 1 to 5",
    "003": "overlays under churn, figures 2 to 8",
}


def find(paper: str) -> Experiment:
    """The experiment of a paper; loaded when asked for, so that names cost nothing."""
    return cast("Experiment", importlib.import_module(f"{__name__}.paper_{paper}").EXPERIMENT)
