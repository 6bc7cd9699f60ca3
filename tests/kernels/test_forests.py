"""The forest of ranked edges: what Kruskal by definition keeps, whatever the order of rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels.forests import forest
from tests import naive
from tests.strategies import SEEDS


def kept_by_definition(rows):
    """Rows (rank, src, dst, left, right): those whose ends no rows of lower (rank, src, dst) connect."""
    kept = []
    for i, (rank, src, dst, left, right) in enumerate(rows):
        lower = [(a, b) for r, s, d, a, b in rows if (r, s, d) < (rank, src, dst)]
        labels = naive.components({v for row in rows for v in row[3:]}, lower)
        if labels[left] != labels[right]:
            kept.append(i)
    return sorted(kept, key=lambda i: rows[i][:3])


@given(SEEDS, st.integers(0, 25), st.sampled_from([1, 3, 1000]), st.sampled_from([0, 2**40, 2**62]))
def test_forest__has_the_edges_that_no_lower_ones_make_needless(seed, n, ranks, offset):
    rng = np.random.default_rng(seed)
    rank = rng.integers(1, ranks + 1, n) / rng.integers(1, 4, n)
    links = rng.permutation(100)[:n]
    src, dst = links // 10, 10 + links % 10
    left, right = offset + rng.integers(0, 8, n), offset + rng.integers(0, 8, n)
    found = forest(rank, src, dst, left, right)
    rows = list(zip(*(column.tolist() for column in (rank, src, dst, left, right)), strict=True))
    assert found.tolist() == kept_by_definition(rows)


@given(SEEDS, st.integers(1, 30), st.integers(1, 6))
def test_forest__of_all_is_the_forest_of_the_forests_of_parts(seed, n, parts):
    rng = np.random.default_rng(seed)
    rank, src, dst = rng.integers(1, 5, n).astype(float), np.arange(n), np.arange(n) + 100
    left, right = rng.integers(0, 9, n), rng.integers(0, 9, n)
    columns = (rank, src, dst, left, right)
    part = rng.integers(0, parts, n)
    thinned = []
    for p in range(parts):
        these = np.flatnonzero(part == p)
        thinned += these[forest(*(column[these] for column in columns))].tolist()
    these = np.array(thinned, int)
    assert these[forest(*(column[these] for column in columns))].tolist() == forest(*columns).tolist()
