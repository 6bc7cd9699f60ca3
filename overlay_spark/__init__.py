"""overlay_spark: which broker links to which, computed where the tables are.

Names load on first use, so that importing the package loads neither Spark nor a compiler.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlay_spark.api import design, estimate, refresh, verify
    from overlay_spark.errors import (
        FeedError,
        GuardError,
        InputError,
        OptionError,
        OverlayError,
        SetupError,
        VerificationError,
    )
    from overlay_spark.options import Options
    from overlay_spark.problems import (
        CoordinateCosts,
        ListedCosts,
        OverlayProblem,
        PackedOverlay,
        SiteCosts,
        StoredOverlay,
    )
    from overlay_spark.results import Estimate, Overlay, Refresh, Verification

try:
    __version__ = version("overlay-spark")
except PackageNotFoundError:  # run from a zip of the sources
    __version__ = "unknown"

_HOMES = {
    "api": ("design", "estimate", "refresh", "verify"),
    "errors": (
        "FeedError",
        "GuardError",
        "InputError",
        "OptionError",
        "OverlayError",
        "SetupError",
        "VerificationError",
    ),
    "options": ("Options",),
    "problems": ("CoordinateCosts", "ListedCosts", "OverlayProblem", "PackedOverlay", "SiteCosts", "StoredOverlay"),
    "results": ("Estimate", "Overlay", "Refresh", "Verification"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CoordinateCosts",
    "Estimate",
    "FeedError",
    "GuardError",
    "InputError",
    "ListedCosts",
    "OptionError",
    "Options",
    "Overlay",
    "OverlayError",
    "OverlayProblem",
    "PackedOverlay",
    "Refresh",
    "SetupError",
    "SiteCosts",
    "StoredOverlay",
    "Verification",
    "VerificationError",
    "design",
    "estimate",
    "refresh",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'overlay_spark' has no attribute {name!r}")
    return getattr(importlib.import_module(f"overlay_spark.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
