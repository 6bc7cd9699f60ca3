"""Runs that are killed at any write, and runs that race: what readers see is right, and a rerun ends as a clean run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.generations import stale_tables
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests.problems import sorted_rows

pytestmark = [pytest.mark.spark, pytest.mark.faults]

ROOT = Path(__file__).parents[2]
TABLES = (catalog.OVERLAY_LINKS, catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)
WANTS = [("a", "x"), ("b", "x"), ("a", "y"), ("c", "y"), *[(node, "z") for node in "abc"]]
COSTS = [("a", "b", 3.0), ("a", "c", 3.0), ("b", "c", 1.0)]
OLD, NEW = Options().designing("trees", then="reverse_delete"), Options().designing("greedy")
WRITES = 5
"""The row that opens, links, topics, nodes, the row that closes."""

PROGRAM = """
import itertools, json, os, signal, sys
from pathlib import Path
from pyspark.sql.readwriter import DataFrameWriter
from overlay_spark.errors import GuardError
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.session import open_session
from overlay_spark.options import Options, SessionOptions
from overlay_spark.tables.references import Destination, Reference

folder, out, at, moment = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
numbers = itertools.count(1)

def counting(save):
    def wrapped(self, *arguments, **named):
        mine = next(numbers)
        if mine == at and moment == "before":
            os.killpg(0, signal.SIGKILL)
        save(self, *arguments, **named)
        if mine == at and moment == "after":
            os.killpg(0, signal.SIGKILL)
    return wrapped

def main():
    DataFrameWriter.save = counting(DataFrameWriter.save)
    spark = open_session(SessionOptions(cores=2, brief=True, driver_memory="1g"))
    spark.range(1).count()
    inputs = Inputs(Reference("parquet", folder + "/subscriptions"), link_costs=Reference("parquet", folder + "/link_costs"))
    for turn in range(1 if moment != "race" else at):
        if moment == "race":
            Path(f"{out}/{os.getpid()}.{turn}").touch()
            while len(list(Path(out).glob(f"*.{turn}"))) < 2:
                pass
        place = Destination.parse(f"{out}/{turn}" if moment == "race" else out)
        try:
            run_design(spark, inputs, place, Options()).close()
            print(json.dumps({"turn": turn, "won": True}), flush=True)
        except GuardError as error:
            print(json.dumps({"turn": turn, "won": False, "told": str(error)}), flush=True)

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def given(_session, tmp_path_factory):
    """Inputs as files, an output folder that holds an overlay already, and the tables of a clean run over it."""
    folder = tmp_path_factory.mktemp("given")
    catalog.SUBSCRIPTIONS.rows(_session, WANTS).write.parquet(f"{folder}/subscriptions")
    catalog.LINK_COSTS.rows(_session, COSTS).write.parquet(f"{folder}/link_costs")
    (folder / "program.py").write_text(PROGRAM)
    run_design(_session, inputs(folder), Destination.parse(f"{folder}/old"), OLD).close()
    shutil.copytree(folder / "old", folder / "clean")
    run_design(_session, inputs(folder), Destination.parse(f"{folder}/clean"), NEW).close()
    before, clean = (tables(_session, Destination.parse(f"{folder}/{name}")) for name in ("old", "clean"))
    assert all(before[name] != clean[name] for name in before)
    return folder, clean


def inputs(folder):
    return Inputs(
        Reference("parquet", f"{folder}/subscriptions"), link_costs=Reference("parquet", f"{folder}/link_costs")
    )


def tables(spark, place):
    return {table.name: sorted_rows(delta.read(spark, place.table(table.name))) for table in TABLES}


def start(folder, out, at, moment):
    return subprocess.Popen(
        [sys.executable, str(folder / "program.py"), str(folder), str(out), str(at), moment],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def check_what_is_left(spark, folder, clean, out, process):
    """Whatever was written is right and told apart; the next run gives what a clean one gives."""
    assert process.returncode == -signal.SIGKILL
    place = Destination.parse(str(out))
    left, stale = tables(spark, place), stale_tables(spark, place)
    with run_verify(spark, inputs(folder), place, Options(), dry_run=True) as found:
        assert (found.ok, found.stale) == (True, stale)
    told = {sentence.split()[0] for sentence in stale}
    assert told == {
        name for name in left if (left[name] == clean[name]) != (left["overlay_links"] == clean["overlay_links"])
    }
    opened = {row["run_id"]: row["status"] for row in delta.read(spark, place.table("runs")).collect()}
    run_design(spark, inputs(folder), place, NEW).close()
    assert tables(spark, place) == clean
    assert stale_tables(spark, place) == ()
    closed = {row["run_id"]: row["status"] for row in delta.read(spark, place.table("runs")).collect()}
    assert {status for run, status in opened.items() if status != closed[run]} <= {"running"}
    assert all(closed[run] == "killed" for run, status in opened.items() if status == "running")
    assert "running" not in closed.values()
    return left, opened


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("at", range(1, WRITES + 1))
def test_design__killed_at_a_write_can_be_run_again(spark, given, tmp_path, at, moment):
    folder, clean = given
    out = tmp_path / "out"
    shutil.copytree(folder / "old", out)
    process = start(folder, out, at, moment)
    _, said = process.communicate(timeout=200)
    left, opened = check_what_is_left(spark, folder, clean, out, process)
    done = at if moment == "after" else at - 1  # it was killed where it was meant to be
    links, *derived = (left[table.name] == clean[table.name] for table in TABLES)
    assert links == (done >= 2), said
    assert not any(derived) or done >= 2, said
    assert all(derived) or at < WRITES, said  # they are written side by side, so either may be done first
    assert ("running" in opened.values()) == (1 <= done < WRITES)


@pytest.mark.parametrize("files", [1, 3, 5, 6, 7, 9, 11, 13])
def test_design__killed_when_a_file_appears_can_be_run_again(spark, given, tmp_path, files):
    """At a file operation inside a write: the whole process group, Java with it."""
    folder, clean = given
    out = tmp_path / "out"
    shutil.copytree(folder / "old", out)
    before = sum(1 for path in out.rglob("*") if path.is_file())
    process = start(folder, out, 0, "never")
    while process.poll() is None and sum(1 for path in out.rglob("*") if path.is_file()) < before + files:
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()[1]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    check_what_is_left(spark, folder, clean, out, process)


def test_design__raced_by_another_leaves_one_whole_overlay(spark, given, tmp_path):
    """Twenty times two processes begin at the same moment; half of the places hold an overlay already."""
    folder, clean = given
    for turn in range(0, 20, 2):
        shutil.copytree(folder / "old", tmp_path / str(turn))
    racers = [start(folder, tmp_path, 20, "race") for _ in range(2)]
    ended = [racer.communicate(timeout=500) for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0], [said[-2000:] for _, said in ended]
    told = [json.loads(line) for out, _ in ended for line in out.splitlines() if line.startswith("{")]
    assert len(told) == 40
    for turn in range(20):
        place = Destination.parse(str(tmp_path / str(turn)))
        won = [one["won"] for one in told if one["turn"] == turn]
        assert True in won
        assert tables(spark, place) == clean
        assert stale_tables(spark, place) == ()
        runs = sorted(
            row["status"] for row in delta.read(spark, place.table("runs")).collect() if row["generation"] is not None
        )
        assert runs.count("refused") == won.count(False)
        generations = [commit.metadata["generation"] for commit in delta.commits(spark, place.table("overlay_links"))]
        assert len(set(generations)) == len(generations)
    lost = [one for one in told if not one["won"]]
    assert lost, "no two runs met"
    assert all("Another run wrote overlay_links" in one["told"] and "Run again" in one["told"] for one in lost)
