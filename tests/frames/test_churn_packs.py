"""Rows on their way to the refreshing task: none is lost, and what is too much is told in time."""

from __future__ import annotations

import pyarrow as pa
import pytest

from overlay_spark.errors import TooLarge
from overlay_spark.frames import churn_packs as packs_of
from overlay_spark.frames import churn_rows as kinds
from overlay_spark.frames.churn_packs import BYTES_FOR_A_BYTE, gathered, packed
from tests.frames.churned import SCHEMA, row
from tests.frames.test_churn_rows import SMALL


def test_gathered__stops_before_what_is_held_would_be_too_much():
    packs = list(packed(pa.Table.from_pylist(SMALL, SCHEMA).to_batches(max_chunksize=4)))
    tables = gathered(packs, 1 << 40)
    assert sorted(tables) == sorted({given["kind"] for given in SMALL})
    assert tables[kinds.LINK].num_rows == 2
    seen = []

    def told():
        for pack in packs:
            seen.append(pack)
            yield pack

    with pytest.raises(TooLarge):
        gathered(told(), BYTES_FOR_A_BYTE * tables[kinds.SUBSCRIPTION].nbytes)
    assert len(seen) == 2


def test_packs__are_few_and_hold_the_rows_in_their_order(monkeypatch):
    monkeypatch.setattr(packs_of, "ROWS_A_PACK", 100)
    table = pa.Table.from_pylist([row(kinds.LINK, f"n{i % 7}", f"m{i % 11}", [i, 2, 3, 4]) for i in range(450)], SCHEMA)
    packs = list(packed(table.to_batches(max_chunksize=30)))
    assert len(packs) == 4
    assert gathered(packs, 1 << 40)[kinds.LINK].to_pylist() == table.drop_columns("kind").to_pylist()
    assert list(packed([])) == []
