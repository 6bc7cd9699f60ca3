"""A standalone cluster of two workers whose Python has no overlay_spark: what is shipped is what runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import overlay_spark
from overlay_spark.jobs.packing import pack
from overlay_spark.tables import catalog
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cluster.cluster import clean_environment, python_seconds, wait_for
from tests.cluster.submitting import ROOT

pytestmark = pytest.mark.cluster

PIPELINE = ROOT / "pipelines" / "design_overlay.py"
OVERLAY = (catalog.OVERLAY_LINKS, catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)
SLOW = ("--conf", "spark.executorEnv.NUMBA_DISABLE_JIT=1")
"""Kernels as plain Python: the solve takes some seconds more, and gives the same."""


def arguments(folder):
    return (
        *("--subscriptions", f"delta:{folder}/in/subscriptions"),
        *("--nodes", f"delta:{folder}/in/nodes", "--coordinates", "--output", f"{folder}/out"),
    )


def tables(spark, folder):
    place = Destination.parse(str(folder))
    return {table.name: plain_delta.sorted_rows(place.table(table.name)) for table in OVERLAY}


def imports_ours(python):
    command = [str(python), "-c", "import overlay_spark"]
    return subprocess.run(command, cwd=python.parent, env=clean_environment(), capture_output=True).returncode == 0


def executors_of(tasks):
    return {task["Task Info"]["Executor ID"] for task in tasks if task["Task End Reason"]["Reason"] == "Success"}


def test_zip__is_all_that_workers_and_driver_lack(spark, stored, cluster, submission, plain_python, package_alone):
    assert not imports_ours(plain_python)
    submission.start(PIPELINE, arguments(stored), plain_python, plain_python, package_alone.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert tables(spark, stored / "out") == tables(spark, stored / "local")
    (run,) = plain_delta.read(Destination.parse(str(stored / "out")).table("runs"))
    assert (run["status"], run["package_version"]) == ("done", overlay_spark.__version__)
    (environment,) = submission.events("EnvironmentUpdate")
    assert dict(environment["Spark Properties"])["spark.master"] == cluster.url
    assert len(executors_of(submission.events("TaskEnd"))) == 2


def test_archive__is_all_that_a_bare_python_lacks(spark, stored, submission, bare_python, tmp_path):
    assert not imports_ours(bare_python)
    packed = pack(tmp_path / "packed", with_dependencies=True)
    submission.start(PIPELINE, arguments(stored), bare_python, sys.executable, packed.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert tables(spark, stored / "out") == tables(spark, stored / "local")
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


def test_worker__killed_while_it_solves_changes_nothing(
    spark, stored, cluster, submission, plain_python, package_alone
):
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
    assert tables(spark, stored / "out") == tables(spark, stored / "local")
