"""Groups of near things: bounded, complete, near."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.clustering import bisected, centres_of, merged, pieces_of
from overlay_spark.kernels.nearest import nearest
from tests.strategies import SEEDS

SIZES = st.integers(0, 60)


def points_of(rng, n, dimensions=2):
    return rng.integers(0, 8, (n, dimensions)) * 1.0


@given(SEEDS, SIZES, st.integers(1, 20), st.integers(1, 5), st.integers(0, 3))
def test_bisected__keeps_to_weight_and_rows(seed, n, most, most_rows, dimensions):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 6, n)
    labels = bisected(points_of(rng, n, dimensions), weights, most, most_rows)
    assert sorted(set(labels.tolist())) == list(range(len(set(labels.tolist()))))
    for label in set(labels.tolist()):
        inside = labels == label
        assert inside.sum() == 1 or (weights[inside].sum() <= most and inside.sum() <= most_rows)


@given(SEEDS, SIZES, st.integers(1, 20))
def test_pieces__are_as_many_as_there_are(seed, n, most):
    labels = bisected(points_of(np.random.default_rng(seed), n), np.ones(n), most)
    assert len(set(labels.tolist())) == (pieces_of(n, most) if n else 0)


def test_bisected__parts_across_the_widest_dimension():
    points = np.array([[0.0, 0.0], [0.0, 9.0], [1.0, 0.5], [1.0, 8.0]])
    assert bisected(points, np.ones(4), 2).tolist() == [0, 1, 0, 1]


@given(SEEDS, SIZES, st.integers(0, 9), st.integers(1, 20))
def test_merged__leaves_cells_that_are_large_enough_and_keeps_to_the_most(seed, n, least, most):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n)
    labels = merged(points_of(rng, n), sizes, least, most)
    assert list(dict.fromkeys(labels.tolist())) == list(range(len(set(labels.tolist()))))
    totals = np.bincount(labels, sizes) if n else np.empty(0)
    for label, total in enumerate(totals):
        cells = sizes[labels == label]
        assert len(cells) == 1 or total <= most
        assert not (cells >= least).sum() > 1
        room = [other for other in range(len(totals)) if other != label and totals[other] + total <= most]
        assert total >= least or not room


def test_merged__goes_by_nearness():
    vectors = np.array([[0.0], [10.0], [0.1], [10.1]])
    assert merged(vectors, np.array([5, 5, 1, 1]), 2, 6).tolist() == [0, 1, 0, 1]


def test_centres__find_clumps_that_are_apart():
    rng = np.random.default_rng(1)
    clumps = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0], [100.0, 100.0]])
    points = clumps[rng.integers(0, 4, 400)] + rng.random((400, 2))
    centres = centres_of(points, 7)
    assert sorted(nearest(clumps + 0.5, centres).tolist()) == list(range(len(centres))) == [0, 1, 2, 3]
    assert centres_of(np.empty((0, 2)), 3).shape == (0, 2)
