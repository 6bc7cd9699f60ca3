from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.costs import MAX_UNITS
from overlay_spark.kernels import waiting as kernels


def chains_of(waiting):
    chains = []
    for at in waiting.head.tolist():
        chain = []
        while at >= 0:
            chain.append(int(waiting.code[at]))
            at = int(waiting.next[at])
        chains.append(sorted(chain))
    return chains


def test_wait__keeps_every_candidate_in_the_chain_of_its_bin():
    n = 300
    waiting = kernels.nobody_waits(3, n)
    for code in range(n):
        kernels.wait(waiting, code % 4, 3, code)  # bin 3 is beyond the band
    assert chains_of(waiting) == [list(range(b, n, 4)) for b in range(3)]


def test_leave__gives_the_place_to_the_next_that_waits():
    waiting = kernels.nobody_waits(2, 3)
    for code in (10, 11, 12):
        kernels.wait(waiting, 0, 2, code)
    at = waiting.head[0]
    while at >= 0:
        at = kernels.leave(waiting, at)
    waiting.head[0] = -1
    for code in (20, 21, 22):  # there is room for three in all
        kernels.wait(waiting, 1, 2, code)
    assert chains_of(waiting) == [[], [20, 21, 22]]


@given(st.floats(2**-20, 2**40), st.floats(2**-20, 2**40))
def test_bin__never_falls_as_the_rank_rises(a, b):
    low, high = sorted((a, b))
    assert kernels.bin_of(low) <= kernels.bin_of(high)
    assert kernels.bin_of(2 * low) == kernels.bin_of(low) + 2**9


def test_bins_of__hold_the_least_and_the_greatest_rank_there_can_be():
    first, n = kernels.bins_of(1000)
    assert first == kernels.bin_of(1 / 1000)
    assert first + n - 1 == kernels.bin_of(float(MAX_UNITS))
