"""The refresh job: what it writes, what it leaves alone, and what it refuses."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from overlay_spark.errors import GuardError, InputError
from overlay_spark.jobs import refresh as refresh_job
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.generations import head_of, stale_tables
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options, RefreshOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests.jobs.drawn import COMER, IDLE, NODES, a_little, much, refresh
from tests.jobs.refreshing import (
    DERIVED,
    FEED,
    FORMS,
    LISTED,
    LOOSE,
    POINTS,
    SITES,
    World,
    commits,
    pair,
    require_refreshed,
    require_right,
    stored,
)

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    "form", [form if form == LISTED else pytest.param(form, marks=pytest.mark.slow) for form in FORMS]
)
def test_refresh__keeps_an_overlay_right_by_one_commit_and_leaves_alone_what_nothing_happened_to(
    spark, designed, tmp_path, form
):
    world = designed(form).copy(tmp_path / "world")
    old, before = stored(spark, world.out), world.copy(tmp_path / "before")
    much(world, old)
    world.write(spark)
    found = refresh(spark, world)
    new = stored(spark, world.out)
    require_led_to(before, world, old, new)
    assert min(found.metrics.added, found.metrics.removed) > 0
    assert found.metrics.nodes_lost == 2
    assert stale_tables(spark, world.out) == ()
    if form == LISTED:  # once more: an overlay that was refreshed
        before = world.copy(tmp_path / "refreshed")
        world.wants -= {(node, topic) for node, topic in world.wants if node == NODES[7]}
        world.wants |= {(IDLE, "t1"), (IDLE, "new")}
        world.places[IDLE] = world.places.pop(NODES[7])
        world.write(spark)
        assert refresh(spark, world).metrics.nodes_lost == 1
        require_led_to(before, world, new, stored(spark, world.out))
        assert run_verify(spark, world.inputs, world.out, Options()).ok
    counts = commits(world.folder)
    again = refresh(spark, world)
    assert (again.metrics, again.redesigned) == (None, None)
    assert commits(world.folder) == counts


def require_led_to(before, world, old, new):
    touched = require_refreshed(before, world, old, new)
    assert touched
    assert not touched & {"still", "quiet"}
    assert any(new.topics[topic][4] is not None for topic in ("still", "quiet"))


@pytest.mark.slow
def test_refresh__of_integer_ids_in_a_table_that_others_rewrite(spark, tmp_path):
    """Ids become text in the order of their bytes; a rewritten row is no change."""
    world = World(tmp_path, LISTED, set(), nodes_given=False)
    wants = {(node, 70 + node % 3) for node in range(8, 14)} | {(node, 70) for node in range(8, 14)}
    world.wants = {(str(node), str(topic)) for node, topic in wants}
    world.costs = {pair(str(a), str(b)): float(a + b) for a, b in combinations(range(8, 14), 2)}
    spark.createDataFrame(sorted(wants), "node_id bigint, topic_id int").write.format("delta").options(**FEED).save(
        world.at("subscriptions").place
    )
    world._written["wants"] = set(world.wants)
    world.write(spark)
    run_design(spark, world.inputs, world.out, Options()).close()
    old, before = stored(spark, world.out), world.copy(tmp_path / "before")
    name = world.sql_name("subscriptions")
    spark.sql(f"DELETE FROM {name} WHERE node_id = 9")
    spark.sql(f"INSERT INTO {name} VALUES (9, 71), (100, 70), (101, 72)")
    spark.sql(f"DELETE FROM {name} WHERE node_id = 101")
    spark.sql(f"UPDATE {name} SET topic_id = topic_id")
    world.wants = (world.wants - {("9", "70")} - {("9", str(70 + 9 % 3))}) | {("9", "71"), ("100", "70")}
    world.costs |= {pair("100", str(b)): 5.0 + b for b in range(8, 14)}
    spark.createDataFrame([(*two, cost) for two, cost in world.costs.items()], catalog.LINK_COSTS.schema).write.format(
        "delta"
    ).mode("overwrite").save(world.at("link_costs").place)
    assert refresh(spark, world).metrics.nodes_lost == 0
    touched = require_refreshed(before, world, old, stored(spark, world.out))
    assert touched == {"70", "71"}


@pytest.mark.slow
def test_tables__are_those_of_the_same_overlay_however_a_source_was_rewritten(spark, world, tmp_path):
    """Every row overwritten, updated, merged, deleted and put back; tidied up: the versions go on, nothing else.

    Tables that a refresh before has written get a commit all the same: without one they would seem left unwritten."""
    world.wants.add((NODES[3], "soon gone"))
    world.write(spark)
    refresh(spark, world)
    name, old = world.sql_name("subscriptions"), stored(spark, world.out)
    spark.read.format("delta").load(world.at("subscriptions").place).coalesce(1).write.format("delta").mode(
        "overwrite"
    ).save(world.at("subscriptions").place)
    spark.sql(f"DELETE FROM {name} WHERE topic_id = 'quiet'")
    spark.sql(f"INSERT INTO {name} SELECT node_id, topic_id FROM {name} VERSION AS OF 0 WHERE topic_id = 'quiet'")
    spark.sql(
        f"MERGE INTO {name} t USING {name} s ON t.node_id = s.node_id AND t.topic_id = s.topic_id "
        "WHEN MATCHED THEN UPDATE SET *"
    )
    spark.sql(f"OPTIMIZE {name}")
    found = refresh(spark, world, Options())
    assert (found.metrics.added, found.metrics.removed, found.metrics.updated) == (0, 0, 0)
    new = stored(spark, world.out)
    assert (new.links, new.topics, new.nodes, new.changes) == (old.links, old.topics, old.nodes, old.changes)
    assert head_of(spark, world.out).unfinished == ()
    assert new.metadata["inputs"]["subscriptions"] > old.metadata["inputs"]["subscriptions"]
    counts = commits(world.folder)
    assert refresh(spark, world, Options()).metrics is None
    assert commits(world.folder) == counts


@pytest.mark.slow
def test_nodes__that_come_and_go_without_topics_are_told(spark, world, tmp_path):
    old, before = stored(spark, world.out), world.copy(tmp_path / "before")
    del world.places[IDLE]
    world.places["another"] = None
    world.write(spark)
    assert refresh(spark, world).metrics.nodes_lost == 1
    assert require_refreshed(before, world, old, stored(spark, world.out)) == set()


def test_dry_run__writes_nothing_at_all(spark, world):
    a_little(world)
    world.write(spark)
    files = sorted(world.folder.rglob("*"))
    found = refresh(spark, world, dry_run=True)
    assert found.metrics.updated + found.metrics.added > 0
    assert sorted(world.folder.rglob("*")) == files


STRICT = replace(
    LOOSE, refresh=RefreshOptions(most_added=0.0, most_removed=0.0, most_recosted=0.0, most_nodes_lost=0.0)
)


def token(refusal):
    return str(refusal.value).partition("--approve ")[2].strip(".")


@pytest.mark.slow
def test_guard__refuses_all_at_once_and_lets_through_the_very_plan_whose_token_is_given(spark, world, tmp_path):
    old, before = stored(spark, world.out), world.copy(tmp_path / "before")
    much(world, old)
    world.write(spark)
    with pytest.raises(GuardError, match="Nothing was written") as refusal:
        refresh(spark, world, STRICT)
    assert str(refusal.value).count("; refresh.most_") == 4
    refused = stored(spark, world.out)
    assert (refused.links, refused.version, refused.backups, refused.changes) == (old.links, old.version, None, [])
    assert (refused.runs[-1]["status"], token(refusal) in refused.runs[-1]["message"]) == ("refused", True)
    assert len(refused.runs) == len(old.runs) + 1
    world.wants ^= {(NODES[3], "t5")}
    world.write(spark)
    with pytest.raises(GuardError, match=f"The token {token(refusal)} was for another plan") as again:
        refresh(spark, world, STRICT, approved=token(refusal))
    assert token(again) != token(refusal)
    refresh(spark, world, STRICT, approved=token(again))
    require_refreshed(before, world, old, stored(spark, world.out))


def test_guard__an_empty_input_is_refused_by_the_default_options(spark, world):
    world.wants.clear()
    spark.sql(f"DELETE FROM {world.sql_name('subscriptions')}")
    with pytest.raises(GuardError, match=r"remove (\d+) of \1 links \(100\.0%"):
        refresh(spark, world, Options())


@pytest.mark.slow
def test_drift__is_told_and_designed_away_where_that_is_allowed(spark, world):
    """All links of the overlay become dear."""
    for ends in stored(spark, world.out).links:
        world.costs[ends] = 400.0
    world.write(spark)
    drifted = replace(LOOSE.refresh, most_drift=0.1)
    found = refresh(spark, world, replace(LOOSE, refresh=drifted))
    (note,) = found.notes
    assert note.startswith("The overlay costs ")
    assert note.endswith("Design it anew, or allow it by refresh.redesign_on_drift.")
    told = stored(spark, world.out)
    assert told.runs[-1]["message"] == note
    assert told.metadata["quality"]["drift"] > 1
    assert found.metrics.recosted == len(told.links)
    a_little(world)
    world.write(spark)
    (again,) = refresh(spark, world, replace(LOOSE, refresh=drifted)).notes
    assert again == note  # it is no better, so it is told again, and designed away once that is allowed
    world.wants ^= {(NODES[3], "quiet")}
    world.write(spark)
    anew = refresh(spark, world, replace(LOOSE, refresh=replace(drifted, redesign_on_drift=True))).redesigned
    assert anew is not None
    new = stored(spark, world.out)
    require_right(world, new.links)
    assert sum(row[2] for row in new.links.values()) == anew.metrics.cost < 200.0 * len(new.links)
    assert (new.metadata["generation"], new.runs[-1]["engine"]) == (3, anew.engine)
    assert new.runs[-1]["message"].endswith("Designed anew.")
    assert refresh(spark, world).metrics is None


BAD_ROWS = {
    "an empty id": ("INSERT INTO {s} VALUES ('', 't0')", "column 'node_id' has 1 row that is empty"),
    "a null": ("INSERT INTO {s} VALUES (NULL, 't0')", "column 'node_id' has 1 row that is null"),
    "a repeated row": ("INSERT INTO {s} SELECT * FROM {s} WHERE topic_id = 'alone'", "has 2 rows whose (node_id, topic_id) occurs more than once (first: "),
    "an unknown node": ("INSERT INTO {s} VALUES ('nobody', 't0')", "has 1 row of a node that table 'nodes' does not know (first: node_id='nobody')"),
}  # fmt: skip
SELDOM = ("an empty id", "an unknown node")


@pytest.mark.parametrize(
    "fault", ["a null", "a repeated row", *[pytest.param(name, marks=pytest.mark.slow) for name in SELDOM]]
)
def test_bad_subscriptions__are_refused_in_one_message_before_anything_is_written(spark, world, fault):
    statement, message = BAD_ROWS[fault]
    spark.sql(statement.format(s=world.sql_name("subscriptions")))
    require_input_refused(spark, world, message)


def require_input_refused(spark, world, message):
    counts = commits(world.folder)
    with pytest.raises(InputError) as refusal:
        refresh(spark, world)
    assert message in str(refusal.value)
    after = commits(world.folder)
    assert {name: n for name, n in after.items() if counts.get(name) != n} == {"runs": counts["runs"] + 2}
    runs = stored(spark, world.out).runs
    assert (runs[-1]["status"], message in runs[-1]["message"]) == ("refused", True)


@pytest.mark.slow
def test_missing_coordinates_and_costs__are_refused_by_the_whole_check(spark, designed, tmp_path):
    world = designed(POINTS).copy(tmp_path / "points")
    world.wants.add((COMER, "t0"))
    world.write(spark)
    row = catalog.NODES.rows(spark, [(COMER, None, None, None)])
    row.write.format("delta").mode("append").save(world.at("nodes").place)
    require_input_refused(spark, world, "column 'coordinates' has 1 row that is null")
    world = designed(SITES).copy(tmp_path / "sites")
    world.places[COMER] = "elsewhere"
    world.wants.add((COMER, "t0"))
    world.write(spark)
    require_input_refused(spark, world, "Table 'site_costs' has no cost for 5 pairs of sites in use")


@pytest.mark.slow
def test_listed_links__that_leave_a_topic_apart_are_refused_by_its_name(spark, world):
    members = world.members()["quiet"]
    lone = sorted(members)[0]
    world.costs = {ends: cost for ends, cost in world.costs.items() if not (lone in ends and set(ends) <= members)}
    world.write(spark)
    require_input_refused(spark, world, "no links that connect")
    with pytest.raises(InputError, match=r"\(first: 'quiet'|, 'quiet'"):
        refresh(spark, world, dry_run=True)


@pytest.mark.parametrize("setting", ["spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles"])
def test_settings__by_which_rows_could_be_left_out_are_refused(spark, world, setting):
    before = spark.conf.get(setting)
    spark.conf.set(setting, "true")
    try:
        with pytest.raises(InputError, match=f"{setting} is on: rows could be left out unnoticed"):
            refresh(spark, world)
    finally:
        spark.conf.set(setting, before)


def test_refresh__needs_an_overlay(spark, world, tmp_path):
    nowhere = Destination.parse(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="there is no overlay here to refresh"):
        run_refresh(spark, world.inputs, nowhere, Options())
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.slow
def test_degrees__an_overlay_designed_for_them_is_refreshed_for_them(spark, world, tmp_path):
    run_design(spark, world.inputs, world.out, Options().designing("low_degree")).close()
    options = refresh_job.options_for(head_of(spark, world.out), LOOSE)
    assert options.churn.objective == "degree"
    old, before = stored(spark, world.out), world.copy(tmp_path / "before")
    much(world, old)
    world.write(spark)
    refresh(spark, world)
    found = stored(spark, world.out)
    require_refreshed(before, world, old, found)
    by_degree, by_cost = (before_refreshed(spark, world, before, tmp_path, o) for o in ("degree", "cost"))
    assert found.links == by_degree.links != by_cost.links
    assert found.metadata["algorithm"] == "low_degree"


def before_refreshed(spark, world, before, folder, objective):
    """What the refresh comes to with this objective."""
    again = replace(world, folder=folder / objective)
    shutil.copytree(before.folder / "out", folder / objective / "out")
    shutil.copytree(world.folder / "in", folder / objective / "in")
    refresh(spark, again, replace(LOOSE, churn=replace(LOOSE.churn, objective=objective)))
    return stored(spark, again.out)


@pytest.mark.slow
def test_overlay__whose_files_others_tidied_up_is_refreshed(spark, world):
    """By OPTIMIZE and VACUUM: the files of the version that was written are gone."""
    diameters = {topic: row[4] for topic, row in stored(spark, world.out).topics.items()}
    for name in ("overlay_links", "overlay_nodes"):
        place = world.out.table(name)
        written = {path.rpartition("/")[2] for path in delta.read(spark, place).inputFiles()}
        rows = delta.read(spark, place).repartition(3)
        metadata = delta.commits(spark, place, 1)[0].metadata
        rows.write.format("delta").mode("overwrite").option("userMetadata", json.dumps(metadata)).save(place.place)
        spark.sql(f"OPTIMIZE delta.`{place.place}`")
        kept = {path.rpartition("/")[2] for path in delta.read(spark, place).inputFiles()}
        assert not kept & written
        for file in Path(place.place).rglob("*.parquet"):
            if file.name not in kept and "_delta_log" not in str(file):
                file.unlink()
    assert refresh(spark, world).metrics is None
    a_little(world)
    world.write(spark)
    refresh(spark, world)
    found = stored(spark, world.out)
    require_right(world, found.links)
    assert stale_tables(spark, world.out) == ()
    assert found.topics["still"][4] == diameters["still"] is not None


@pytest.mark.slow
def test_refresh__that_was_overtaken_writes_nothing_and_says_so(spark, world, monkeypatch):
    a_little(world)
    world.write(spark)
    write = refresh_job._write

    def overtaken(found, output, run, quality):
        monkeypatch.setattr(refresh_job, "_write", write)
        refresh(spark, world)
        write(found, output, run, quality)

    monkeypatch.setattr(refresh_job, "_write", overtaken)
    with pytest.raises(GuardError, match="Another run wrote overlay_links at"):
        refresh(spark, world)
    found = stored(spark, world.out)
    assert found.version == 1
    assert sorted((row["status"], row["generation"]) for row in found.runs if row["job"] == "refresh") == [
        ("done", 1),
        ("refused", 1),
    ]
    assert {change[0] for change in found.changes} <= {1}
    require_right(world, found.links)


@pytest.mark.slow
def test_sessions__without_cache_and_checkpoints_come_to_the_same(spark, world, tmp_path, refusing):
    old, before = stored(spark, world.out), world.copy(tmp_path / "before")
    much(world, old)
    world.write(spark)
    refresh(spark, world)
    assert refusing
    require_refreshed(before, world, old, stored(spark, world.out))
    assert sorted(path.name for path in (world.folder / "out").iterdir()) == sorted(["overlay_links", *DERIVED, "runs"])
