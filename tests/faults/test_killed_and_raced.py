"""Runs that are killed at any write, and runs that race: what readers see is right, and a rerun ends as a clean run."""

from __future__ import annotations

import shutil
import time

import pytest

from overlay_spark.cli import DONE, REFUSED
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.generations import stale_tables
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options
from overlay_spark.tables import catalog
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.faults.processes import TRIALS, Process, raced, started_ahead
from tests.faults.refreshing import World, rows_of, runs_of

pytestmark = [pytest.mark.spark, pytest.mark.faults]

TABLES = (catalog.OVERLAY_LINKS, catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)
WANTS = [("a", "x"), ("b", "x"), ("a", "y"), ("c", "y"), *[(node, "z") for node in "abc"]]
COSTS = {("a", "b"): 3.0, ("a", "c"): 3.0, ("b", "c"): 1.0}
OLD, NEW = Options().designing("trees", then="reverse_delete"), Options().designing("greedy")
WRITES = 5
"""The row that opens, links, topics, nodes, the row that closes."""


@pytest.fixture(scope="module")
def given(_session, tmp_path_factory):
    """(world, command, before, clean): a world whose folder ``old`` holds an overlay already, what designs another in
    its place, and its tables before and after a clean run of that; both are verified."""
    world = World(tmp_path_factory.mktemp("given"))
    world.begin(_session, WANTS, COSTS)
    run_design(_session, world.inputs, Destination.parse(f"{world.folder}/old"), OLD).close()
    shutil.copytree(world.folder / "old", world.folder / "clean")
    run_design(_session, world.inputs, Destination.parse(f"{world.folder}/clean"), NEW).close()
    before, clean = (tables(Destination.parse(f"{world.folder}/{name}")) for name in ("old", "clean"))
    assert all(before[name] != clean[name] for name in before)
    for name in ("old", "clean"):
        with run_verify(
            _session, world.inputs, Destination.parse(f"{world.folder}/{name}"), OLD, dry_run=True
        ) as found:
            assert (found.ok, found.stale) == (True, ())
    return world, ["design", *world.flags], before, clean


def tables(place):
    return {table.name: rows_of(place, table) for table in TABLES}


def over_the_old(given, folder, name, fatal=None):
    """A process that will design in a copy of what is there."""
    world, command, *_ = given
    shutil.copytree(world.folder / "old", folder / name)
    return Process(command, folder / f"meet {name}", [(folder / name, 0)], fatal)


def check_what_is_left(spark, given, out):
    """Whatever was written is right and told apart; the next run gives what a clean one gives."""
    world, _, before, clean = given
    place = Destination.parse(str(out))
    left, stale = tables(place), stale_tables(spark, place)
    assert all(left[name] in (before[name], clean[name]) for name in left)
    told = {sentence.split()[0] for sentence in stale}
    assert told == {
        name for name in left if (left[name] == clean[name]) != (left["overlay_links"] == clean["overlay_links"])
    }
    opened = {run_id: row["status"] for run_id, row in runs_of(place).items()}
    run_design(spark, world.inputs, place, NEW).close()
    assert tables(place) == clean
    assert stale_tables(spark, place) == ()
    closed = {run_id: row["status"] for run_id, row in runs_of(place).items()}
    assert {status for run, status in opened.items() if status != closed[run]} <= {"running"}
    assert all(closed[run] == "killed" for run, status in opened.items() if status == "running")
    assert "running" not in closed.values()
    return left, opened


def test_design__killed_at_a_write_can_be_run_again(spark, given, tmp_path):
    def start(fatal):
        return over_the_old(given, tmp_path, "{} {}".format(*fatal), list(fatal))

    trials = [(1, "before"), *[(at, "after") for at in range(1, WRITES + 1)]]
    for (at, moment), process in started_ahead(start, trials):
        process.go()
        was_killed, answers, told = process.ended()
        assert (was_killed, answers) == (True, []), (at, moment, told)
        left, opened = check_what_is_left(spark, given, tmp_path / f"{at} {moment}")
        done = at if moment == "after" else at - 1  # it was killed where it was meant to be
        links, *derived = (left[table.name] == given[3][table.name] for table in TABLES)
        assert links == (done >= 2), (at, moment)
        assert not any(derived) or done >= 2, (at, moment)
        assert all(derived) or at < WRITES, (at, moment)  # they are written side by side: either may be done first
        assert ("running" in opened.values()) == (1 <= done < WRITES), (at, moment)


def test_design__killed_when_a_file_appears_can_be_run_again(spark, given, tmp_path):
    """At a file operation inside a write: the whole process group, Java with it."""

    def files(out):
        return sum(name.is_file() for name in out.rglob("*"))

    for new, process in started_ahead(lambda new: over_the_old(given, tmp_path, str(new)), [1, 3, 6, 9, 12]):
        out = tmp_path / str(new)
        before = files(out)
        process.go()
        while process.is_there and files(out) < before + new:
            time.sleep(0.002)
        process.kill()
        was_killed, answers, told = process.ended()
        assert (was_killed, answers) == (True, []), (new, told)
        check_what_is_left(spark, given, out)


def test_design__raced_by_another_leaves_one_whole_overlay(spark, given, tmp_path):
    """Again and again two processes begin at the same moment; half of the places hold an overlay already."""
    world, command, _, clean = given
    for turn in range(0, TRIALS, 2):
        shutil.copytree(world.folder / "old", tmp_path / str(turn))
    ended = raced(command, tmp_path, [[(tmp_path / str(turn), 0) for turn in range(TRIALS)]] * 2)
    assert [len(answers) for _, answers, _ in ended] == [TRIALS] * 2, [told[-2000:] for *_, told in ended]
    lost = [answer for _, answers, _ in ended for answer in answers if answer.code != DONE]
    for turn in range(TRIALS):
        place = Destination.parse(str(tmp_path / str(turn)))
        assert tables(place) == clean
        assert stale_tables(spark, place) == ()
        runs = [row["status"] for row in runs_of(place).values() if row["generation"] is not None]
        refused = sum(answer.turn == turn for answer in lost)
        assert refused <= 1
        assert runs.count("refused") == refused
        generations = [told["generation"] for told in plain_delta.commits(place.table("overlay_links").place)]
        assert len(set(generations)) == len(generations)
    assert lost, "no two runs met"
    assert all(answer.code == REFUSED and "Another run wrote overlay_links" in answer.told for answer in lost), lost
    assert all("Run again" in answer.told for answer in lost), lost
