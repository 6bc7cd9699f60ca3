"""Buckets of whole topics: the same arrays from rows in any order, and the same answer from any number of buckets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from overlay_spark.frames import buckets as module
from overlay_spark.frames.buckets import bucket_from_rows, by_buckets, sub_overlays
from overlay_spark.frames.indexing import with_shared_topics
from tests import naive
from tests.problems import indexed, problem, sorted_rows
from tests.strategies import SEEDS, instances

LARGEST = 2**31 - 1


def table(rows):
    types = {"topic": pa.int32(), "a": pa.int32(), "b": pa.int32(), "cost": pa.int64()}
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return pa.table({name: pa.array(column, types[name]) for name, column in zip(types, columns, strict=True)})


def sub_overlays_of(instance):
    """For each topic: its nodes and the links (src, dst, cost) between them of all that may be used, ascending."""
    links = [(u, v, cost) for (u, v), cost in naive.allowed(instance).items()]
    members = naive.members(instance)
    return [(nodes, [link for link in links if link[0] in nodes and link[1] in nodes]) for nodes in members]


def told(bucket):
    """(topic, nodes, links) of each topic of a bucket."""
    for i, topic in enumerate(bucket.topics.tolist()):
        low, high = bucket.starts[i : i + 2].tolist()
        first, last = bucket.edge_starts[i : i + 2].tolist()
        assert bucket.topic[low:high].tolist() == [topic] * (high - low)
        for positions in (bucket.left[first:last], bucket.right[first:last]):
            assert all(low <= position < high for position in positions)  # an edge stays inside its topic
        ends = [bucket.node[positions[first:last]].tolist() for positions in (bucket.left, bucket.right)]
        yield topic, bucket.node[low:high].tolist(), list(zip(*ends, bucket.cost[first:last].tolist(), strict=True))


@given(instances(max_nodes=8, max_topics=9), SEEDS, st.sampled_from([(1, 0), (3, 1), (1000, LARGEST - 11_000)]))
def test_bucket__is_the_sub_overlays_whatever_the_order_of_rows(instance, seed, names):
    """Topics of a bucket are seldom 0, 1, 2: here topic t is named ``step * t + first``."""
    step, first = names
    rows, expected = [], []
    for t, (nodes, links) in enumerate(sub_overlays_of(instance)):
        topic = step * t + first
        rows += [(topic, node, -1, -1) for node in nodes] + [(topic, *link) for link in links]
        if nodes:
            expected.append((topic, nodes, links))
    if not rows:
        return
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    bucket = bucket_from_rows(table([rows[i] for i in shuffled]))
    assert list(told(bucket)) == expected
    assert (len(bucket.starts), len(bucket.edge_starts)) == (len(expected) + 1,) * 2
    assert (bucket.starts[-1], bucket.edge_starts[-1]) == (len(bucket.node), len(bucket.left))


def test_bucket__tells_nodes_apart_at_the_end_of_their_range():
    """Topic and node are one number while positions are looked up: it must not run over."""
    rows = [(LARGEST, node, -1, -1) for node in (LARGEST, 0, LARGEST - 1)] + [(LARGEST - 1, LARGEST, -1, -1)]
    bucket = bucket_from_rows(table([(LARGEST, 0, LARGEST, 2**40), *rows, (LARGEST, LARGEST - 1, LARGEST, 7)]))
    assert list(told(bucket)) == [
        (LARGEST - 1, [LARGEST], []),
        (LARGEST, [0, LARGEST - 1, LARGEST], [(0, LARGEST, 2**40), (LARGEST - 1, LARGEST, 7)]),
    ]


def test_bucket__has_the_types_kernels_are_compiled_for():
    for rows in ([(5, 1, -1, -1)], [(5, 1, -1, -1), (5, 2, -1, -1), (5, 1, 2, 9)]):
        bucket = bucket_from_rows(table(rows))
        assert [column.dtype for column in bucket] == [np.dtype(t) for t in ("i8", "i8", "i8", "i4", "i4", "i8", "i8", "i8")]  # fmt: skip


@pytest.mark.spark
def test_sub_overlays__have_each_link_once_for_each_topic_it_serves(spark):
    links = spark.createDataFrame(
        [(0, 1, 5, [2, 7]), (1, 2, 6, []), (0, 2, 2**40, [7])], "src int, dst int, cost bigint, shared array<int>"
    )
    assert sorted_rows(sub_overlays(links)) == [(2, 0, 1, 5), (7, 0, 1, 5), (7, 0, 2, 2**40)]


WANTS = [(f"n{v}", f"t{t}") for v in range(8) for t in range(7) if (3 * v + 5 * t) % 4 < 2]
LINKS = [(f"n{u}", f"n{v}", float(u + v)) for u in range(8) for v in range(u) if (u * v) % 3 != 1]


@pytest.mark.spark
@pytest.mark.parametrize("per_bucket, partitions", [(9, "3"), (1, "1")], ids=["some", "many"])
def test_by_buckets__is_the_same_whatever_the_number_of_buckets(spark, workspace, monkeypatch, per_bucket, partitions):
    def tell(bucket):
        """One row a topic; ``topics`` is how many its bucket has."""
        columns = zip(*told(bucket), strict=True)
        topic, nodes, links = (list(column) for column in columns)
        links = [[{"src": u, "dst": v, "cost": cost} for u, v, cost in of_topic] for of_topic in links]
        link = pa.struct([("src", pa.int32()), ("dst", pa.int32()), ("cost", pa.int64())])
        return pa.table(
            {
                "topic": pa.array(topic, pa.int32()),
                "nodes": pa.array(nodes, pa.list_(pa.int32())),
                "links": pa.array(links, pa.list_(link)),
                "topics": pa.array([len(topic)] * len(topic), pa.int32()),
            }
        )

    monkeypatch.setattr(module, "SUBSCRIPTIONS_PER_BUCKET", per_bucket)
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    given = indexed(problem(spark, WANTS, LINKS), workspace)
    overlay = with_shared_topics(given, given.link_costs).orderBy(F.rand(3))
    schema = "topic int, nodes array<int>, links array<struct<src: int, dst: int, cost: bigint>>, topics int"
    rows = by_buckets(given, overlay, tell, schema).collect()
    for row in rows:
        wanted = [v for v in range(8) if (f"n{v}", f"t{row['topic']}") in WANTS]
        links = [(v, u, 10**6 * int(c)) for u, v, c in ((int(a[1]), int(b[1]), c) for a, b, c in LINKS)]
        assert row["nodes"] == wanted
        assert [tuple(link) for link in row["links"]] == sorted(
            link for link in links if link[0] in wanted and link[1] in wanted
        )
    assert sorted(row["topic"] for row in rows) == list(range(7))
    n_buckets = min(7, len(WANTS) // per_bucket)
    assert max(row["topics"] for row in rows) == -(-7 // n_buckets)
