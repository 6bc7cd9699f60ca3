from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels import _cache, _jit
from tests.strategies import COMPILED

ALL = 2**64 - 1


@pytest.mark.parametrize("word", [0, 1, 2**63, ALL, ALL - 1, 2**63 - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA])
def test_popcount__is_right_at_the_extremes(word):
    assert _jit.popcount(np.uint64(word)) == word.bit_count()


@pytest.mark.parametrize("bit", range(64))
def test_popcount__sees_every_single_bit(bit):
    assert _jit.popcount(np.uint64(1 << bit)) == 1
    assert _jit.popcount(np.uint64(ALL ^ (1 << bit))) == 63


@given(st.integers(0, ALL))
def test_popcount__counts_the_bits_of_any_word(word):
    assert _jit.popcount(np.uint64(word)) == word.bit_count()


@pytest.mark.parametrize("decorator", [_jit.kernel, _jit.leaf, _jit.inlined])
def test_decorator__compiles_unless_the_environment_says_otherwise(decorator):
    def third(x):
        return x / 3

    assert decorator(third)(1) == 1 / 3
    assert hasattr(decorator(third), "py_func") == COMPILED


def test_kernel__keeps_no_code_of_what_is_not_ours():
    def third(x):
        return x / 3

    kernel = _jit.kernel(third)
    assert kernel(2) == 2 / 3
    if COMPILED:
        assert kernel.stats.cache_path is None


def test_kernel__keeps_the_code_of_ours():
    if COMPILED:
        from overlay_spark.kernels.heaps import heapify

        assert Path(heapify.stats.cache_path).name == _cache.source_hash()


def test_kernel__keeps_floating_point_exact():
    def lost(x, y):
        return (x + y) - x

    assert _jit.kernel(lost)(1e16, 1.0) == 0.0
