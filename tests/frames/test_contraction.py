"""Huge topics contracted: the same shapes and labels as without, however links lie, and no cost where none is huge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from overlay_spark.frames import contraction as module
from overlay_spark.frames.components import GROUPED, topic_components
from overlay_spark.frames.contraction import PACKED, by_contraction, huge_topics, packed_stars, whole_topic
from overlay_spark.frames.indexing import with_shared_topics
from overlay_spark.frames.metrics import topic_shapes
from overlay_spark.lab.shapes import problem_of
from tests import checks, naive
from tests.problems import indexed, sorted_rows
from tests.strategies import SEEDS, overlays

ROWS = pa.schema([("a", pa.int32()), ("b", pa.int32()), ("topics", pa.list_(pa.int32()))])


def table(rows):
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[], [], []], schema=ROWS)


def by_definition(instance, pairs, topic):
    """(nodes, the least node of the component of each, links) of a topic."""
    nodes = naive.members(instance)[topic]
    inside = [(u, v) for u, v in pairs if u in nodes and v in nodes]
    labels = naive.components(nodes, inside)
    return nodes, [labels[node] for node in nodes], len(inside)


def contracted(parts, huge, n_topics, n_nodes):
    """{topic: (nodes, components, links)} of rows that lie in parts."""
    place_of = np.full(n_topics, -1, np.int16)
    place_of[huge] = np.arange(len(huge))
    packed = [packed_stars(table(rows), np.array(huge, np.int32), place_of) for rows in parts]
    found = {}
    for topic in huge:
        of_topic = [rows.filter(pa.array(rows.column("topic").to_numpy() == topic)) for rows in packed]
        if any(len(rows) for rows in of_topic):
            whole = whole_topic(pa.concat_tables(of_topic), n_nodes)
            assert (whole.topic, whole.node.dtype, whole.component.dtype) == (topic, np.int32, np.int32)
            found[topic] = (whole.node.tolist(), whole.component.tolist(), whole.links)
    return found


@given(overlays(max_nodes=12, max_topics=9), SEEDS, st.integers(1, 4), st.sampled_from([1, 2, 1000]))
def test_contracted_topics__are_those_by_definition_however_rows_lie(overlay, seed, n_parts, times):
    """Links may be there ``times`` times: they count as often, and join as one."""
    instance, pairs = overlay
    pairs, rng = [pair for pair in pairs for _ in range(min(times, 3))], np.random.default_rng(seed)
    wants = naive.interests(instance)
    rows = [(node, -1, sorted(topics)) for node, topics in enumerate(wants)]
    rows += [(u, v, sorted(wants[u] & wants[v])) for u, v in pairs]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    parts = [[rows[i] for i in part] for part in np.array_split(rng.permutation(len(rows)), n_parts) if len(part)]
    huge = np.flatnonzero(rng.random(instance.n_topics) < 0.6).tolist()
    expected = {topic: by_definition(instance, pairs, topic) for topic in huge}
    found = contracted(parts, huge, instance.n_topics, instance.n_nodes)
    assert found == {topic: of_topic for topic, of_topic in expected.items() if of_topic[0]}


def test_packed_stars__are_no_more_than_it_takes_to_join_their_nodes():
    """A clique of five, whose links are given thrice: four leaves, one of which each other node is."""
    rows = [(u, v, [3, 7]) for u in range(10, 15) for v in range(u) if v >= 10] * 3
    packed = packed_stars(
        table([(v, u, topics) for u, v, topics in rows]), np.array([7], np.int32), np.array([-1] * 7 + [0])
    )
    (row,) = packed.to_pylist()
    nodes, leaves, roots = (np.frombuffer(row[name], PACKED).tolist() for name in ("nodes", "leaves", "roots"))
    assert (row["topic"], row["links"], nodes, sorted(leaves), roots) == (7, 30, [], [11, 12, 13, 14], [10] * 4)


def test_whole_topic__tells_only_of_nodes_that_are_there():
    """What a link says of a node that was lost on the way proves nothing: the piece has no least node to count."""
    rows = [(4, -1, [0]), (6, -1, [0]), (2, 4, [0]), (2, 6, [0])]
    assert contracted([rows], [0], 1, 7) == {0: ([4, 6], [2, 2], 2)}


@pytest.mark.parametrize("pairs, expected", [(1, [1] * 7), (5, [2, 2, 2, 1]), (100, [7])])
def test_chunks__go_by_the_topics_of_rows(monkeypatch, pairs, expected):
    monkeypatch.setattr(module, "PAIRS_A_CHUNK", pairs)
    batches = table([(n, -1, [1, 2, 3]) for n in range(7)]).to_batches(max_chunksize=1)
    assert [len(chunk) for chunk in module._chunks(batches)] == expected
    assert list(module._chunks([])) == []


N = 14
WANTS = [{0, *(t for t in range(1, 6) if (v * v + 7 * t) % 11 < 6), *([6] if v < 4 else [])} for v in range(N)]
LINKS = [(u, v) for v in range(N) for u in range(v) if (5 * u + 3 * v) % 17 < 2]


@pytest.fixture
def problem(spark, workspace):
    return indexed(problem_of(spark, checks.instance_of(WANTS, 7)), workspace)


def overlay_in(spark, problem, pairs, partitions):
    """Links (src, dst, cost, shared) in so many partitions, in another order for each number of them."""
    links = spark.createDataFrame([(u, v, u + v) for u, v in pairs], "src int, dst int, cost bigint")
    return with_shared_topics(problem, links).orderBy(F.rand(partitions)).repartition(partitions)


@pytest.mark.spark
@pytest.mark.parametrize("pairs, partitions", [(LINKS, 1), (LINKS + LINKS[:5], 2), (LINKS, 7), ([], 2)])
def test_shapes_and_components__are_the_same_as_without(spark, workspace, monkeypatch, problem, pairs, partitions):
    monkeypatch.setattr(module, "PAIRS_A_CHUNK", 5)
    overlay = workspace.hold(overlay_in(spark, problem, pairs, partitions))
    sizes = {t: sum(t in wants for wants in WANTS) for t in range(7)}
    assert sizes[6] == 4
    shapes = sorted_rows(topic_shapes(problem, overlay, 4))
    labels = sorted_rows(topic_components(problem, overlay, GROUPED, workspace))
    assert len(labels) == sum(sizes.values())
    huge = huge_topics(problem, 8)
    assert huge == tuple(t for t in range(7) if sizes[t] > 8)
    assert 1 < len(huge) < 6
    found = topic_shapes(problem, overlay, 4, huge)
    assert found.schema == topic_shapes(problem, overlay, 4).schema
    assert sorted_rows(found) == shapes
    assert sorted_rows(topic_components(problem, overlay, GROUPED, workspace, range(7))) == labels  # no bucket is left


@pytest.mark.spark
def test_shapes_and_components__of_huge_topics_are_found_by_contraction(spark, workspace, monkeypatch, problem):
    """Each huge topic once, each other in a bucket: what is contracted here says that it was."""
    overlay = overlay_in(spark, problem, LINKS, 2)

    def tell(topic):
        return pa.table({"topic": pa.array([topic.topic], pa.int32()), "links": pa.array([topic.links], pa.int64())})

    rows = sorted_rows(by_contraction(problem, overlay, (0, 3), tell, "topic int, links bigint"))
    count = [sum(1 for u, v in LINKS if t in WANTS[u] & WANTS[v]) for t in (0, 3)]
    assert rows == [(0, count[0]), (3, count[1])]


@pytest.mark.spark
def test_huge_topics__are_not_looked_for_where_there_are_none(spark, workspace, monkeypatch, problem):
    blind = replace(problem, topics=None)
    assert huge_topics(blind, problem.largest_topic) == ()
    with pytest.raises(AttributeError):
        huge_topics(blind, problem.largest_topic - 1)
    overlay = overlay_in(spark, problem, LINKS, 2)

    def fail(*given):
        raise AssertionError("contracted")

    for name in ("metrics", "components"):
        monkeypatch.setattr(f"overlay_spark.frames.{name}.by_contraction", fail)
    topic_shapes(problem, overlay, 4, ())
    topic_components(problem, overlay, GROUPED, workspace, ())
