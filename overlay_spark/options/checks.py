"""What option values must be, said in one way."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from overlay_spark.errors import OptionError


def require(condition: bool, message: str) -> None:
    if not condition:
        raise OptionError(message)


def require_memory(name: str, value: str) -> None:
    require(re.fullmatch(r"[1-9]\d*[mg]", value) is not None, f"{name} must look like 800m or 8g, got {value!r}.")


def require_one_of(name: str, known: tuple[str, ...], value: str) -> None:
    require(value in known, f"{name} must be one of {', '.join(known)}, got {value!r}.")


def nearest(name: str, known: Iterable[str]) -> str:
    """What was probably meant by a name nobody knows; all known names where none is near."""
    choices = sorted(known)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else f" Known: {', '.join(choices)}."
