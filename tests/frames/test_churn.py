"""The refreshing task on Spark: the tables it comes to, however rows lie; and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from overlay_spark.api import refresh
from overlay_spark.errors import FeedError, GuardError, InputError, VerificationError
from overlay_spark.frames import churn
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import DesignOptions, Options, WorkspaceOptions
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, PackedOverlay, StoredOverlay
from overlay_spark.tables import catalog
from tests.problems import silent, sorted_rows

WANTS = [(v, t) for v, ts in {"a": "xy", "b": "x", "c": "xz", "d": "yz", "𐐀": "xyz"}.items() for t in ts]
POINTS = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (2.0, 1.0), "d": (0.0, 3.0), "𐐀": (4.0, 4.0), "ö": (1.0, 1.0)}
OVERLAY = [
    ("a", "b", 1.0, 1, 1, "single", 0),
    ("b", "c", 1.414214, 1, 1, "single", 1),
    ("a", "d", 3.0, 1, 1, "single", 4),
    ("c", "𐐀", 3.605551, 2, 2, "single", 5),
    ("d", "𐐀", 4.123106, 2, 2, "single", 9),
]
LINKS_AFTER = [
    ("a", "d", 3.0, 1, 1, 4),
    ("c", "𐐀", 3.605551, 2, 2, 5),
    ("d", "𐐀", 4.123106, 2, 2, 9),
    ("c", "ö", 1.0, 2, 2, 10),
    ("a", "ö", 1.414214, 1, 1, 11),
]
CAME, WENT = [("ö", "x"), ("ö", "z")], [("b", "x")]


def small(spark, parts=None):
    """A problem by coordinates and its stored overlay, in so many partitions: node ö came, and b gave up its topic."""

    def table(declared, rows):
        frame = declared.rows(spark, rows)
        return frame if parts is None else frame.repartition(parts)

    given = OverlayProblem(
        table(catalog.SUBSCRIPTIONS, sorted({*WANTS, *CAME} - set(WENT))),
        CoordinateCosts(),
        table(catalog.NODES, [(v, None, list(point), None) for v, point in POINTS.items()]),
    )
    changes = spark.createDataFrame(
        [(*c, 1) for c in CAME] + [(*c, -1) for c in WENT], "node_id string, topic_id string, change int"
    )
    sizes = {t: sum(t == topic for _, topic in WANTS) for t in "xyz"}
    stored = StoredOverlay(
        links=table(catalog.OVERLAY_LINKS, OVERLAY),
        nodes=table(
            catalog.OVERLAY_NODES,
            [(v, sum(v == node for node, _ in WANTS), 1, 1.0, 3, v == "a") for v in POINTS if v != "ö"],
        ),
        topics=table(catalog.OVERLAY_TOPICS, [(t, n, n - 1, 1, 2, 2.5) for t, n in sizes.items()]),
        changes=changes if parts is None else changes.repartition(parts),
    )
    return given, stored


def tables(found):
    return {name: sorted_rows(getattr(found, name)) for name in ("changes", "topics", "nodes", "backups", "state")}


@pytest.mark.spark
def test_tables__are_the_same_however_rows_lie(spark, refusing):
    """And in sessions without cache and checkpoints."""
    found = []
    for parts, shuffled in ((1, "1"), (3, "5"), (7, "3")):
        spark.conf.set("spark.sql.shuffle.partitions", shuffled)
        with refresh(*small(spark, parts)) as result:
            found.append(tables(result))
    assert found[1:] == found[:-1]
    assert refused_all_the_time(refusing)
    first = found[0]
    assert [row[:4] for row in first["changes"] if row[0] != "update"] == [
        ("add", 0, "c", "ö"),
        ("add", 1, "a", "ö"),
        ("remove", 2, "a", "b"),
        ("remove", 3, "b", "c"),
    ]
    added = [row for row in first["changes"] if row[0] == "add"]
    assert added == [
        ("add", 0, "c", "ö", 1.0, 2, 2, "repair", 10),
        ("add", 1, "a", "ö", 1.414214, 1, 1, "repair", 11),
    ]
    assert first["topics"] == [
        ("x", 4, 3, 1, None, None),
        ("y", 3, 2, 1, 2, 2.5),
        ("z", 4, 3, 1, None, None),
    ]
    assert first["nodes"][0] == ("a", 2, 2, 4.414214, 3, True)
    assert ("b", 0, 0, 0.0, 3, False) in first["nodes"]
    assert ("ö", 2, 2, 2.414214, None, False) in first["nodes"]
    assert {v for v, *_ in first["backups"]} == set(POINTS) - {"b"}


def refused_all_the_time(refused):
    return len(refused) >= 3 and set(refused) <= {"localCheckpoint", "persist"}


@pytest.mark.spark
def test_schemas__are_those_of_the_tables(spark):
    with refresh(*small(spark)) as found:
        for table, frame in (
            (catalog.OVERLAY_TOPICS, found.topics),
            (catalog.OVERLAY_NODES, found.nodes),
            (catalog.OVERLAY_BACKUPS, found.backups),
            (catalog.OVERLAY_STATE, found.state),
        ):
            assert [(f.name, f.dataType) for f in frame.schema] == [(f.name, f.dataType) for f in table.schema]
        names = [(f.name, f.dataType) for f in found.changes.schema]
        assert names[2:] == [(f.name, f.dataType) for f in catalog.OVERLAY_LINKS.schema]
        assert found.metrics.added == found.metrics.removed == 2
        assert found.metrics.nodes_before == 5
        assert found.metrics.cost == pytest.approx(found.metrics.cost_before)


@pytest.mark.spark
def test_packed_overlay__becomes_what_its_tables_do(spark):
    """A second refresh of the same, from what the first left packed; and not where rows are missing of what there is."""
    now, stored = small(spark)
    with refresh(now, stored) as first:
        nothing = stored.changes.limit(0)
        unchanged = PackedOverlay(state=first.state, changes=nothing)
        with refresh(now, unchanged) as again:
            assert tables(again) == {**tables(first), "changes": []}
            assert (again.metrics.links_before, again.metrics.cost_before) == (again.metrics.links, again.metrics.cost)
        fewer = replace(now, subscriptions=now.subscriptions.where("node_id <> 'a'"))
        with pytest.raises(FeedError, match=r"has 9 rows, but by .* it should have 11"):
            refresh(fewer, unchanged)
        gone = replace(unchanged, changes=spark.createDataFrame([("a", "x", -1), ("a", "y", -1)], nothing.schema))
        with (
            refresh(fewer, gone) as without,
            refresh(fewer, replace(stored_now(first, now), changes=gone.changes)) as same,
        ):
            assert tables(without) == tables(same)
            assert without.metrics.removed


def stored_now(found, problem):
    """The overlay of a refresh as its tables."""
    before = problem.subscriptions.sparkSession.createDataFrame(
        [(a, b, c, d, e, "single", f) for a, b, c, d, e, f in LINKS_AFTER], catalog.OVERLAY_LINKS.schema
    )
    return StoredOverlay(
        links=before, nodes=found.nodes, topics=found.topics, backups=found.backups, changes=found.changes
    )


REFUSALS = {
    churn.WRONG_INPUT: (InputError, "Table 'subscriptions' has"),
    churn.WRONG_FEED: (FeedError, "have other counts"),
    churn.BAD_VALUES: (InputError, "new rows with ids that no row may have"),
    churn.APART: (InputError, "no links that connect 1 topic any more (first: 'x')"),
    churn.TOO_LARGE: (GuardError, "needs more memory in one task, for rows, than design.task_memory = 1m allows"),
    churn.WRONG_LINKS: (VerificationError, "nothing was written; this is a bug: 3 cost"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_faults__are_errors_of_their_kind(kind):
    error, message = REFUSALS[kind]
    said = {churn.TOO_LARGE: "rows", churn.WRONG_LINKS: "3 cost"}.get(kind, message)
    with pytest.raises(error) as refusal:
        churn._refuse({kind: [said]}, Options(design=DesignOptions(task_memory="1m")))
    assert message in str(refusal.value)


@pytest.mark.spark
def test_task__too_large_is_refused_as_the_options_say(spark):
    now, stored = small(spark)
    many = replace(now, subscriptions=spark.range(20_000).selectExpr("'a' AS node_id", "string(id) AS topic_id"))
    options = Options(design=DesignOptions(task_memory="1m"))
    with Workspace(spark, WorkspaceOptions()) as workspace, pytest.raises(GuardError, match=r"task_memory = 1m allows"):
        churn.keep_up(many, stored, options, workspace, silent)


@pytest.mark.spark
def test_bad_rows__that_came_are_refused_in_one_message_for_all(spark):
    stored = small(spark)[1]
    came = spark.createDataFrame([("", "x", 1), (None, "y", 1), ("a", None, 1), ("", "", -1)], stored.changes.schema)
    with pytest.raises(InputError) as refusal:
        churn.check_changes(came)
    assert [fault.partition("(first")[0] for fault in refusal.value.faults] == [
        "Table 'subscriptions': column 'node_id' has 1 row that is null ",
        "Table 'subscriptions': column 'node_id' has 1 row that is empty ",
        "Table 'subscriptions': column 'topic_id' has 1 row that is null ",
    ]
    churn.check_changes(came.where("change < 0"))


@pytest.mark.spark
def test_everybody_gone__leaves_nothing(spark):
    """Under each kind of costs, with tables that are empty by now."""
    stored = small(spark)[1]
    gone = spark.createDataFrame([(*s, -1) for s in WANTS], stored.changes.schema)
    nobody, nodes = catalog.SUBSCRIPTIONS.rows(spark, []), catalog.NODES.rows(spark, [])
    for now in (
        OverlayProblem(nobody, CoordinateCosts(), nodes),
        OverlayProblem(nobody, ListedCosts(catalog.LINK_COSTS.rows(spark, []))),
    ):
        with refresh(now, replace(stored, changes=gone)) as found:
            assert {name: len(rows) for name, rows in tables(found).items()} == {
                "changes": 5,
                "topics": 0,
                "nodes": 0,
                "backups": 0,
                "state": 5,
            }
            steps = [row[1] for row in tables(found)["changes"]]
            assert all(b == a + 1 for a, b in pairwise(steps))
            assert (found.metrics.nodes_lost, found.metrics.links) == (5, 0)
            if now.nodes is not None:
                came = spark.createDataFrame([(*s, 1) for s in WANTS], stored.changes.schema)
                nodes = catalog.NODES.rows(spark, [(v, None, list(point), None) for v, point in POINTS.items()])
                back = replace(now, subscriptions=catalog.SUBSCRIPTIONS.rows(spark, WANTS), nodes=nodes)
                with refresh(back, PackedOverlay(state=found.state, changes=came)) as again:
                    assert (again.metrics.links_before, again.metrics.nodes, again.metrics.topics) == (0, 6, 3)
                    assert (again.metrics.joined, again.metrics.added) == (7, len(OVERLAY))
