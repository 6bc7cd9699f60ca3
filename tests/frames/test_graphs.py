"""GraphFrames: subscriptions as vertices and back, when it is there, and what it is asked and gives, without its jar.

What it answers itself is in the conformance suite of components.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from pyspark.sql import functions as F

from overlay_spark.frames.buckets import sub_overlays
from overlay_spark.frames.graphs import graphframes_components, graphframes_is_available, node_of, vertex_of
from overlay_spark.frames.indexing import with_shared_topics
from tests import naive
from tests.problems import indexed, problem, sorted_rows

pytestmark = pytest.mark.spark

LARGEST = 2**31 - 1


def test_vertex__names_a_subscription_and_gives_its_node_back_also_beyond_32_bits(spark):
    cases = [
        (n, topic, node)
        for n in (1, 2, 7, 65_536, 65_537, LARGEST)
        for topic in (0, 1, 65_536, LARGEST)
        for node in {0, 1, n // 2, n - 1}
        if node < n
    ]
    frame = spark.createDataFrame(cases, "n int, topic int, node int")
    sizes = sorted({n for n, _, _ in cases})
    found = [
        row
        for n in sizes
        for row in frame.where(F.col("n") == n)
        .select("topic", "node", vertex_of(F.col("topic"), F.col("node"), n).alias("vertex"))
        .select("*", node_of(F.col("vertex"), n).alias("back"), F.lit(n).alias("n"))
        .collect()
    ]
    assert len(found) == len(cases)
    for row in found:
        assert row["vertex"] == row["topic"] * row["n"] + row["node"]
        assert row["back"] == row["node"]
    assert max(row["vertex"] for row in found) == LARGEST * LARGEST + LARGEST - 1
    for n in sizes:  # the least vertex of a component is its least node
        rows = sorted((r["topic"], r["node"], r["vertex"]) for r in found if r["n"] == n)
        assert [vertex for _, _, vertex in rows] == sorted({vertex for _, _, vertex in rows})


class Graph:
    """Stands in for GraphFrames; keeps what it was asked."""

    asked = None

    def __init__(self, vertices, edges):
        self.vertices, self.edges = vertices, edges

    def connectedComponents(self, **options):
        vertices = [row["id"] for row in self.vertices.collect()]
        edges = [(row["src"], row["dst"]) for row in self.edges.collect()]
        labels = naive.components(vertices, edges)
        found = self.vertices.sparkSession.createDataFrame(list(labels.items()), "id bigint, component bigint")
        Graph.asked = SimpleNamespace(
            options=options,
            edges=edges,
            vertices=vertices,
            found=self.vertices.join(found, "id").persist(),
            parts=self.vertices.sparkSession.conf.get("spark.sql.shuffle.partitions"),
        )
        return Graph.asked.found


def test_graphframes_components__asks_for_one_graph_of_all_topics_and_lets_its_answer_go(spark, workspace, monkeypatch):
    monkeypatch.setitem(sys.modules, "graphframes", SimpleNamespace(GraphFrame=Graph))
    subscriptions = [(n, "x") for n in "abcd"] + [(n, "y") for n in "bd"]
    given = indexed(problem(spark, subscriptions, [("a", "c", 1.0), ("b", "d", 1.0)]), workspace)
    overlays = sub_overlays(with_shared_topics(given, given.link_costs))
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    found = graphframes_components(given, overlays, workspace)
    assert (Graph.asked.parts, spark.conf.get("spark.sql.shuffle.partitions")) == ("2", "200")
    assert found.sparkSession is spark
    assert sorted_rows(found) == [(0, 0, 0), (0, 1, 1), (0, 2, 0), (0, 3, 1), (1, 1, 1), (1, 3, 1)]
    assert sorted(Graph.asked.vertices) == [0, 1, 2, 3, 5, 7]
    assert sorted(Graph.asked.edges) == [(0, 2), (1, 3), (5, 7)]
    assert Graph.asked.options == {
        "algorithm": "graphframes",  # graphx stops after 31 steps
        "checkpointInterval": 1,  # plans that grow over two rounds take longer
        "broadcastThreshold": -1,
        "useLabelsAsComponents": True,  # else components have names of their own
        "use_local_checkpoints": False,  # this session has a folder for checkpoints
    }
    assert "Join" not in found._jdf.queryExecution().toString()  # no row of the answer is computed again
    assert not Graph.asked.found.is_cached
    assert spark.sql("SHOW VIEWS IN global_temp").count() == 0


def available(spark, monkeypatch, error=None):
    def graph(vertices, edges):
        if error is not None:
            raise error

    monkeypatch.setitem(sys.modules, "graphframes", SimpleNamespace(GraphFrame=graph))
    return graphframes_is_available(spark)


def test_graphframes__is_there_where_a_graph_can_be_made(spark, monkeypatch):
    assert available(spark, monkeypatch)
    missing = "java.lang.ClassNotFoundException: org.graphframes.GraphFramePythonAPI"
    assert not available(spark, monkeypatch, RuntimeError(missing))
    with pytest.raises(RuntimeError, match="out of disk"):
        available(spark, monkeypatch, RuntimeError("out of disk"))


def test_graphframes__is_not_there_without_its_python_half_nor_over_connect(spark, monkeypatch):
    monkeypatch.setattr("pyspark.sql.utils.is_remote", lambda: True)
    assert not available(spark, monkeypatch)
    monkeypatch.setitem(sys.modules, "graphframes", None)
    assert not graphframes_is_available(spark)
