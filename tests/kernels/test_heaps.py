import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels.heaps import heapify, pop_least, push, sift_down

pairs = st.lists(st.tuples(st.sampled_from([0.5, 1.0, 1.5, 2.0]), st.integers(0, 50)), max_size=80)


def arrays(rows):
    return np.array([rank for rank, _ in rows], np.float64), np.array([code for _, code in rows], np.int64)


def is_heap(rows):
    return all(rows[(at - 1) // 2] <= rows[at] for at in range(1, len(rows)))


def rows_of(ranks, codes):
    return list(zip(ranks.tolist(), codes.tolist(), strict=True))


@given(pairs)
def test_pop_least__gives_ranks_and_then_codes_in_order(rows):
    ranks, codes = arrays(rows)
    n = len(rows)
    heapify(ranks, codes, n)
    while n:
        n = pop_least(ranks, codes, n)
    assert rows_of(ranks, codes)[::-1] == sorted(rows)  # each popped pair is left behind the others


@given(pairs, st.data())
def test_heapify__orders_the_first_n_and_leaves_the_rest_alone(rows, data):
    n = data.draw(st.integers(0, len(rows)))
    ranks, codes = arrays(rows)
    heapify(ranks, codes, n)
    after = rows_of(ranks, codes)
    assert is_heap(after[:n])
    assert sorted(after[:n]) == sorted(rows[:n])
    assert after[n:] == rows[n:]


@given(pairs.filter(bool), st.tuples(st.sampled_from([0.0, 1.0, 1.2, 9.0]), st.integers(0, 50)))
def test_sift_down__restores_the_heap_after_the_root_has_risen_or_fallen(rows, root):
    ranks, codes = arrays(rows)
    heapify(ranks, codes, len(rows))
    kept = rows_of(ranks, codes)[1:]
    ranks[0], codes[0] = root
    sift_down(ranks, codes, len(rows), 0)
    after = rows_of(ranks, codes)
    assert is_heap(after)
    assert sorted(after) == sorted([root, *kept])


@given(pairs)
def test_push__keeps_a_heap_of_all_that_was_pushed(rows):
    ranks, codes = np.full(len(rows), np.nan), np.full(len(rows), -1)
    for n, (rank, code) in enumerate(rows):
        assert push(ranks, codes, n, rank, code) == n + 1
        after = rows_of(ranks, codes)[: n + 1]
        assert is_heap(after)
        assert sorted(after) == sorted(rows[: n + 1])
