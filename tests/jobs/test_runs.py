"""One row for every run: done, refused or failed; and what stops a run is what is told of it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

import overlay_spark
from overlay_spark.errors import GuardError, InputError, OptionError, SetupError, VerificationError
from overlay_spark.jobs import runs as module
from overlay_spark.jobs.runs import Run, recorded
from overlay_spark.options import Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests import plain_delta

START = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
INPUTS = {
    "subscriptions": {"reference": "delta:in", "version": 7, "at": 123},
    "nodes": {"reference": "csv:n", "version": None},
}


def clock():
    """A minute later each time it is asked."""
    times = iter(range(100))
    return lambda: START + timedelta(minutes=next(times))


def test_metadata__names_the_run_its_job_and_the_versions_it_read():
    run = Run(job="design", options=Options(), run_id="one", inputs=INPUTS)
    told = {"run_id": "one", "job": "design", "generation": None, "input_times": {"subscriptions": 123}}
    assert run.metadata == {**told, "inputs": {"subscriptions": 7, "nodes": None}}


def test_runs__have_names_of_their_own_and_know_the_time_zone():
    assert Run(job="design", options=Options()).run_id != Run(job="design", options=Options()).run_id
    assert module.now().utcoffset() == timedelta(0)


def stop(spark, output, run, error):
    """A run that this error stops."""
    with recorded(spark, output, run):
        raise error


@pytest.mark.spark
def test_row__says_what_became_of_the_run(spark, tmp_path):
    output = Destination.parse(str(tmp_path / "out"))
    options = Options().designing("trees", seed=2**40)
    with recorded(spark, output, Run(job="design", options=options, run_id="done", clock=clock())) as run:
        run.inputs, run.metrics = INPUTS, {"cost": 1.5, "gap": None}
        run.algorithm, run.engine = "trees", "one"
    refusal = Run(job="design", options=options, run_id="refused", clock=clock())
    with pytest.raises(InputError):
        stop(spark, output, refusal, InputError(["Table 'nodes' is empty.", "Table 'link_costs' is empty."]))
    failure = Run(job="verify", options=options, run_id="failed", clock=clock())
    with pytest.raises(KeyboardInterrupt):
        stop(spark, output, failure, KeyboardInterrupt())
    found = delta.read(spark, output.table("runs"))
    rows = {row["run_id"]: row for row in found.collect()}
    assert rows.keys() == {"done", "refused", "failed"}
    assert found.columns == catalog.RUNS.schema.names
    done = rows["done"]
    columns = ("job", "algorithm", "engine", "seed", "status", "message", "package_version")
    version = overlay_spark.__version__
    assert [done[c] for c in columns] == ["design", "trees", "one", 2**40, "done", None, version]
    assert json.loads(done["inputs"]) == INPUTS
    assert json.loads(done["metrics"]) == {"cost": 1.5, "gap": None}
    assert Options.from_mapping(json.loads(done["options"])) == options
    moments = found.where("run_id = 'done'").selectExpr("unix_micros(started) AS a", "unix_micros(finished) AS b")
    began = int(START.timestamp() * 10**6)
    assert tuple(moments.first()) == (began, began + 60 * 10**6)
    faults = "InputError: The input has 2 faults:\n- Table 'nodes' is empty.\n- Table 'link_costs' is empty."
    assert [rows["refused"][c] for c in ("algorithm", "status", "message")] == [None, "refused", faults]
    assert (json.loads(rows["refused"]["inputs"]), rows["refused"]["metrics"]) == ({}, None)
    assert [rows["failed"][c] for c in ("job", "status", "message")] == ["verify", "failed", "KeyboardInterrupt: "]
    assert delta.commits(spark, output.table("runs"), 1)[0].metadata["run_id"] == "failed"


@pytest.mark.parametrize(
    "error, status",
    [
        (GuardError("too large"), "refused"),
        (OptionError("no such name"), "refused"),
        (VerificationError("wrong"), "failed"),
        (SetupError("no Java"), "failed"),
        (RuntimeError("unforeseen"), "failed"),
    ],
)
def test_run__is_refused_by_what_its_user_can_change(error, status):
    run = Run(job="design", options=Options())
    with pytest.raises(type(error), match=str(error)):
        stop(None, None, run, error)
    assert (run.status, run.message) == (status, f"{type(error).__name__}: {error}")


@pytest.mark.spark
def test_row__that_cannot_be_closed_does_not_hide_what_stopped_the_run(spark, tmp_path, monkeypatch, caplog):
    output = Destination.parse(str(tmp_path / "out"))

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(delta, "replace_run", fail)
    with pytest.raises(GuardError, match="too large"):
        stop(spark, output, Run(job="design", options=Options()), GuardError("too large"))
    assert caplog.messages == [f"The row of this run could not be written to {output}: the disk is full"]


@pytest.mark.spark
def test_row__that_cannot_be_opened_stops_the_run_before_anything_is_written(spark, tmp_path):
    """Whatever writes waits for the row; what does not is told when it ends."""
    (tmp_path / "file").write_text("in the way")
    begun = []

    def begin(writes: bool = True) -> None:
        with recorded(spark, Destination.parse(f"{tmp_path}/file/out"), Run(job="design", options=Options())) as run:
            if writes:
                run.opened()
                begun.append(True)

    with pytest.raises(Exception, match=r"file/out|Not a directory|create"):
        begin(writes=False)

    with pytest.raises(Exception, match=r"file/out|Not a directory|create"):
        begin()
    assert not begun


@pytest.mark.spark
def test_rows__left_open_are_closed_where_their_process_is_gone(spark, tmp_path, monkeypatch):
    output, ended = Destination.parse(str(tmp_path / "out")), subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = platform.node()
    left = {
        "gone": (f"process {ended.pid} on {here}", START),
        "alive": (f"process {os.getpid()} on {here}", START),
        "elsewhere": (f"process {ended.pid} on another", START),
        "old": (f"process {ended.pid} on another", START - 3 * module.LONGEST_RUN),
    }
    for run_id, (where, began) in left.items():
        monkeypatch.setattr(module, "_where_it_runs", lambda where=where: where)
        run = Run(job="design", options=Options(), run_id=run_id)
        module._write(spark, output, run, began, module.RUNNING, module._where_it_runs())
    with recorded(spark, output, Run(job="design", options=Options(), run_id="next", clock=clock())):
        pass
    rows = {row["run_id"]: row for row in plain_delta.read(output.table("runs"))}
    assert {run_id: row["status"] for run_id, row in rows.items()} == {
        "gone": "killed",
        "alive": "running",
        "elsewhere": "running",
        "old": "killed",
        "next": "done",
    }
    told = f"It was killed or lost: its row was still open (process {ended.pid} on {here})."
    assert rows["gone"]["message"] == told


def test_run__without_an_output_leaves_no_row():
    with recorded(None, None, Run(job="design", options=Options())) as run:
        run.status = "refuted"
    assert (run.status, run.message) == ("refuted", None)
