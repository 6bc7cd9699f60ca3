"""A standalone cluster of two workers whose Python has no overlay_spark: what is shipped is what runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import functions as F

import overlay_spark
from overlay_spark.jobs.packing import pack
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.options import Options
from overlay_spark.tables import catalog, delta, feed
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cluster.cluster import clean_environment, python_seconds, wait_for
from tests.cluster.overlays import (
    IN_PARTS,
    IN_ROUNDS,
    INPUTS,
    PIPELINE,
    REFRESH,
    arguments,
    design_here,
    executors_of,
    failed,
    inputs_in,
    links_but_stages,
    stages_of,
    tables,
)
from tests.cluster.submitting import JOBS

pytestmark = pytest.mark.cluster

SLOW = ("--conf", "spark.executorEnv.NUMBA_DISABLE_JIT=1")
"""Kernels as plain Python: the solve takes some seconds more, and gives the same."""


def churn(spark, folder):
    """A few nodes go, and as many come that are where they were and want what they did."""
    place = Destination.parse(f"{folder}/in")
    stored = {table: delta.read(spark, place.table(table.name)).localCheckpoint() for table in INPUTS}
    gone = [row["node_id"] for row in stored[catalog.NODES].orderBy("node_id").limit(6).collect()]
    for table, rows in stored.items():
        theirs = rows.where(F.col("node_id").isin(gone))
        came = theirs.withColumn("node_id", F.concat(F.lit("new "), "node_id"))
        changes = theirs.withColumn(feed.ACTION, F.lit("remove"))
        feed.merge(table, changes.union(came.withColumn(feed.ACTION, F.lit("add"))), place.table(table.name), {})


def imports_ours(python):
    command = [str(python), "-c", "import overlay_spark"]
    return subprocess.run(command, cwd=python.parent, env=clean_environment(), capture_output=True).returncode == 0


def test_zip__is_all_that_workers_and_driver_lack_for_any_job(
    spark, stored, cluster, submission, plain_python, package_alone, tmp_path
):
    """Designs by each engine, and a refresh, give the tables that they give here."""
    assert not imports_ours(plain_python)
    shutil.copytree(stored / "local", stored / "kept")
    churn(spark, stored)
    jobs = [
        (PIPELINE, arguments(stored)),
        (PIPELINE, arguments(stored, *IN_ROUNDS, output="rounds")),
        (PIPELINE, arguments(stored, *IN_PARTS, output="parts")),
        (REFRESH, arguments(stored, output="kept")),
    ]
    (tmp_path / "jobs.py").write_text(JOBS)
    told = json.dumps([(str(file), flags) for file, flags in jobs])
    submission.start(tmp_path / "jobs.py", [told], plain_python, plain_python, package_alone.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    designed, in_rounds = tables(stored / "out"), tables(stored / "rounds")
    assert designed == design_here(spark, stored, "designed here")
    assert links_but_stages(in_rounds) == links_but_stages(designed)
    assert stages_of(in_rounds) == {"round"}
    assert tables(stored / "parts") == design_here(spark, stored, "parts here", *IN_PARTS)
    before = tables(stored / "local")
    found = run_refresh(spark, inputs_in(stored), Destination.parse(f"{stored}/local"), Options())
    assert found.metrics is not None
    assert tables(stored / "kept", catalog.OVERLAY_BACKUPS) == tables(stored / "local", catalog.OVERLAY_BACKUPS)
    assert tables(stored / "kept") != before
    (run,) = plain_delta.read(Destination.parse(f"{stored}/out").table("runs"))
    assert (run["status"], run["package_version"]) == ("done", overlay_spark.__version__)
    (environment,) = submission.events("EnvironmentUpdate")
    assert dict(environment["Spark Properties"])["spark.master"] == cluster.url
    assert len(executors_of(submission.events("TaskEnd"))) == 2
    assert failed(submission) == []


def test_archive__is_all_that_a_bare_python_lacks(stored, submission, bare_python, tmp_path):
    assert not imports_ours(bare_python)
    packed = pack(tmp_path / "packed", with_dependencies=True)
    submission.start(PIPELINE, arguments(stored), bare_python, sys.executable, packed.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert tables(stored / "out") == tables(stored / "local")
    assert len(executors_of(submission.events("TaskEnd"))) == 2


@pytest.mark.parametrize(
    "python, sentence",
    [
        ("plain_python", "cannot import overlay_spark: No module named 'overlay_spark'. Run overlay-spark pack FOLDER and add --py-files"),
        ("bare_python", "cannot import overlay_spark, numpy, pyarrow, pandas, numba: No module named 'numpy'. Install numpy, pyarrow, pandas, numba there, or ship all of it: overlay-spark pack FOLDER --with-dependencies"),
        (None, "The workers have no Python at nowhere/python3. Set PYSPARK_PYTHON to where Python"),
    ],
    ids=["without our package", "without all", "without Python"],
)  # fmt: skip
def test_workers__that_cannot_run_are_found_before_the_input_is_read(request, submission, tmp_path, python, sentence):
    python = request.getfixturevalue(python) if python else Path("nowhere/python3")
    submission.start(PIPELINE, arguments(tmp_path), python, sys.executable)
    assert submission.wait() == 3
    (told,) = [line for line in submission.said.splitlines() if line.startswith("overlay-spark: ")]
    assert sentence in told
    assert "Traceback (most recent call last)" not in submission.said.split("overlay-spark: ")[1]
    assert len(submission.events("JobStart")) == 1
    assert not (tmp_path / "out").exists()


def test_worker__killed_while_it_solves_changes_nothing(stored, cluster, submission, plain_python, package_alone):
    submission.start(PIPELINE, arguments(stored), plain_python, plain_python, (*package_alone.flags, *SLOW))
    wait_for("the step before the solve to end", lambda: "index: " in submission.said)
    before = {worker.process.pid: python_seconds(worker.process.pid) for worker in cluster.workers}

    def solving():
        for worker in cluster.workers:
            if python_seconds(worker.process.pid) > before[worker.process.pid] + 1:
                return worker
        return None

    victim = wait_for("a worker to solve", solving)
    assert "solve: " not in submission.said
    victim.kill()
    assert submission.wait() == 0, submission.said[-4000:]
    (removed,) = submission.events("ExecutorRemoved")
    lost = [task for task in submission.events("TaskEnd") if task["Task End Reason"]["Reason"] == "ExecutorLostFailure"]
    assert {task["Task Info"]["Executor ID"] for task in lost} == {removed["Executor ID"]}
    assert tables(stored / "out") == tables(stored / "local")
