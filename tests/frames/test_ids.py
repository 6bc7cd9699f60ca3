"""Ids as numbers: in the order of their UTF-8 bytes, whatever form they come in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.frames.ids import in_order, numbered, places_of
from tests.frames.churned import LETTERS

NAMES = st.lists(st.text(LETTERS, min_size=1, max_size=2), min_size=1, max_size=12)


@pytest.mark.parametrize("is_coded", [False, True])
@given(names=NAMES, data=st.data())
def test_ids__are_numbered_in_the_order_of_their_bytes_also_where_only_some_count(is_coded, names, data):
    ids = pa.chunked_array([pa.array(names[:3]), pa.array(names[3:], pa.string())])
    known = sorted(set(names), key=str.encode)
    given_ids = ids.combine_chunks().dictionary_encode() if is_coded else ids
    numbers, told = numbered(pa.chunked_array([given_ids]) if is_coded else given_ids)
    assert told.to_pylist() == in_order(ids).to_pylist() == known
    assert numbers.tolist() == [known.index(name) for name in names] == places_of(told, ids).tolist()
    there = np.array(data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names))))
    kept = [name for name, counts in zip(names, there, strict=True) if counts]
    numbers, told = numbered(given_ids if not is_coded else pa.chunked_array([given_ids]), there)
    assert told.to_pylist() == sorted(set(kept), key=str.encode)
    assert [told[i].as_py() for i in numbers] == kept


def test_ids__that_are_not_there_have_no_place():
    ids = pa.array(["a", "c"])
    assert places_of(ids, pa.array(["c", "b", None, "a"])).tolist() == [1, -1, -1, 0]
    assert places_of(ids, pa.array([], pa.string())).tolist() == []
    numbers, told = numbered(pa.chunked_array([], pa.string()))
    assert (numbers.tolist(), told.to_pylist()) == ([], [])
