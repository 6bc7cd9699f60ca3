"""overlay_spark: which broker links to which, computed where the tables are.

Names load on first use, so that importing the package loads neither Spark nor a compiler.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlay_spark.api import design, verify
    from overlay_spark.errors import (
        InputError,
        OptionError,
        OverlayError,
        SetupError,
        VerificationError,
    )
    from overlay_spark.options import Options
    from overlay_spark.problems import ListedCosts, OverlayProblem, SiteCosts
    from overlay_spark.results import Overlay, Verification

try:
    __version__ = version("overlay-spark")
except PackageNotFoundError:  # run from a zip of the sources
    __version__ = "unknown"

_HOMES = {
    "api": ("design", "verify"),
    "errors": (
        "InputError",
        "OptionError",
        "OverlayError",
        "SetupError",
        "VerificationError",
    ),
    "options": ("Options",),
    "problems": ("ListedCosts", "OverlayProblem", "SiteCosts"),
    "results": ("Overlay", "Verification"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "InputError",
    "ListedCosts",
    "OptionError",
    "Options",
    "Overlay",
    "OverlayError",
    "OverlayProblem",
    "SetupError",
    "SiteCosts",
    "Verification",
    "VerificationError",
    "design",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'overlay_spark' has no attribute {name!r}")
    return getattr(importlib.import_module(f"overlay_spark.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
