"""Refreshes that are killed between commits, and refreshes that race: what is left is right, and a rerun ends it."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from overlay_spark.cli import DONE, REFUSED
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.generations import stale_tables
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.faults.processes import TRIALS, Process, raced, started_ahead
from tests.faults.refreshing import Drawn, World, ended_after, open_rows, runs_of, stored, versions

pytestmark = [pytest.mark.spark, pytest.mark.faults]

NODES, TOPICS = 40, 10
TOGETHER = TRIALS * 3 // 5
AT_COMMITS = [(2, "before"), (2, "after"), (4, "after"), (7, "after")]
"""The row that opens, links, five tables derived from them side by side, the row that closes."""
OLD = ("designed", "refreshed")
"""The overlays that are refreshed: one as it was designed, and one that was refreshed before."""


@dataclass(frozen=True)
class Given:
    """``before`` and ``clean``: what the overlays' tables hold before a refresh, and after one that nothing stopped."""

    world: World
    before: dict
    clean: dict
    seconds: float

    @property
    def command(self):
        return ["refresh", *self.world.flags]

    def place(self, old, out):
        """A copy of an old overlay."""
        shutil.copytree(self.world.folder / old, out)
        return Destination.parse(str(out))


@pytest.fixture(scope="module")
def given(_session, tmp_path_factory):
    spark, folder = _session, tmp_path_factory.mktemp("given")
    world, drawn = World(folder), Drawn(7, NODES, TOPICS)
    places = {old: Destination.parse(f"{folder}/{old}") for old in OLD}
    world.begin(spark, drawn.wanted, drawn.costs)
    run_design(spark, world.inputs, places["refreshed"], Options()).close()
    step(spark, world, drawn)
    assert run_refresh(spark, world.inputs, places["refreshed"], Options()).metrics.added
    run_design(spark, world.inputs, places["designed"], Options()).close()
    step(spark, world, drawn)
    before, clean = ({}, {})
    for old, place in places.items():
        before[old] = stored(place)
        shutil.copytree(folder / old, folder / f"clean_{old}")
        began = time.monotonic()
        metrics = run_refresh(spark, world.inputs, Destination.parse(f"{folder}/clean_{old}"), Options()).metrics
        seconds = time.monotonic() - began
        assert min(metrics.added, metrics.removed, metrics.updated) > 0
        clean[old] = stored(Destination.parse(f"{folder}/clean_{old}"))
        with run_verify(
            spark, world.inputs, Destination.parse(f"{folder}/clean_{old}"), Options(), dry_run=True
        ) as now:
            assert (now.ok, now.stale) == (True, ())
        assert all(before[old][name] != clean[old][name] for name in clean[old])
    return Given(world, before, clean, seconds)


def step(spark, world, drawn):
    wanted = drawn.wanted
    drawn.step()
    world.change(spark, wanted, drawn.wanted)
    world.price(spark, drawn.costs)


def written_before_kill(given, old, place):
    """The tables that a killed refresh has written: each is as before or as after, and links before all derived."""
    found, before, clean = stored(place), given.before[old], given.clean[old]
    names = [name for name in clean if name != "generations"]
    assert all(found[name] in (before[name], clean[name]) for name in names)
    done = {name for name in names if found[name] == clean[name]}
    assert not done or "overlay_links" in done
    return done


def left_by_kill(spark, given, old, place):
    """The same, and the overlay verified."""
    done = written_before_kill(given, old, place)
    with run_verify(spark, given.world.inputs, place, Options(), dry_run=True) as now:
        assert now.ok == ("overlay_links" in done)
    return done


def rerun(spark, given, old, place):
    """Run again, and find all as after a run that nothing stopped; then nothing is left to do."""
    run_refresh(spark, given.world.inputs, place, Options())
    require_clean(spark, given, old, place)
    before = versions(place)
    again = run_refresh(spark, given.world.inputs, place, Options())
    assert (again.metrics, again.redesigned) == (None, None)
    assert versions(place) == before


def require_clean(spark, given, old, place):
    assert stored(place) == given.clean[old]
    assert open_rows(place) == []
    assert stale_tables(spark, place) == ()


def test_refresh__killed_at_a_commit_can_be_run_again(spark, given, tmp_path):
    def start(trial):
        number, (fatal, old) = trial
        given.place(old, tmp_path / str(number))
        return Process(given.command, tmp_path / f"meet{number}", [(tmp_path / str(number), 0)], list(fatal))

    trials = enumerate((fatal, OLD[i % 2]) for i, fatal in enumerate(AT_COMMITS))
    for (number, ((at, moment), old)), process in started_ahead(start, trials):
        process.go()
        was_killed, answers, told = process.ended()
        assert (was_killed, answers) == (True, []), (at, moment, told)
        place = Destination.parse(str(tmp_path / str(number)))
        done = left_by_kill(spark, given, old, place)
        written = at - 1 if moment == "after" else at - 2  # but for the row that opens; others may write meanwhile
        assert min(written, 1) <= len(done) <= (6 if written > 1 else 1), (at, moment, done)
        assert len(open_rows(place)) == 1
        rerun(spark, given, old, place)


def test_refresh__killed_at_any_instant_can_be_run_again(spark, given, tmp_path):
    """The first process is left alone and tells how long it takes, in all and once its row is open. Every other kill
    comes at any instant, the rest at any after the row was opened; a kill counts that came before any answer. It goes
    on until some came before the links were written, and some after."""
    rng, longest, after_open, left = np.random.default_rng(3), None, None, Counter()
    hit, early, late = 0, False, False

    def start(trial):
        given.place(OLD[trial // 2 % 2], tmp_path / str(trial))
        return Process(given.command, tmp_path / f"meet{trial}", [(tmp_path / str(trial), 0)])

    for trial, process in started_ahead(start, range(3 * TRIALS)):
        runs = tmp_path / str(trial) / "runs"
        before = plain_delta.n_commits(runs)
        process.go()
        if longest is None or trial % 2:
            began = time.monotonic()
            while process.is_there and plain_delta.n_commits(runs) == before:
                time.sleep(0.002)
            to_open = time.monotonic() - began
        if longest is not None:
            time.sleep(rng.uniform(0, after_open if trial % 2 else longest))
            process.kill()
        was_killed, answers, told = process.ended()
        if answers:
            if longest is None:
                longest, after_open = answers[0].seconds, answers[0].seconds - to_open
            continue
        assert was_killed, told
        old, place = OLD[trial // 2 % 2], Destination.parse(str(tmp_path / str(trial)))
        left[len(written_before_kill(given, old, place)), len(open_rows(place))] += 1
        run_refresh(spark, given.world.inputs, place, Options())
        assert stored(place) == given.clean[old]
        assert open_rows(place) == []
        hit += 1
        early, late = any(is_open and not n for n, is_open in left), any(n for n, _ in left)
        if hit >= TRIALS and early and late:
            break
    print(f"\n{hit} kills in {trial + 1} runs; (tables written, rows open): {dict(left)}")
    assert (hit >= TRIALS, early, late) == (True, True, True)


def test_refresh__killed_while_it_finishes_another_can_be_run_again(spark, given, tmp_path):
    place = given.place("designed", tmp_path / "out")
    for number, fatal in enumerate([(2, "after"), (1, "before"), (1, "after")]):
        with Process(given.command, tmp_path / f"meet{number}", [(tmp_path / "out", 0)], list(fatal)) as process:
            process.go()
            was_killed, answers, told = process.ended()
        assert (was_killed, answers) == (True, []), (fatal, told)
    assert "overlay_links" in left_by_kill(spark, given, "designed", place)
    rerun(spark, given, "designed", place)


def test_refreshes__that_race_apply_once_and_the_other_says_so(spark, given, tmp_path):
    """Two processes, kept alive, meet before each overlay; in the later turns one of them starts a little late."""
    turns = [tmp_path / str(turn) for turn in range(TRIALS)]
    late = [max(0, turn - TOGETHER) / (TRIALS - TOGETHER) * given.seconds for turn in range(TRIALS)]
    for turn, out in enumerate(turns):
        given.place(OLD[turn % 2], out)
    ended = raced(given.command, tmp_path, [list(zip(turns, pauses, strict=True)) for pauses in (late, [0.0] * TRIALS)])
    assert [len(answers) for _, answers, _ in ended] == [TRIALS, TRIALS], [told[-2000:] for *_, told in ended]
    other = Counter()
    for turn, out in enumerate(turns):
        first, second = sorted(
            (answers[turn] for _, answers, _ in ended), key=lambda answer: "Written" not in answer.said
        )
        assert (first.code, "Written" in first.said, "Written" in second.said) == (DONE, True, False), (first, second)
        other[how_it_lost(second)] += 1
        require_clean(spark, given, OLD[turn % 2], Destination.parse(str(out)))
    print(f"\nof {TRIALS} pairs, the other: {dict(other)}")
    assert other["overtaken"] >= 3 * TRIALS // 20


def how_it_lost(answer):
    """In one sentence, and with the exit code that goes with it."""
    if answer.code == DONE:
        assert "Nothing changed." in answer.said, answer
        return "nothing changed"
    [told] = [line for line in answer.told.splitlines() if line.startswith("overlay-spark: ")]
    assert answer.code == REFUSED, answer
    assert "Another run wrote overlay_links" in told
    assert "Run again" in told
    return "overtaken"


def test_refreshes__that_race_to_finish_another_write_its_tables_once(spark, given, tmp_path):
    """A refresh has ended after its links, so there are no tables of changes and backups yet to write to."""
    turns = [tmp_path / str(turn) for turn in range(max(2, TRIALS // 5))]
    for out in turns:
        place = given.place("designed", out)
        with ended_after(2):
            run_refresh(spark, given.world.inputs, place, Options())
        assert left_by_kill(spark, given, "designed", place) == {"overlay_links"}
    ended = raced(given.command, tmp_path, [[(out, 0.0) for out in turns]] * 2)
    assert [[answer.code for answer in answers] for _, answers, _ in ended] == [[DONE] * len(turns)] * 2, ended
    for out in turns:
        place = Destination.parse(str(out))
        assert [row["job"] for row in runs_of(place).values()].count("refresh") == 1
        assert stored(place) == given.clean["designed"]
