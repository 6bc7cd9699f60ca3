"""The one decorator of all kernels.

Kernels are compiled by numba, and their machine code is kept on disk (_cache.py). With ``NUMBA_DISABLE_JIT=1`` they
run as plain Python, which is how coverage and the second pass of the tests see them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.options import DefaultOptions

from overlay_spark.kernels._cache import kept_code

F = TypeVar("F", bound=Callable[..., Any])

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def kernel(function: F) -> F:
    """Compile ``function``, exact in floating point (no fast math); keep the machine code for the next process."""
    return _compiled(function, {})


def leaf(function: F) -> F:
    """A kernel that makes no arrays and keeps none: references to those it is given need not be counted.

    Counting them took three quarters of the time of whole selections, whose innermost functions get some thirty arrays
    in a tuple. The switch is numba's own and not for everybody; where a release has it no more, the same code is
    compiled without.
    """
    return _compiled(function, {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {})


def _compiled(function: F, switches: dict[str, Any]) -> F:
    compiled = cast(Any, numba.njit)(nogil=True, **switches)(function)
    if IS_COMPILED and (code := kept_code(function)):
        compiled._cache = code  # what numba's own ``cache=True`` does, with a cache of its own choice
    return cast(F, compiled)


def inlined(function: F) -> F:
    """A few lines that are copied into the kernels that call them, and compiled there."""
    return cast(F, numba.njit(inline="always")(function))


if IS_COMPILED:

    @kernel
    def popcount(word: np.uint64) -> np.int64:
        """How many bits of the word are set; the optimiser turns this idiom into one instruction."""
        pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
        quads = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
        octets = (quads + (quads >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return np.int64((octets * np.uint64(0x0101010101010101)) >> np.uint64(56))

else:

    def popcount(word: np.uint64) -> np.int64:
        """How many bits of the word are set."""
        return np.int64(int(word).bit_count())
