"""Rows on their way to the refreshing task: a million of them travel as one, ids written once and then as numbers.

Spark hands rows to Python one by one, which several tasks do side by side; what is shuffled to the one task that needs
all of them is packed, and there they are arrays at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from overlay_spark.errors import TooLarge
from overlay_spark.frames.churn_rows import OLD_SUBSCRIPTION, SUBSCRIPTION

PACKED_DDL = "packed binary"
PACKED = pa.schema([("packed", pa.binary())])
ROWS_A_PACK = 1 << 20
"""So many rows travel as one, or a few more: ids are written once a pack, and rows as their numbers."""


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of one kind after the other as a few large ones, each of one kind. Columns may be left out."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= ROWS_A_PACK:
            yield from _packs(held)
            held = []
    if held:
        yield from _packs(held)


def _packs(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_batches(batches)
    for kind in pc.unique(table.column("kind")).to_pylist():
        rows = table.filter(pc.equal(table.column("kind"), kind)).drop_columns("kind").combine_chunks()
        for i, field in enumerate(rows.schema):
            if pa.types.is_string(field.type):
                rows = rows.set_column(i, field.name, pc.dictionary_encode(rows.column(i)))
        yield pa.RecordBatch.from_arrays([pa.array([_pack(kind, rows)], pa.binary())], schema=PACKED)


def packs_to_keep(kind: int, rows: pa.Table) -> Iterator[bytes]:
    """Rows of a kind as packs for a table, smaller than on their way: at least one, which says that there are none."""
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for start in range(0, max(1, len(rows)), ROWS_A_PACK):
        yield _pack(kind, rows.slice(start, ROWS_A_PACK), options)


def _pack(kind: int, rows: pa.Table, options: pa.ipc.IpcWriteOptions | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema.with_metadata({"kind": str(kind)}), options=options) as stream:
        stream.write_table(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def gathered(batches: Iterable[pa.RecordBatch], most_bytes: int) -> dict[int, pa.Table]:
    """The rows by kind, from packs; stops where what is to be made of them would be more than ``most_bytes``."""
    by_kind: dict[int, list[pa.Table]] = {}
    held = 0
    for batch in batches:
        for pack in batch.column("packed"):
            with pa.ipc.open_stream(pack.as_buffer()) as stream:
                rows = stream.read_all()
            held += rows.nbytes
            if BYTES_FOR_A_BYTE * held > most_bytes:
                raise TooLarge("rows")
            by_kind.setdefault(int(rows.schema.metadata[b"kind"]), []).append(rows)
    return {kind: _together(tables, kind in CODED) for kind, tables in by_kind.items()}


def _together(tables: list[pa.Table], coded: bool) -> pa.Table:
    """Rows as one table; ids as numbers of a dictionary, or as they are."""
    rows = pa.concat_tables([table.replace_schema_metadata() for table in tables])
    if coded:
        return rows.unify_dictionaries().combine_chunks()
    for i, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            rows = rows.set_column(i, field.name, rows.column(i).cast(pa.string()))
    return rows.combine_chunks()


CODED = (SUBSCRIPTION, OLD_SUBSCRIPTION)
"""Kinds of rows so many that their ids stay numbers."""
BYTES_FOR_A_BYTE = 12
"""What the task needs at its height, for each byte it reads: ids are counted once a pack. It was 9 for 100,000
nodes with 6 million subscriptions."""
