"""The refresh job: what it writes, what it leaves alone, what it refuses, and that it ends what another began."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import overlay_spark
from overlay_spark.errors import GuardError, InputError
from overlay_spark.jobs import refresh as refresh_job
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.generations import head_of, stale_tables
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options, RefreshOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests.frames.churned import ids
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

NODES = ids(18)
"""In the order of their UTF-8 bytes."""
IDLE, COMER = NODES[16:]
"""A node that wants nothing, and one that is not there yet."""


def drawn(folder, form, seed=5):
    """Sixteen nodes want some of eight topics; ``alone`` is wanted by one, ``soon gone`` by two; ``still`` and
    ``quiet`` by those that no test changes."""
    rng = np.random.default_rng(seed)
    wants = {(node, f"t{t}") for node in NODES[:16] for t in range(6) if rng.random() < 0.35}
    wants |= {(NODES[0], "alone"), (NODES[1], "soon gone"), (NODES[2], "soon gone")}
    wants |= {(node, topic) for node in NODES[8:14] for topic in ("still", "quiet") if rng.random() < 0.8}
    if form == POINTS:
        places = {node: tuple(rng.uniform(0, 9, 2).round(3).tolist()) for node in NODES}
        costs = {}
    elif form == SITES:
        places = {node: f"s{int(rng.integers(0, 5))}" for node in NODES}
        ends = [*combinations([f"s{i}" for i in range(5)], 2), *((f"s{i}", f"s{i}") for i in range(5))]
        costs = {two: float(rng.integers(1, 30)) for two in ends}
    else:
        places = dict.fromkeys(NODES)
        costs = {pair(*two): float(rng.integers(10, 41)) for two in combinations(NODES, 2)}
    del places[COMER]
    return World(folder, form, wants, places, costs)


@pytest.fixture(scope="module")
def designed(_session, tmp_path_factory):
    """A world of each form with its overlay, designed once."""
    made = {}

    def world(form=LISTED):
        if form not in made:
            made[form] = drawn(tmp_path_factory.mktemp(form), form)
            late = {(node, topic) for node, topic in made[form].wants if topic == "t0"}
            made[form].wants -= late
            made[form].write(_session)
            made[form].wants |= late
            made[form].write(_session)  # so that the overlay is of no first version
            run_design(_session, made[form].inputs, made[form].out, Options()).close()
        return made[form]

    return world


@pytest.fixture
def world(designed, tmp_path):
    """A copy of the world of listed costs."""
    return designed().copy(tmp_path / "world")


def refresh(spark, world, options=LOOSE, **more):
    return run_refresh(spark, world.inputs, world.out, options, **more)


def a_little(world):
    """Somebody takes up a topic."""
    world.wants.add((NODES[3], "quiet"))


def much(world, old):
    """Everything that may happen at once, but for the topics ``still`` and ``quiet``."""
    moved = NODES[15]
    world.wants -= {(node, topic) for node, topic in world.wants if node == NODES[4] or topic == "soon gone"}
    del world.places[NODES[4]]
    del world.places[IDLE]
    place = {LISTED: None, SITES: "s1", POINTS: (1.0, 2.0)}[world.form]
    world.places |= {COMER: place, "new and idle": place}
    world.wants |= {(COMER, topic) for topic in ("t0", "t1", "new", "nobody else")} | {(NODES[3], "new")}
    world.wants -= {(NODES[6], topic) for topic in sorted(world.topics_of(NODES[6]))[:1]}
    world.wants |= {(NODES[5], topic) for topic in sorted({f"t{i}" for i in range(6)} - world.topics_of(NODES[5]))[:1]}
    there = sorted(two for two in old.links if not set(two) & {NODES[4], *NODES[8:14]})
    if world.form == LISTED:
        world.costs[there[0]] = 77.0
        world.costs[there[-1]] -= 3.0
        del world.costs[there[1]], world.costs[there[-2]]
    elif world.form == SITES:
        world.places[moved] = "s0" if world.places[moved] == "s4" else "s4"
        world.costs["s1", "s1"] += 2.0
    else:
        world.places[moved] = (8.5, 0.25)


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


def replaced(spark, world, versions):
    """The table dropped and made anew, in so many versions."""
    shutil.rmtree(world.at("subscriptions").place)
    rows = sorted(world.wants)
    for i in range(versions):
        frame = catalog.SUBSCRIPTIONS.rows(spark, rows[i::versions]).coalesce(1)
        frame.write.format("delta").options(**FEED).mode("append").save(world.at("subscriptions").place)


def feed_off(spark, world):
    name = world.sql_name("subscriptions")
    for is_on in ("false", "true"):
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES (delta.enableChangeDataFeed = {is_on})")
        world.wants.add((NODES[3], "quiet" if is_on == "true" else "still"))
        world.write(spark)


def files_gone(spark, world):
    """As VACUUM leaves it: what is not of the newest version is gone."""
    world.write(spark)
    kept = {path.rpartition("/")[2] for path in delta.read(spark, world.at("subscriptions")).inputFiles()}
    for file in (world.folder / "in" / "subscriptions").rglob("*.parquet"):
        if file.name not in kept:
            file.unlink()


def fewer_versions(spark, world):
    replaced(spark, world, 1)


def more_versions(spark, world):
    world.wants.remove((NODES[0], "alone"))
    replaced(spark, world, 3)


def as_many_versions(spark, world):
    world.wants.remove((NODES[0], "alone"))
    replaced(spark, world, 2)


def restored(spark, world):
    """The table of links put back to what it was before the last run."""
    a_little(world)
    world.write(spark)
    refresh(spark, world)
    spark.sql(f"RESTORE TABLE delta.`{world.out.table('overlay_links').place}` TO VERSION AS OF 0")


def vacuumed(spark, world):
    """Rows went with their files: what went is told in files of their own, and those are gone."""
    world.wants = {(node, topic) for node, topic in world.wants if node != NODES[4]}
    files_gone(spark, world)


REPLACED = r"Table 'subscriptions' is another than the overlay was computed from: it was replaced\."
HOLES = {
    feed_off: r"The change data feed of table 'subscriptions' has a hole: .*DELTA_MISSING_CHANGE_DATA",
    vacuumed: r"The change data feed of table 'subscriptions' has a hole: .*(?i:exist)",
    fewer_versions: REPLACED,
    as_many_versions: REPLACED,
    more_versions: REPLACED,
    restored: r"Since the last run, table overlay_links was changed by another \(RESTORE, version 2\)\.",
}


ADVICE = "Design the overlay anew, or allow refreshes to do so by refresh.redesign_on_hole."


@pytest.mark.parametrize(
    "hole", [pytest.param(hole, id=hole.__name__, marks=[pytest.mark.slow] * (hole is restored)) for hole in HOLES]
)
def test_hole__in_the_feed_is_refused_with_the_reason(spark, world, hole):
    hole(spark, world)
    counts = commits(world.out.place)
    with pytest.raises(GuardError, match=HOLES[hole]) as refusal:
        refresh(spark, world)
    assert str(refusal.value).endswith(ADVICE)
    assert "\n" not in str(refusal.value)
    assert commits(world.out.place) == {**counts, "runs": counts["runs"] + 2}
    assert stored(spark, world.out).runs[-1]["status"] == "refused"


@pytest.mark.slow
def test_hole__is_designed_over_where_that_is_allowed(spark, world):
    more_versions(spark, world)
    found = refresh(spark, world, replace(LOOSE, refresh=replace(LOOSE.refresh, redesign_on_hole=True)))
    assert found.redesigned is not None
    new = stored(spark, world.out)
    require_right(world, new.links)
    assert new.metadata["generation"] == 1
    assert new.runs[-1]["message"].endswith("Designed anew.")
    assert stale_tables(spark, world.out) == ()
    assert refresh(spark, world).metrics is None


def test_hole__files_without_versions_tell_nothing_of_changes(spark, world, tmp_path):
    text = "node_id,topic_id\n" + "\n".join(f"{node},{topic}" for node, topic in sorted(world.wants))
    (tmp_path / "subscriptions.csv").write_text(text, encoding="utf-8")
    given = replace(world.inputs, subscriptions=Reference("csv", str(tmp_path / "subscriptions.csv")))
    with pytest.raises(GuardError, match="was not computed from a version of a Delta table of subscriptions"):
        run_refresh(spark, given, world.out, LOOSE)


@pytest.mark.slow
def test_finish__what_a_refresh_left_unwritten_is_as_if_it_had_not_been_stopped(spark, world, tmp_path, monkeypatch):
    """Killed right after its links, and run again when more had changed."""
    much(world, stored(spark, world.out))
    world.write(spark)
    cut = world.copy(tmp_path / "cut")
    refresh(spark, world)
    stop_after(spark, cut, (), monkeypatch)
    assert head_of(spark, cut.out).unfinished
    for each in (world, cut):
        a_little(each)
        each.write(spark)
        assert refresh(spark, each).metrics is not None
    require_same(stored(spark, cut.out), stored(spark, world.out))


@pytest.mark.slow
def test_finish__whatever_was_written_already(spark, world, tmp_path, monkeypatch):
    a_little(world)
    world.write(spark)
    refresh(spark, world)  # so that there are older backups and changes
    much(world, stored(spark, world.out))
    world.write(spark)
    before = world.copy(tmp_path / "before")
    refresh(spark, world)
    clean = stored(spark, world.out)
    for kept in ((name,) for name in DERIVED):
        cut = before.copy(tmp_path / "-".join(kept))
        stop_after(spark, cut, kept, monkeypatch)
        assert set(head_of(spark, cut.out).unfinished) == set(DERIVED) - set(kept)
        assert refresh(spark, cut).metrics is None
        require_same(stored(spark, cut.out), clean)
        assert head_of(spark, cut.out).unfinished == ()
        counts = commits(cut.folder)
        refresh(spark, cut)
        assert commits(cut.folder) == counts


@pytest.mark.slow
def test_packed_overlay__is_refreshed_to_what_its_tables_would_be(spark, world, tmp_path, monkeypatch):
    """What a refresh packed serves the next one, which reads no other table of the overlay; but no other version of
    this package, nor with another unit of costs."""
    a_little(world)
    world.write(spark)
    refresh(spark, world)
    much(world, stored(spark, world.out))
    world.write(spark)
    whole, read = world.copy(tmp_path / "whole"), delta.read
    packed, tables = {"overlay_state"}, {"overlay_links", "overlay_nodes", "overlay_topics", "overlay_backups"}
    for each, version, expected in ((world, None, packed), (whole, "another", tables)):
        looked = set()

        def noted(spark, reference, version=None, looked=looked):
            if version is not None:
                looked.add(reference.place.rpartition("/")[2])
            return read(spark, reference, version)

        with monkeypatch.context() as patched:
            patched.setattr(refresh_job.delta, "read", noted)
            if version is not None:
                patched.setattr(overlay_spark, "__version__", version)
            refresh(spark, each)
        assert looked & (packed | tables) == expected
    require_same(stored(spark, world.out), stored(spark, whole.out))


def require_same(found, clean):
    for table in ("links", "topics", "nodes", "backups", "changes", "state"):
        assert getattr(found, table) == getattr(clean, table), table


class Stopped(BaseException):
    """As if the process was no more."""


def stop_after(spark, world, kept, monkeypatch):
    """A refresh that ends after its links and these tables."""
    with monkeypatch.context() as patched:
        side_by_side = refresh_job.side_by_side

        def some(calls):
            if len(calls) != len(DERIVED):
                return side_by_side(calls)
            for call in calls:
                if call.args[0].name in kept:
                    call()
            raise Stopped

        patched.setattr(refresh_job, "side_by_side", some)
        with pytest.raises(Stopped):
            refresh(spark, world)


@pytest.mark.slow
def test_finish__that_cannot_come_to_the_same_says_so(spark, world, monkeypatch):
    """Other options or another program would make other links."""
    a_little(world)
    world.write(spark)
    stop_after(spark, world, (), monkeypatch)
    place = world.out.table("overlay_links").place
    counts = commits(world.out.place)
    monkeypatch.setattr(refresh_job.delta, "read", one_link_less(delta.read, place))
    with pytest.raises(GuardError, match=r"computed again it comes to other links \(\d+ of them differ\)") as refusal:
        refresh(spark, world)
    assert str(refusal.value).endswith(ADVICE)
    assert commits(world.out.place) == {**counts, "runs": counts["runs"] + 2}


def one_link_less(read, place):
    def reading(spark, reference, version=None):
        found = read(spark, reference, version)
        return found.limit(found.count() - 1) if (reference.place, version) == (place, 1) else found

    return reading


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
