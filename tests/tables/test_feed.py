"""Changes of a Delta table: what others did to it, one net change a key; and ours, in one commit."""

from __future__ import annotations

import json

import pytest

from overlay_spark.errors import FeedError
from overlay_spark.tables import catalog, delta, feed
from overlay_spark.tables.references import Reference
from tests.problems import sorted_rows

FEED = {"delta.enableChangeDataFeed": "true"}
START = [("a", "x"), ("b", "x"), ("c", "x")]
HISTORY = (
    "INSERT INTO {t} VALUES ('d', 'x')",
    "DELETE FROM {t} WHERE node_id = 'd'",
    "INSERT INTO {t} VALUES ('d', 'x')",
    "INSERT OVERWRITE {t} VALUES ('d', 'x'), ('c', 'x'), ('b', 'x'), ('a', 'x')",
    "UPDATE {t} SET topic_id = 'y' WHERE node_id = 'a'",
    "MERGE INTO {t} t USING {t} s ON t.node_id = s.node_id WHEN MATCHED THEN UPDATE SET *",
    "DELETE FROM {t} WHERE node_id = 'b'",
    "INSERT INTO {t} VALUES ('b', 'x'), ('b', 'x'), ('e', NULL)",
)
"""What was done for each version from 1 on."""
NET = {
    (0, 1): [("d", "x", 1)],
    (0, 2): [],
    (0, 3): [("d", "x", 1)],
    (1, 3): [],
    (3, 4): [],
    (4, 5): [("a", "x", -1), ("a", "y", 1)],
    (5, 6): [],
    (0, 7): [("a", "x", -1), ("a", "y", 1), ("b", "x", -1), ("d", "x", 1)],
    (6, 8): [("b", "x", 1), ("e", None, 1)],
}
"""From one version to another; a row that is there twice came twice."""


@pytest.fixture
def source(spark, tmp_path):
    place = Reference("delta", str(tmp_path / "wants"))
    catalog.SUBSCRIPTIONS.rows(spark, START).coalesce(1).write.format("delta").options(**FEED).save(place.place)
    return place


@pytest.mark.spark
def test_net_changes__are_what_came_less_what_went_whatever_happened_in_between(spark, tmp_path):
    place = Reference("delta", str(tmp_path / "wants"))
    frame = spark.createDataFrame(START, "node_id string, topic_id string").coalesce(1)
    frame.write.format("delta").options(**FEED).save(place.place)
    for statement in HISTORY:
        spark.sql(statement.format(t=f"delta.`{place.place}`"))
    for (after, upto), expected in NET.items():
        found = feed.net_changes(spark, catalog.SUBSCRIPTIONS, place, after, upto)
        assert sorted_rows(found) == expected, (after, upto)
    name = "spark_catalog.default.wants_with_a_feed"
    spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{place.place}'")
    try:
        found = feed.net_changes(spark, catalog.SUBSCRIPTIONS, Reference("table", name), 0, 7)
        assert sorted_rows(found) == NET[0, 7]
        assert [f.dataType.simpleString() for f in found.schema] == ["string", "string", "int"]
    finally:
        spark.sql(f"DROP TABLE {name}")


@pytest.mark.spark
def test_hole__where_the_feed_was_off_or_a_file_is_gone_is_told_with_the_reason(spark, source):
    name = f"delta.`{source.place}`"
    spark.sql(f"DELETE FROM {name} WHERE node_id = 'a'")
    (file,) = (path for path in _files(source) if "_change_data" in path.as_posix())
    file.unlink()
    with pytest.raises(
        FeedError, match=r"feed of table 'subscriptions' has a hole: \[FAILED_READ_FILE.FILE_NOT_EXIST\] .*_change_data"
    ) as told:
        read(spark, source, 0, 1)
    assert "\n" not in str(told.value)
    assert str(told.value).endswith(
        "Keep delta.enableChangeDataFeed on, and history for longer than refreshes are apart."
    )
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES (delta.enableChangeDataFeed = false)")
    spark.sql(f"INSERT INTO {name} VALUES ('e', 'x')")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    with pytest.raises(FeedError, match=r"\[DELTA_MISSING_CHANGE_DATA\] .* version \[2\]"):
        read(spark, source, 1, 4)
    assert read(spark, source, 3, 4) == []


def _files(source):
    from pathlib import Path

    return list(Path(source.place).rglob("*.parquet"))


def read(spark, source, after, upto):
    with feed.holes_told("subscriptions"):
        return feed.net_changes(spark, catalog.SUBSCRIPTIONS, source, after, upto).collect()


def test_other_errors__are_no_holes():
    for error in (ValueError("DELTA"), KeyError("no such key"), FeedError("told already")):
        with pytest.raises(type(error)) as raised, feed.holes_told("subscriptions"):
            raise error
        assert raised.value is error


LINKS = [("a", "b", 1.0, 1, 1, "single", 0), ("a", "c", 2.0, 2, 1, "single", 1), ("b", "c", 3.0, 1, 1, "level-1", 7)]
CHANGES = [
    ("add", 0, "c", "d", 4.0, 1, 1, "repair", 8),
    ("remove", 1, "a", "b", 1.0, None, None, "repair", None),
    ("update", None, "b", "c", 3.5, 2, 9, "repair", 99),
]
UPDATED = ("cost", "shared_topics")
AFTER = [("a", "c", 2.0, 2, 1, "single", 1), ("b", "c", 3.5, 2, 1, "level-1", 7), ("c", "d", 4.0, 1, 1, "repair", 8)]


def changes_of(spark, rows):
    types = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in catalog.OVERLAY_LINKS.schema)
    return spark.createDataFrame(rows, f"action string, step bigint, {types}")


@pytest.mark.spark
def test_merge__adds_removes_and_updates_in_one_commit_that_says_of_itself_what_it_should(spark, tmp_path):
    """At a path with what SQL and templates take for their own."""
    links = Reference("delta", str(tmp_path / "li{n}k`s"))
    delta.overwrite(catalog.OVERLAY_LINKS, catalog.OVERLAY_LINKS.rows(spark, LINKS), links, {"generation": 4}, 4)
    said = {"run_id": "r", "generation": 5, "text": "it's {one} `\\\" ö"}
    feed.merge(catalog.OVERLAY_LINKS, changes_of(spark, CHANGES), links, said, 5, UPDATED)
    assert sorted_rows(delta.read(spark, links)) == AFTER
    assert delta.commits(spark, links)[0][:3] == (1, said, "MERGE")
    for generation in (5, 4):  # whoever comes later with what was committed already writes nothing
        feed.merge(catalog.OVERLAY_LINKS, changes_of(spark, CHANGES), links, {"run_id": "late"}, generation, UPDATED)
    assert delta.latest_version(spark, links) == 1
    assert sorted_rows(delta.read(spark, links)) == AFTER
    feed.merge(catalog.OVERLAY_LINKS, changes_of(spark, []), links, {"run_id": "nothing"}, 6, UPDATED)
    assert delta.commits(spark, links)[0][:2] == (2, {"run_id": "nothing"})
    assert sorted_rows(delta.read(spark, links)) == AFTER


@pytest.mark.spark
def test_merge__leaves_no_setting_behind_even_where_it_fails(spark, tmp_path):
    name, others = "spark.databricks.delta.commitInfo.userMetadata", "spark.databricks.delta.write.txnVersion"
    nowhere = Reference("delta", str(tmp_path / "nowhere"))
    spark.conf.set(name, "the user's own")
    try:
        with pytest.raises(Exception, match="nowhere"):
            feed.merge(catalog.OVERLAY_LINKS, changes_of(spark, CHANGES), nowhere, {"run_id": "r"}, 1, UPDATED)
        assert spark.conf.get(name) == "the user's own"
        assert spark.conf.get(others, None) is None
    finally:
        spark.conf.unset(name)
    links = Reference("delta", str(tmp_path / "links"))
    delta.overwrite(catalog.OVERLAY_LINKS, catalog.OVERLAY_LINKS.rows(spark, LINKS), links, {}, 0)
    feed.merge(catalog.OVERLAY_LINKS, changes_of(spark, CHANGES[:1]), links, {"run_id": "r"}, 1, UPDATED)
    assert spark.conf.get(name, None) is None
    delta.append(
        catalog.OVERLAY_LINKS, catalog.OVERLAY_LINKS.rows(spark, [("x", "y", 1.0, 1, 1, "s", 9)]), links, {"mine": 1}
    )
    assert delta.commits(spark, links, 1)[0].metadata == json.loads('{"mine": 1}')
