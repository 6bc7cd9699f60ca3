import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels import _jit
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


def test_is_compiled__follows_the_environment():
    assert COMPILED == _jit.IS_COMPILED


def test_kernel__works_where_nothing_can_be_cached():
    names = {}
    exec("def third(x):\n    return x / 3\n", names)  # no source file, hence no folder for a cache
    third = _jit.kernel(names["third"])
    assert third(1) == 1 / 3
    assert hasattr(third, "py_func") == COMPILED


def test_kernel__keeps_floating_point_exact():
    def lost(x, y):
        return (x + y) - x

    assert _jit.kernel(lost)(1e16, 1.0) == 0.0
