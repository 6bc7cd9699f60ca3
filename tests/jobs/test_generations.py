"""One run, one truth: generations, the fence between two writers, places that cannot be written."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from overlay_spark.errors import GuardError, InputError
from overlay_spark.jobs import design as design_job
from overlay_spark.jobs.design import run_design, write_overlay
from overlay_spark.jobs.generations import Head, looking_ahead, next_generation, require_writable, stale_tables
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.runs import Run
from overlay_spark.options import Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests import plain_delta
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

WANTS = [("a", "x"), ("b", "x"), ("c", "x")]
COSTS = [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 2.5)]
DERIVED = [catalog.OVERLAY_TOPICS.name, catalog.OVERLAY_NODES.name]


@pytest.fixture
def place(tmp_path):
    return Destination.parse(str(tmp_path / "out"))


@pytest.fixture
def inputs(spark, tmp_path):
    catalog.SUBSCRIPTIONS.rows(spark, WANTS).write.parquet(str(tmp_path / "wants"))
    catalog.LINK_COSTS.rows(spark, COSTS).write.parquet(str(tmp_path / "costs"))
    return Inputs(
        Reference("parquet", str(tmp_path / "wants")), link_costs=Reference("parquet", str(tmp_path / "costs"))
    )


def generation_of(spark, place, name):
    return delta.commits(spark, place.table(name), 1)[0].metadata["generation"]


def test_generations__count_up_and_all_tables_of_a_run_name_the_same(spark, place, inputs):
    assert next_generation(spark, place) == 0
    for generation in range(2):
        run_design(spark, inputs, place, Options()).close()
        assert {generation_of(spark, place, name) for name in ("overlay_links", *DERIVED)} == {generation}
        assert next_generation(spark, place) == generation + 1
        links = place.table("overlay_links")
        for name in DERIVED:
            told = delta.commits(spark, place.table(name), 1)[0].metadata
            assert told["links_version"] == delta.latest_version(spark, links) == generation
    assert stale_tables(spark, place) == ()
    spark.sql(f"OPTIMIZE delta.`{place.table('overlay_nodes').place}`")  # tidied up by somebody
    assert stale_tables(spark, place) == ()
    rows = sorted_rows(delta.read(spark, place.table("runs")).select("status", "generation"))
    assert rows == [("done", 0), ("done", 1)]


@pytest.mark.slow
def test_run__in_a_new_place_looks_for_each_table_once(spark, place, inputs, monkeypatch):
    """A look at what is not there takes ten times as long as one at a table."""
    look, missing = delta._stored_columns, Counter()

    def counting(spark, reference):
        found = look(spark, reference)
        missing.update([] if found else [Path(reference.place).name])
        return found

    monkeypatch.setattr(delta, "_stored_columns", counting)
    run_design(spark, inputs, place, Options()).close()
    assert missing == {"overlay_links": 2, "overlay_topics": 1, "overlay_nodes": 1, "runs": 1}  # links: the generation
    missing.clear()
    run_design(spark, inputs, place, Options()).close()
    assert not missing


def test_head__is_current_for_the_very_tables_it_was_computed_from():
    metadata = {"inputs": {"subscriptions": 3, "nodes": 1}, "input_times": {"subscriptions": 7000, "nodes": 9000}}
    head = Head(generation=0, version=0, metadata=metadata)
    subscriptions, nodes = {"version": 3, "at": 7000}, {"version": 1, "at": 9001}
    same = {"subscriptions": subscriptions, "nodes": nodes}
    assert head.is_current(same)
    assert not head.is_current({**same, "nodes": {"version": 2, "at": 9000}})
    assert not head.is_current({**same, "nodes": {"version": 1, "at": 99000}})
    assert not head.is_current({"subscriptions": subscriptions})
    assert not head.is_current({**same, "site_costs": {"version": 0, "at": 9000}})
    assert not head.is_current({**same, "nodes": {"version": None, "at": None}})
    assert not replace(head, unfinished=("overlay_nodes",)).is_current(same)
    assert not replace(head, undone=delta.Commit(1, {}, "RESTORE")).is_current(same)
    of_before = replace(head, metadata={"inputs": metadata["inputs"]})  # written when times were not
    assert of_before.is_current(same)


@pytest.mark.parametrize("operation", ["OPTIMIZE", "VACUUM END", "SET TBLPROPERTIES", "DROP CONSTRAINT"])
def test_commits__that_tidy_up_change_no_rows(operation):
    assert not delta.Commit(1, {}, operation).is_of_rows
    assert all(delta.Commit(1, {}, other).is_of_rows for other in ("RESTORE", "DELETE", "WRITE", "MERGE", ""))


@pytest.mark.slow
def test_run__begun_before_another_made_the_tables_is_the_second_of_them(spark, place, inputs, monkeypatch):
    run_design(spark, inputs, place, Options()).close()
    found = set()

    def nothing(spark, output):
        found.update(require_writable(spark, output))
        return frozenset(table.name for table in (catalog.OVERLAY_LINKS, catalog.RUNS)) | set(DERIVED)

    monkeypatch.setattr(design_job, "require_writable", nothing)
    run_design(spark, inputs, place, Options()).close()
    assert not found
    assert {generation_of(spark, place, name) for name in ("overlay_links", *DERIVED)} == {1}
    rows = sorted_rows(delta.read(spark, place.table("runs")).select("status", "generation"))
    assert rows == [("done", 0), ("done", 1)]


def test_run__that_was_overtaken_writes_nothing_and_says_so(spark, place, inputs, monkeypatch):
    """The other run begins later and commits between this one's start and its write."""
    write = design_job.write_overlay

    def overtaken(overlay, output, run):
        monkeypatch.setattr(design_job, "write_overlay", write)
        run_design(spark, inputs, output, Options().designing("trees")).close()
        write(overlay, output, run)

    monkeypatch.setattr(design_job, "write_overlay", overtaken)
    with pytest.raises(GuardError) as lost:
        run_design(spark, inputs, place, Options())
    assert str(lost.value) == (
        f"Another run wrote overlay_links at {place} meanwhile, so this overlay was not written. Run again to start "
        "from what is there now."
    )
    assert lost.value.exit_code == 1
    assert delta.latest_version(spark, place.table("overlay_links")) == 0
    runs = plain_delta.read(place.table("runs"))
    assert sorted((row["algorithm"], row["status"], row["generation"]) for row in runs) == [
        ("greedy", "refused", 0),
        ("trees", "done", 0),
    ]


@pytest.mark.slow
def test_derived_tables__of_an_earlier_generation_never_replace_later_ones(spark, place, inputs, monkeypatch):
    """This run's links are committed; before its other tables are, a later run writes everything."""
    overlay = run_design(spark, inputs, place, Options())
    late, overwrite = Run(job="design", options=Options(), generation=1), delta.overwrite

    def between(table, frame, reference, metadata, *rest):
        written = overwrite(table, frame, reference, metadata, *rest)
        if table is catalog.OVERLAY_LINKS and metadata["run_id"] == late.run_id:
            run_design(spark, inputs, place, Options().designing("trees")).close()
        return written

    monkeypatch.setattr(delta, "overwrite", between)
    write_overlay(overlay, place, late)
    assert {generation_of(spark, place, name) for name in ("overlay_links", *DERIVED)} == {2}
    assert stale_tables(spark, place) == ()


def test_stale_tables__are_told_by_name(spark, place, inputs):
    overlay = run_design(spark, inputs, place, Options())
    run = Run(job="design", options=Options(), generation=1)
    delta.overwrite(catalog.OVERLAY_LINKS, overlay.links, place.table("overlay_links"), run.metadata, 1)
    assert stale_tables(spark, place) == tuple(
        f"{name} is of generation 0, but overlay_links of generation 1: refresh or design again to renew it."
        for name in DERIVED
    )
    elsewhere = Destination.parse(str(place) + "-links")
    delta.overwrite(catalog.OVERLAY_LINKS, overlay.links, elsewhere.table("overlay_links"), run.metadata, 1)
    assert [told.partition(",")[0] for told in stale_tables(spark, elsewhere)] == [f"{n} is missing" for n in DERIVED]


def test_place__that_cannot_be_written_is_refused_before_anything_is_read(spark, tmp_path, inputs):
    (tmp_path / "file").write_text("")
    for text in (f"{tmp_path}/file", f"{tmp_path}/file/out"):
        with pytest.raises(InputError, match=r"file is not a folder that can be written\. Give another --output\."):
            require_writable(spark, Destination.parse(text))
    with pytest.raises(InputError, match="table:nowhere: there is no such schema"):
        run_design(
            spark,
            replace(inputs, subscriptions=Reference("csv", "none")),
            Destination.parse("table:nowhere"),
            Options(),
        )
    require_writable(spark, Destination.parse(str(tmp_path / "new" / "out")))
    require_writable(spark, Destination.parse("table:default"))


def test_look_ahead__is_at_what_is_there_and_begins_with_the_step(monkeypatch):
    seen, told = [], []
    monkeypatch.setattr(delta, "look_ahead", lambda spark, reference: seen.append(reference.place))
    new = frozenset({catalog.OVERLAY_NODES.name, catalog.OVERLAY_STATE.name})
    progress = looking_ahead(
        None, Destination.parse("here"), (catalog.OVERLAY_STATE, catalog.OVERLAY_CHANGES), new, told.append, "solve"
    )
    progress("check")
    assert seen == []
    progress("solve")
    progress("solve")  # they are read once
    names = ("overlay_links", "overlay_topics", "runs", "overlay_changes")
    until(lambda: len(seen) >= len(names))
    assert sorted(seen) == sorted(f"here/{name}" for name in names)
    assert told == ["check", "solve", "solve"]


@pytest.mark.slow
def test_design__looks_ahead_while_it_solves_and_a_dry_run_never(spark, place, inputs, monkeypatch):
    seen, look = [], delta.look_ahead

    def noted(spark, reference):
        seen.append(reference.place)
        look(spark, reference)

    monkeypatch.setattr(delta, "look_ahead", noted)
    run_design(spark, inputs, place, Options()).close()
    assert seen == []  # there was nothing yet
    run_design(spark, inputs, place, Options(), dry_run=True).close()
    assert seen == []
    run_design(spark, inputs, place, Options()).close()
    until(lambda: len(seen) >= 4)
    names = ("overlay_links", "overlay_topics", "overlay_nodes", "runs")
    assert sorted(seen) == sorted(place.table(name).place for name in names)


def until(happened):
    for _ in range(500):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")
