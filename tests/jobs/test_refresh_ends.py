"""Where a refresh cannot go on from what is there: holes in the feed; and where another one ended early: it is finished."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

import overlay_spark
from overlay_spark.errors import GuardError
from overlay_spark.jobs import refresh as refresh_job
from overlay_spark.jobs.generations import head_of, stale_tables
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Reference
from tests.jobs.drawn import NODES, a_little, much, refresh
from tests.jobs.refreshing import DERIVED, FEED, LOOSE, commits, require_right, stored

pytestmark = pytest.mark.spark


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
