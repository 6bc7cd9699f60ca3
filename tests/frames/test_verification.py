"""Every kind of fault is found, called by its name, and nothing else is; what the input cannot give is its own fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from overlay_spark.errors import InputError, VerificationError
from overlay_spark.frames import verification as module
from overlay_spark.frames.components import GROUPED
from overlay_spark.frames.verification import (
    BROKEN,
    LINK_FAULTS,
    UNSEEN,
    Findings,
    described_links,
    require_valid,
    verify_links,
)
from overlay_spark.problems import CoordinateCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import Fault
from tests.problems import indexed, problem, sorted_rows

KINDS = [kind for kind, _, _ in LINK_FAULTS]
WANTS = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y"), ("d", "z")]
COSTS = [("a", "b", 1.0), ("c", "b", 2.0), ("a", "c", 2.5), ("c", "d", 9.0)]


@pytest.fixture
def given(spark, workspace):
    return indexed(replace(problem(spark, WANTS, COSTS), unit=0.5), workspace)


def links(spark, *rows):
    return catalog.LINKS.rows(spark, rows)


@pytest.mark.spark
def test_described_links__tell_what_there_is_to_say_of_each_row(spark, given):
    rows = [("c", "a", 2.5), ("a", "c", 3.0), ("b", "d", 1.0), ("c", "d", 9.0), ("b", "b", 1.0), ("a", "who", 1.0)]
    found = described_links(given, links(spark, *rows))
    described = {(row["src_id"], row["dst_id"]): row for row in found.collect()}
    assert len(described) == found.count() == len(rows)
    columns = ("src", "dst", "cost", "price", "times", "n_shared")
    assert {ends: tuple(row[c] for c in columns) for ends, row in described.items()} == {
        ("c", "a"): (0, 2, 5, 5, 2, 2),
        ("a", "c"): (0, 2, 6, 5, 2, 2),
        ("b", "d"): (1, 3, 2, None, 1, 0),
        ("c", "d"): (2, 3, 18, 18, 1, 0),
        ("b", "b"): (1, 1, 2, None, 1, 1),
        ("a", "who"): (None, None, 2, None, None, None),
    }
    assert sorted(described["c", "a"]["shared"]) == [0, 1]


def by_model(spark, model):
    """The same costs listed, by site and by distance; but b-c is not listed, and d lies half a unit off the network."""
    places = {"a": 0.0, "b": 1.0, "c": 3.0, "d": 7.0}
    pairs = [(u, v, abs(places[u] - places[v]) or 1.0) for u in places for v in places if u <= v]
    subscriptions = catalog.SUBSCRIPTIONS.rows(spark, WANTS)
    if model == "listed":
        return problem(spark, WANTS, [row for row in pairs if row[0] != row[1] and row[:2] != ("b", "c")])
    costs = SiteCosts(catalog.SITE_COSTS.rows(spark, pairs)) if model == "sites" else CoordinateCosts()
    nodes = [(node, node, [x], 0.5 if node == "d" else 0.0) for node, x in places.items()]
    return OverlayProblem(subscriptions, costs, catalog.NODES.rows(spark, nodes))


@pytest.mark.spark
@pytest.mark.parametrize("model", ["listed", "sites", "points"])
def test_every_kind_of_fault__is_found_where_it_is_and_nowhere_else(spark, workspace, model):
    given = indexed(by_model(spark, model), workspace)
    to_d = 4.5 if model == "points" else 4.0
    expected = {
        ("a", "b", 1.0): set(),
        ("c", "a", 3.0): {"repeated"},
        ("a", "c", 3.5): {"repeated", "other_cost"},
        ("c", "b", 2.0): {"not_listed"} if model == "listed" else set(),
        ("d", "c", to_d): {"useless"},
        ("a", "a", 8.0): {"loop"},
        ("b", "who", 1e-6): {"unknown_node"},
        ("who", "b", 5.0): {"unknown_node"},
        ("who", "who", 5.0): {"unknown_node"},
    }
    described = described_links(given, links(spark, *expected))
    kinds = [F.coalesce(F.expr(bad), F.lit(False)).alias(kind) for kind, bad, _ in LINK_FAULTS]
    rows = described.select("src_id", "dst_id", *kinds).collect()
    found = {(row["src_id"], row["dst_id"]): {kind for kind in KINDS if row[kind]} for row in rows}
    assert found == {ends[:2]: kinds for ends, kinds in expected.items()}
    assert {kind for kinds in expected.values() for kind in kinds} >= set(KINDS) - {"not_listed"}


@pytest.mark.spark
def test_findings__have_the_kinds_of_all_faults_and_the_sides_of_broken_topics(spark, workspace, given):
    right = verify_links(given, links(spark, ("b", "a", 1.0), ("a", "c", 2.5)), GROUPED, workspace)
    assert (right.faults, right.only(BROKEN)) == ((), False)
    assert right.broken_topics.isEmpty()
    some = links(spark, ("c", "b", 2.0), ("c", "d", 9.0), ("a", "a", 1.0), ("b", "who", 1.0), ("b", "d", 1.0))
    wrong = verify_links(given, some, GROUPED, workspace)
    kinds = [fault.kind for fault in wrong.faults]
    assert sorted(kinds) == sorted([BROKEN, "useless", "loop", "unknown_node", "not_listed"])
    assert not wrong.only(BROKEN)
    assert sorted_rows(wrong.broken_topics) == [("x", "a", 1), ("x", "b", 2), ("y", "a", 1), ("y", "c", 1)]
    assert wrong.links.is_cached


@pytest.mark.spark
def test_sides_of_broken_topics__are_not_planned_where_none_is_broken(spark, workspace, given, monkeypatch):
    asked = []
    plan = module.sides_of_broken_topics
    monkeypatch.setattr(module, "sides_of_broken_topics", lambda *known: asked.append(1) or plan(*known))
    found = verify_links(given, links(spark, ("b", "a", 1.0), ("a", "c", 2.5)), GROUPED, workspace)
    assert not asked
    assert found.broken_topics is found.broken_topics
    assert asked == [1]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("rows", [
    [("c", "b", 2.0), ("c", "b", 2.0), ("c", "d", 9.0), ("a", "a", 1.0), ("b", "who", 1.0), ("who", "who", 1.0)],
    [],
], ids=["wrong", "none"])  # fmt: skip
def test_findings__are_the_same_where_topics_are_contracted(spark, workspace, given, rows):
    """Also of a link that is given twice, of unknown nodes, and of topics that no link serves."""
    overlay = links(spark, *rows)
    expected = verify_links(given, overlay, GROUPED, workspace)
    found = verify_links(given, overlay, GROUPED, workspace, 0, 1)
    assert (expected.huge, found.huge) == ((), (0, 1))
    assert found.faults == expected.faults
    assert BROKEN in {fault.kind for fault in found.faults}
    assert sorted_rows(found.broken_topics) == sorted_rows(expected.broken_topics)
    assert [row[:4] for row in sorted_rows(found.shapes)] == [row[:4] for row in sorted_rows(expected.shapes)]


@pytest.mark.spark
def test_topics__are_contracted_where_nothing_can_be_cached(spark, workspace, refusing):
    given = indexed(problem(spark, WANTS, COSTS), workspace)
    found = verify_links(given, links(spark, ("b", "a", 1.0), ("a", "c", 2.5)), GROUPED, workspace, 0, 1)
    assert (found.huge, found.faults) == ((0, 1), ())
    assert {"persist", "localCheckpoint"} <= set(refusing)


@pytest.mark.spark
def test_topics__keep_the_diameters_that_are_asked_for(spark, workspace, given):
    """A topic is contracted only where its diameter is not wanted."""
    right = links(spark, ("b", "a", 1.0), ("a", "c", 2.5))
    expected = sorted_rows(verify_links(given, right, GROUPED, workspace, 3).shapes)
    found = verify_links(given, right, GROUPED, workspace, 3, 1)
    assert (found.huge, sorted_rows(found.shapes)) == ((), expected)
    assert expected[0] == (0, 3, 2, 1, 2, 7)
    less = verify_links(given, right, GROUPED, workspace, 2, 1)
    assert less.huge == (0,)
    assert sorted_rows(less.shapes) == [(0, 3, 2, 1, None, None), *expected[1:]]


@pytest.mark.spark
@pytest.mark.parametrize("above", [None, pytest.param(1, marks=pytest.mark.slow)], ids=["grouped", "contracted"])
def test_labels__that_are_not_there_prove_nothing(spark, workspace, given, monkeypatch, above):
    """Whatever was lost on the way to the check: rows of the index, topics of it, or labels themselves."""
    right = links(spark, ("b", "a", 1.0), ("a", "c", 2.5))

    def kinds(index=given):
        found = verify_links(index, right, GROUPED, workspace, 0, above)
        return {fault.kind: fault.text for fault in found.faults}

    raw = given.raw
    assert kinds() == {}
    assert list(kinds(replace(given, raw=replace(raw, subscriptions=raw.subscriptions + 1)))) == [UNSEEN]
    more_topics = replace(given, raw=replace(raw, topics=raw.topics + 2))
    assert "2 topics fewer" in kinds(more_topics)[UNSEEN]
    found = verify_links(more_topics, right, GROUPED, workspace)
    with pytest.raises(VerificationError, match="2 topics fewer"):  # no fault of the listed links
        require_valid(more_topics, found, GROUPED, workspace)
    lost = given.nodes.withColumn("topics", F.expr("filter(topics, t -> NOT (t = 0 AND node = 1))"))
    assert UNSEEN in kinds(replace(given, nodes=lost, members=lost.select(F.explode("topics").alias("topic"), "node")))
    shapes = module.topic_shapes
    monkeypatch.setattr(module, "topic_shapes", lambda *given: shapes(*given).where("topic <> 2"))
    assert list(kinds()) == [UNSEEN]
    monkeypatch.setattr(module, "topic_shapes", lambda *given: shapes(*given).limit(0))
    assert list(kinds()) == [UNSEEN]
    monkeypatch.setattr(module, "topic_shapes", lambda *given: (found := shapes(*given)).union(found.limit(1)))
    assert UNSEEN in kinds()


@pytest.mark.spark
def test_require_valid__blames_listed_links_only_for_what_they_cannot_connect(spark, workspace):
    wants = [(node, topic) for topic in "xy" for node in "abcd"]
    listed = [("a", "b", 1.0), ("c", "d", 1.0), ("c", "e", 1.0)]
    given = indexed(problem(spark, wants, listed), workspace)
    best = verify_links(given, links(spark, *listed[:2]), GROUPED, workspace)
    assert best.only(BROKEN)
    with pytest.raises(InputError) as refusal:
        require_valid(given, best, GROUPED, workspace)
    sides = "is in 2 pieces: 2 nodes with 'a', 2 nodes with 'c'"
    assert str(refusal.value) == (
        f"Table 'link_costs' leaves 2 topics in pieces (first: topic 'x' {sides}; topic 'y' {sides}). "
        "List links between these sides, or remove the subscriptions."
    )
    worse = verify_links(given, links(spark, listed[0]), GROUPED, workspace)
    assert worse.only(BROKEN)
    with pytest.raises(VerificationError) as ours:
        require_valid(given, worse, GROUPED, workspace)
    assert str(ours.value) == (
        "The computed overlay fails its own check and was not written; please report this. " + worse.faults[0].text
    )


def findings(*kinds):
    return Findings(None, None, None, tuple(Fault(kind, f"There is {kind}.") for kind in kinds))


def test_findings__are_only_of_a_kind_where_there_are_some_and_no_others():
    assert findings(BROKEN).only(BROKEN)
    assert findings(UNSEEN, UNSEEN).only(UNSEEN)
    assert not findings().only(BROKEN)
    assert not findings(BROKEN, UNSEEN).only(BROKEN)
    assert not findings("loop").only(BROKEN)


class AnyCosts:
    """A problem that is looked at no further than whether links are listed."""

    link_costs = None


class Listed(AnyCosts):
    link_costs = "some"


@pytest.mark.parametrize(
    "costs, kinds", [(AnyCosts, (BROKEN,)), (Listed, (UNSEEN,)), (Listed, (BROKEN, "loop")), (AnyCosts, ("useless",))]
)
def test_require_valid__blames_itself_for_all_else(costs, kinds):
    with pytest.raises(VerificationError) as refusal:
        require_valid(costs(), findings(*kinds), GROUPED, None)
    told = " ".join(f"There is {kind}." for kind in kinds)
    assert str(refusal.value) == (
        f"The computed overlay fails its own check and was not written; please report this. {told}"
    )


@pytest.mark.parametrize("costs", [AnyCosts, Listed])
def test_require_valid__has_nothing_against_an_overlay_without_faults(costs):
    assert require_valid(costs(), findings(), GROUPED, None) is None
