import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.workloads.draws import _mix, uniforms
from tests.strategies import SEEDS

ROWS = np.arange(5000)
MASK = 2**64 - 1


def mix(x):
    """SplitMix64's output function in whole numbers of any size."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


@given(st.lists(st.integers(0, MASK), min_size=1))
def test_mix__is_that_of_splitmix64(words):
    with np.errstate(over="ignore"):
        assert _mix(np.array(words, np.uint64)).tolist() == [mix(word) for word in words]


def test_mix__gives_the_published_first_numbers_of_seed_0():
    steps = np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert _mix(steps).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@given(SEEDS, st.integers(0, 9), st.lists(st.integers(0, 2**40), max_size=30), st.integers(0, 30))
def test_uniforms__do_not_depend_on_how_rows_are_split(seed, stream, rows, cut):
    together = uniforms(seed, stream, np.array(rows, np.int64), 3)
    apart = [uniforms(seed, stream, np.array(part, np.int64), 3) for part in (rows[:cut], rows[cut:])]
    assert together.shape == (len(rows), 3)
    assert np.array_equal(together, np.concatenate(apart))


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_uniforms__do_not_depend_on_the_number_of_columns(seed, few, more):
    rows = np.arange(4)
    assert np.array_equal(uniforms(seed, 1, rows, few + more)[:, :few], uniforms(seed, 1, rows, few))


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_uniforms__are_spread_evenly_over_0_to_1(seed):
    draws = uniforms(seed, 1, ROWS, 4)
    assert 0 < draws.min() < draws.max() < 1
    counts = np.histogram(draws, bins=20, range=(0, 1))[0]
    assert (abs(counts - draws.size / 20) < 6 * np.sqrt(draws.size / 20)).all()
    assert draws.mean() == pytest.approx(1 / 2, abs=0.01)
    assert draws.var() == pytest.approx(1 / 12, abs=0.005)


def test_uniforms__of_neighbouring_seeds_streams_rows_and_columns_are_unrelated():
    base = uniforms(5, 1, ROWS, 2)
    others = {
        "seed": uniforms(6, 1, ROWS, 2)[:, 0],
        "stream": uniforms(5, 2, ROWS, 2)[:, 0],
        "row": uniforms(5, 1, ROWS + 1, 2)[:, 0],
        "column": base[:, 1],
    }
    for name, draws in others.items():
        assert abs(np.corrcoef(base[:, 0], draws)[0, 1]) < 0.06, name
    assert len(np.unique(np.concatenate([base[:, 0], others["seed"], others["stream"], base[:, 1]]))) == 4 * len(ROWS)
