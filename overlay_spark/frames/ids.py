"""Ids as numbers, in the order of their UTF-8 bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbered = tuple[NDArray[np.int64], pa.Array]
"""(the number of each id, the ids by number)"""


def numbered(ids: pa.ChunkedArray, there: NDArray[np.bool_] | None = None) -> Numbered:
    """The ids, or those that are ``there``, numbered in the order of their bytes."""
    if not len(ids):
        return np.empty(0, np.int64), pa.array([], pa.string())
    found = coded(ids)
    order = pc.array_sort_indices(found.dictionary)
    rank = np.empty(len(order), np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    numbers, names = rank[found.indices.to_numpy()], found.dictionary.take(order)
    if there is None:
        return numbers, names
    numbers, used = numbers[there], np.zeros(len(names), bool)
    used[numbers] = True
    return (np.cumsum(used) - 1)[numbers], names.filter(pa.array(used))


def coded(ids: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """The ids as numbers of a dictionary that has each of them once."""
    whole = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()


def in_order(ids: pa.ChunkedArray) -> pa.Array:
    found = ids.unique()
    return found.take(pc.array_sort_indices(found))


def places_of(ids: pa.Array, asked: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """The number of each id asked for; -1 of those that are not there."""
    if not len(asked):
        return np.empty(0, np.int64)
    found: NDArray[np.int64] = pc.fill_null(pc.index_in(asked, value_set=ids), -1).to_numpy().astype(np.int64)
    return found
