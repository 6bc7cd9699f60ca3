from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels.drawing import draw_items, item_at, set_weight, sum_tree
from tests.strategies import SEEDS

LEAST, MOST = 2.0**-53, 1 - 2.0**-53
"""The ends of what uniform numbers are: never 0, never 1."""

weights = st.lists(st.one_of(st.integers(1, 4), st.integers(1, 2**30)), min_size=1, max_size=70)
"""Whole numbers, whose sums are exact in whatever order they are added up."""
numbers = st.one_of(st.sampled_from([LEAST, 0.25, 0.5, 0.75, MOST]), st.floats(LEAST, MOST))
any_weights = st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=70)


def drawn_one_by_one(weights, numbers):
    """By the definition: the first item with which the weights left, added up in order, exceed the number's share."""
    left, drawn = np.array(weights, np.float64), []
    for number in numbers:
        sums = np.cumsum(left)
        drawn.append(int(np.argmax(sums > number * sums[-1])))
        left[drawn[-1]] = 0
    return drawn


def drawn_by(weights, rows):
    """What is drawn by each row of numbers, which may be of different lengths."""
    counts = np.array([len(row) for row in rows], np.int64)
    uniforms = np.full((len(rows), max(counts)), np.nan)
    for filled, row in zip(uniforms, rows, strict=True):
        filled[: len(row)] = row
    drawn = draw_items(np.array(weights, np.float64), counts, uniforms)
    return [part.tolist() for part in np.split(drawn, np.cumsum(counts)[:-1])]


@given(weights, st.data())
def test_draw_items__finds_those_of_the_definition(weights, data):
    rows = data.draw(st.lists(st.lists(numbers, max_size=len(weights)), min_size=1, max_size=4))
    assert drawn_by(weights, rows) == [drawn_one_by_one(weights, row) for row in rows]


@given(any_weights, SEEDS)
def test_draw_items__draws_rows_that_do_not_depend_on_each_other(weights, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.random(rng.integers(0, len(weights) + 1)) for _ in range(5)]
    assert drawn_by(weights, rows) == [drawn_by(weights, [row])[0] for row in rows]


@given(any_weights, SEEDS)
def test_draw_items__of_all_draws_each_once(weights, seed):
    (drawn,) = drawn_by(weights, [np.random.default_rng(seed).random(len(weights))])
    assert sorted(drawn) == list(range(len(weights)))


def test_draw_items__draws_every_order_as_often_as_its_chance():
    shares, n = np.array([1, 2, 3, 10]) / 16, 20_000
    found = draw_items(16 * shares, np.full(n, 2), np.random.default_rng(1).random((n, 2))).reshape(n, 2)
    distance = 0.0
    for first, second in permutations(range(4), 2):
        expected = n * shares[first] * shares[second] / (1 - shares[first])
        distance += ((found == [first, second]).all(axis=1).sum() - expected) ** 2 / expected
    assert distance < 40  # chi-square of 11 degrees of freedom: above once in 30 000 seeds


def test_draw_items__sees_weights_far_below_what_was_drawn():
    weights = 10.0 ** -np.arange(0, 301, 20)
    assert drawn_by(weights, [np.full(16, 0.5)] * 2) == [list(range(16))] * 2
    assert drawn_by(weights[::-1], [np.full(16, 0.5)] * 2) == [list(range(15, -1, -1))] * 2


def test_draw_items__draws_none_twice_where_rounding_goes_beyond_the_sum():
    weights = [0.1] * 7
    assert drawn_by(weights, [[1.0] * 7]) == [[6, 5, 4, 3, 2, 1, 0]]
    assert drawn_by(np.full(5, np.finfo(float).tiny), [[MOST] * 5]) == [[4, 3, 2, 1, 0]]


def test_draw_items__of_nothing_is_nothing():
    assert drawn_by([], [[], []]) == [[], []]
    assert drawn_by([3.0], [[], [0.5]]) == [[], [0]]


@given(any_weights)
def test_sum_tree__holds_the_weights_and_above_them_their_sums(weights):
    tree = sum_tree(np.array(weights))
    width = len(tree) // 2
    assert width == 1 or width // 2 < len(weights) <= width
    assert tree[width:].tolist() == weights + [0.0] * (width - len(weights))
    assert all(tree[at] == tree[2 * at] + tree[2 * at + 1] for at in range(1, width))


@given(any_weights, st.data())
def test_set_weight__gives_the_tree_of_the_new_weights(weights, data):
    tree = sum_tree(np.array(weights))
    changed = np.array(weights)
    for item in data.draw(st.lists(st.integers(0, len(weights) - 1), max_size=9)):
        weight = data.draw(st.sampled_from([0.0, weights[item], 1.0]))
        changed[item] = weight
        set_weight(tree, item, weight)
        assert tree.tobytes() == sum_tree(changed).tobytes()


@pytest.mark.parametrize("share, item", [(0.0, 1), (1.9, 1), (2.0, 2), (2.5, 4), (6.9, 4), (7.0, 4), (99.0, 4)])
def test_item_at__passes_by_items_of_no_weight(share, item):
    assert item_at(sum_tree(np.array([0.0, 2.0, 0.5, 0.0, 4.5, 0.0])), share) == item
