"""Huge topics: their links are contracted to stars where they lie, and packed, before a task looks at a topic whole.

Stars have a leaf for each node that is joined to a lesser one: never more of them than links, and only about as many
as nodes where links of the same nodes lie together. Packed, since a row costs more than what is done with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem

PAIRS_A_CHUNK = 1 << 21
"""About how many pairs of a row and a topic of its are looked at together: some 50 bytes each for a moment."""

PACKED_DDL = "topic int, links int, nodes binary, leaves binary, roots binary"
PACKED = "<i4"
"""Whole numbers of four bytes side by side: Spark moves them as they are, and the elements of arrays one by one."""


class Contracted(NamedTuple):
    """A huge topic whole: its nodes, the least node of the component of each, and how many links serve it."""

    topic: int
    node: NDArray[np.int32]
    component: NDArray[np.int32]
    links: int


def huge_topics(problem: IndexedProblem, above: int) -> tuple[int, ...]:
    """The topics with more than ``above`` nodes, ascending; one small job, and none where no topic has as many.

    Their numbers are collected: at most one for every ``above`` subscriptions.
    """
    if problem.largest_topic <= above:
        return ()
    rows = problem.topics.where(F.col("size") > F.lit(above)).select("topic").collect()
    return tuple(sorted(row["topic"] for row in rows))


def by_contraction(
    problem: IndexedProblem,
    links: DataFrame,
    huge: Sequence[int],
    work: Callable[[Contracted], pa.Table],
    schema: str,
) -> DataFrame:
    """Run ``work`` on each huge topic, of links (src, dst, shared).

    One shuffle, by topic, of what :func:`packed_topics` gives. A task holds one topic, and a number for every node
    there is. Lazy. The answer does not depend on how rows are partitioned.
    """
    n_nodes = problem.n_nodes

    def run(rows: pa.Table) -> pa.Table:
        return work(whole_topic(rows, n_nodes))

    return packed_topics(problem, links, huge).groupBy("topic").applyInArrow(run, schema)


def packed_topics(problem: IndexedProblem, links: DataFrame, huge: Sequence[int]) -> DataFrame:
    """Links (src, dst, shared) -> (topic, links, nodes, leaves, roots), some rows for each huge topic. No shuffle.

    Where links and nodes lie, each task counts its links of each huge topic and brings them down to stars, a leaf and
    its root for each node that is joined to a lesser one; a row has those of many nodes. A task holds a chunk of rows.
    """
    n_topics, topics = problem.n_topics, np.array(huge, np.int32)
    served = links.select(F.col("src").alias("a"), F.col("dst").alias("b"), F.col("shared").alias("topics"))
    wanted = problem.nodes.select(F.col("node").alias("a"), F.lit(-1).alias("b"), "topics")

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        place_of = np.full(n_topics, -1, np.min_scalar_type(-len(topics)))  # two bytes or one are sorted fastest
        place_of[topics] = np.arange(len(topics))
        for rows in _chunks(batches):
            yield from packed_stars(rows, topics, place_of).to_batches()

    return served.union(wanted).mapInArrow(pack, PACKED_DDL)


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches with lists of topics, so many together as are worth contracting at once."""
    waiting: list[pa.RecordBatch] = []
    pairs = 0
    for batch in batches:
        waiting.append(batch)
        pairs += len(batch.column("topics").flatten())
        if pairs >= PAIRS_A_CHUNK:
            yield pa.Table.from_batches(waiting)
            waiting, pairs = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def packed_stars(rows: pa.Table, huge: NDArray[np.int32], place_of: NDArray[Any]) -> pa.Table:
    """Rows (a, b, topics), nodes with b = -1 or links, -> one row for each huge topic that is among their topics.

    ``place_of`` says for each topic which of the huge ones it is, or -1.
    """
    from overlay_spark.kernels.components import stars

    a, b = (rows.column(name).to_numpy() for name in "ab")
    of_row = pa.concat_arrays(rows.column("topics").chunks)
    place = place_of[of_row.flatten().to_numpy()]
    row = np.repeat(np.arange(len(a)), of_row.value_lengths().to_numpy())[place >= 0]
    place = place[place >= 0]
    order = np.argsort(place, kind="stable")
    place, row = place[order], row[order]
    joins = b[row] >= 0
    node_starts, link_starts = (np.searchsorted(place[of], np.arange(len(huge) + 1)) for of in (~joins, joins))
    ends = np.unique(np.concatenate([a[b >= 0], b[b >= 0]]))
    left, right = (np.searchsorted(ends, end)[row[joins]] for end in (a, b))
    star_starts, leaves, roots = stars(link_starts, left, right, len(ends))

    def packed(starts: NDArray[np.int64], values: NDArray[Any]) -> pa.Array:
        buffers = [None, pa.py_buffer((starts * 4).astype(np.int32)), pa.py_buffer(values.astype(PACKED))]
        return pa.Array.from_buffers(pa.binary(), len(huge), buffers)

    columns = {
        "topic": huge,
        "links": np.diff(link_starts).astype(np.int32),
        "nodes": packed(node_starts, a[row[~joins]]),
        "leaves": packed(star_starts, ends[leaves]),
        "roots": packed(star_starts, ends[roots]),
    }
    return pa.table(columns).filter(pa.array(np.diff(node_starts) + np.diff(link_starts) > 0))


def whole_topic(rows: pa.Table, n_nodes: int) -> Contracted:
    """All rows of a huge topic, in any order, as one: its stars are joined where they have a node in common.

    Only nodes that are there are told of, whatever the links say.
    """
    from overlay_spark.kernels.components import connected_labels

    def joined(name: str) -> NDArray[np.int32]:
        return np.frombuffer(b"".join(rows.column(name).to_pylist()), PACKED)

    node = np.sort(joined("nodes")).astype(np.int32)
    labels = connected_labels(n_nodes, joined("leaves").astype(np.int64), joined("roots").astype(np.int64))
    links = int(rows.column("links").to_numpy().sum(dtype=np.int64))
    return Contracted(rows.column("topic")[0].as_py(), node, labels[node].astype(np.int32), links)
