"""One conformance suite for every way to find topic-connected components."""

from __future__ import annotations

import pytest

from overlay_spark.errors import SetupError
from overlay_spark.frames.components import sub_overlays, with_shared_topics
from overlay_spark.frames.costs import ListedCosts
from overlay_spark.frames.graphs import choose_engine, graphframes_is_available, topic_components
from overlay_spark.frames.indexing import index_problem
from overlay_spark.frames.lineage import Holder
from overlay_spark.tables import catalog
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

NO_JAR = "GraphFrames' JVM part is not in this session: no jar found on Maven or in OVERLAY_SPARK_JARS"


@pytest.fixture(params=["grouped", "graphframes"])
def engine(request, spark):
    if request.param == "graphframes" and not graphframes_is_available(spark):
        pytest.skip(NO_JAR)
    return request.param


def components(spark, engine, subscriptions, links):
    holder = Holder()
    table = catalog.LINK_COSTS.rows(spark, [(a, b, 1.0) for a, b in links])
    given = index_problem(catalog.SUBSCRIPTIONS.rows(spark, subscriptions), None, ListedCosts(table), 1.0, holder)
    assert given.link_costs is not None
    overlays = sub_overlays(with_shared_topics(given.link_costs, given.nodes))
    found = sorted_rows(topic_components(given, overlays, engine, holder))
    holder.release()
    return found


def test_topic_components__are_named_by_their_least_node(spark, engine):
    subscriptions = [(n, "x") for n in "abcdef"] + [(n, "y") for n in "bdf"]
    links = [("e", "f"), ("c", "e"), ("b", "d")]
    a, b, c, d, e, f = range(6)
    x, y = range(2)
    assert components(spark, engine, subscriptions, links) == [
        *[(x, a, a), (x, b, b), (x, c, c), (x, d, b), (x, e, c), (x, f, c)],
        *[(y, b, b), (y, d, b), (y, f, f)],
    ]


def test_topic_components__reach_along_long_paths(spark, engine):
    n = 70  # more steps than an algorithm that stops after 31 would go
    ids = [f"n{i:02d}" for i in range(n)]
    found = components(spark, engine, [(i, "x") for i in ids], list(zip(ids[::-1], ids[-2::-1], strict=False)))
    assert found == [(0, i, 0) for i in range(n)]


def test_topic_components__without_links_are_single_nodes(spark, engine):
    found = components(spark, engine, [("a", "x"), ("b", "x"), ("b", "y")], [("a", "b")][:0])
    assert found == [(0, 0, 0), (0, 1, 1), (1, 1, 1)]


def test_topic_components__do_not_cross_topics(spark, engine):
    found = components(spark, engine, [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")], [("a", "b"), ("b", "c")])
    assert found == [(0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 2, 1)]


def test_choose_engine__refuses_graphframes_only_when_asked_for_by_name(spark):
    assert choose_engine(spark, "grouped") == "grouped"
    if graphframes_is_available(spark):
        assert choose_engine(spark, "auto") == choose_engine(spark, "graphframes") == "graphframes"
    else:
        assert choose_engine(spark, "auto") == "grouped"
        with pytest.raises(SetupError, match="cannot load GraphFrames"):
            choose_engine(spark, "graphframes")
