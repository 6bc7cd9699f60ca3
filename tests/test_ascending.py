"""Numbers looked up among ascending ones, beside a naive search."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.ascending import places_among

NUMBERS = st.lists(st.integers(-5, 5), max_size=12)


@given(NUMBERS, NUMBERS)
def test_each_is_found_at_its_first_place(known: list[int], asked: list[int]) -> None:
    known = sorted(known)
    found = places_among(np.array(known, np.int64), np.array(asked, np.int64))
    assert found.tolist() == [known.index(number) if number in known else -1 for number in asked]
