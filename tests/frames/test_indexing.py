"""Ids to numbers and back: in the order of the ids' bytes, whatever the order of rows; by one task and by frames."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from overlay_spark.frames import preparing
from overlay_spark.frames.indexing import with_ends, with_ids, with_shared_topics
from overlay_spark.problems import CoordinateCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests.problems import indexed, problem, sorted_rows

pytestmark = pytest.mark.spark

IDS = ["", " a", "10", "2", "A", "Z", "a", "a b", "aa", "b", "~", "é", "ﬀ", "ｱ", "\U0001f600"][1:]
"""In the order of their bytes; UTF-16 would put the emoji before the halfwidth letter, and 10 is no number."""


@pytest.fixture(autouse=True, params=["in one task", "by frames"])
def way(request, monkeypatch):
    if request.param == "by frames":
        monkeypatch.setattr(preparing, "MOST_ROWS", 0)


@pytest.fixture
def mixed():
    """The same rows in another order, in three partitions."""
    return lambda frame: frame.repartition(3).orderBy(F.rand(7))


def test_numbers__follow_the_bytes_of_ids(spark, workspace, mixed):
    assert sorted(IDS, key=str.encode) == IDS
    subscriptions = [(node, topic) for node in IDS[:-1] for topic in IDS if node <= topic or node == "é"]
    links = [(a, b, 1.0) for a, b in itertools.pairwise(IDS[:-1])]
    given = problem(spark, subscriptions, links, IDS)
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    found = indexed(OverlayProblem(mixed(given.subscriptions), given.costs, mixed(given.nodes)), workspace)
    number = {name: i for i, name in enumerate(IDS)}
    assert sorted_rows(found.nodes.select("node", "node_id")) == list(enumerate(IDS))
    assert sorted_rows(found.topics.select("topic", "topic_id")) == list(enumerate(IDS))
    wanted = {name: [number[topic] for node, topic in subscriptions if node == name] for name in IDS}
    assert {row["node_id"]: row["topics"] for row in found.nodes.collect()} == {n: sorted(t) for n, t in wanted.items()}
    assert sorted_rows(found.members) == sorted((number[topic], number[node]) for node, topic in subscriptions)
    sizes = {row["topic_id"]: row["size"] for row in found.topics.collect()}
    assert sizes == {name: sum(topic == name for _, topic in subscriptions) for name in IDS}
    assert (found.n_nodes, found.n_topics, found.n_subscriptions) == (len(IDS), len(IDS), len(subscriptions))
    assert found.n_topic_pairs == sum(n * (n - 1) // 2 for n in sizes.values())


WANTS = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y"), ("b", "z")]


@pytest.fixture
def listed(spark, workspace):
    """Nodes a, b, c are 0, 1, 2; the topics x, y, z too."""
    links = [("b", "a", 0.5), ("a", "b", 0.5), ("c", "b", 2.0), ("c", "nobody", 1.0), ("no", "one", 1.0)]
    return indexed(replace(problem(spark, WANTS, links), unit=0.25), workspace)


def test_listed_links__are_between_known_nodes_each_once_and_in_units(listed):
    assert sorted_rows(listed.link_costs.select("src", "dst", "cost")) == [(0, 1, 2), (1, 2, 8)]
    assert (listed.n_listed, listed.site_costs, listed.unit) == (2, None, 0.25)
    assert (listed.n_nodes, listed.n_topics, listed.n_subscriptions) == (3, 3, 6)
    assert (listed.raw.nodes, listed.raw.topics, listed.raw.subscriptions) == (3, 3, 6)
    assert (listed.n_topic_pairs, listed.n_pairs) == (4, 3)  # three pairs for x, one for y; but there are only three
    assert replace(listed, n_topic_pairs=2).n_pairs == 2
    assert [listed.cost(units) for units in (0, 6, 2.5, None)] == [0.0, 1.5, 0.625, None]
    assert replace(listed, unit=0.1).cost(3) == 0.3  # not 0.30000000000000004


def test_with_ends__tells_what_is_known_of_each_end(spark, listed):
    """By number and by id; an end that nobody knows is null, and its link stays."""
    by_number = spark.createDataFrame([(0, 2), (2, 1), (1, 9)], "src int, dst int")
    by_id = spark.createDataFrame([("a", "c"), ("c", "b"), ("b", "nobody"), (None, "a")], "src string, dst string")
    columns = ["node_a", "node_id_a", "topics_a", "node_b", "node_id_b", "topics_b"]
    a, b, c = (0, "a", [0, 1]), (1, "b", [0, 2]), (2, "c", [0, 1])
    nobody = (None, None, None)
    assert sorted_rows(with_ends(listed, by_number).select(*columns)) == [(*a, *c), (*b, *nobody), (*c, *b)]
    assert sorted_rows(with_ends(listed, by_id, by="node_id").select(*columns)) == [
        (*a, *c),
        (*b, *nobody),
        (*c, *b),
        (*nobody, *a),
    ]


def test_links_of_numbers__get_the_ids_of_their_ends_or_the_topics_both_want(spark, listed):
    links = spark.createDataFrame([(0, 2, 5), (1, 2, 6), (0, 1, 7)], "src int, dst int, cost bigint")
    found = with_shared_topics(listed, links)
    assert found.columns == ["src", "dst", "cost", "shared"]
    assert {(row["src"], row["dst"], row["cost"]): sorted(row["shared"]) for row in found.collect()} == {
        (0, 2, 5): [0, 1],
        (1, 2, 6): [0],
        (0, 1, 7): [0],
    }
    named = with_ids(listed, links)
    assert named.columns == ["src", "dst", "cost"]
    assert sorted_rows(named) == [("a", "b", 7), ("a", "c", 5), ("b", "c", 6)]


def test_site_costs__go_both_ways_between_sites_in_use(spark, workspace):
    costs = [("t", "s", 3.0), ("s", "t", 3.0), ("s", "s", 1.0), ("t", "u", 9.0), ("v", "u", 2.0), ("s", "u", 7.0)]
    nodes = [("a", "s"), ("b", "u"), ("c", "s"), ("idle", "t")]  # no node is at v, and only one at t and at u
    given = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, WANTS),
        SiteCosts(catalog.SITE_COSTS.rows(spark, costs)),
        catalog.NODES.rows(spark, nodes),
        unit=0.5,
    )
    found = indexed(given, workspace)
    s, t, u = range(3)
    assert sorted_rows(found.site_costs.select("site_a", "site_b", "cost")) == [
        *[(s, s, 2), (s, t, 6), (s, u, 14)],
        *[(t, s, 6), (t, u, 18)],
        *[(u, s, 14), (u, t, 18)],
    ]
    assert sorted_rows(found.nodes.select("node_id", "site", "topics")) == [
        ("a", s, [0, 1]),
        ("b", u, [0, 2]),
        ("c", s, [0, 1]),
        ("idle", t, []),
    ]
    assert (found.link_costs, found.n_listed, found.n_nodes) == (None, None, 4)


def test_coordinates__stay_with_their_nodes_and_a_height_that_is_not_given_is_nothing(spark, workspace):
    nodes = [("c", None, [1.0, 2.0], 0.5), ("b", "anywhere", [0.0, -3.0], None), ("a", None, [4.0, 0.0], 0.0)]
    given = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, WANTS), CoordinateCosts(), catalog.NODES.rows(spark, nodes)
    )
    found = indexed(given, workspace)
    assert sorted_rows(found.nodes.select("node", "site", "coordinates", "height")) == [
        (0, None, [4.0, 0.0], 0.0),
        (1, None, [0.0, -3.0], 0.0),
        (2, None, [1.0, 2.0], 0.5),
    ]
    assert (found.link_costs, found.site_costs, found.n_listed) == (None, None, None)
