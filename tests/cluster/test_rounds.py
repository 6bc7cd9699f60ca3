"""Greedy in rounds where tasks run in other processes, and die there: the links of the kernel engine."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cluster.cluster import clean_environment
from tests.cluster.submitting import ROOT
from tests.cluster.test_cluster import PIPELINE, arguments
from tests.problems import sorted_rows

pytestmark = pytest.mark.cluster

IN_ROUNDS = ("--engine", "frames", "--set", "frames.finish_in_task=0", "--set", "frames.least_band=5000")


def links(spark, folder):
    place = Destination.parse(str(folder)).table(catalog.OVERLAY_LINKS.name)
    return sorted_rows(delta.read(spark, place).drop("stage"))


def stages(spark, folder):
    place = Destination.parse(str(folder)).table(catalog.OVERLAY_LINKS.name)
    return {row["stage"] for row in plain_delta.read(place)}


def failed(submission):
    ends = submission.events("TaskEnd")
    return [end["Task End Reason"] for end in ends if end["Task End Reason"]["Reason"] != "Success"]


def test_rounds__on_a_cluster_pick_the_same(spark, stored, submission, plain_python, package_alone):
    given = (*arguments(stored), *IN_ROUNDS)
    submission.start(PIPELINE, given, plain_python, plain_python, package_alone.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert links(spark, stored / "out") == links(spark, stored / "local")
    assert stages(spark, stored / "out") == {"round"}
    assert len({end["Task Info"]["Executor ID"] for end in submission.events("TaskEnd")}) == 2
    assert failed(submission) == []


DEADLY = """
import os, signal
from pathlib import Path
from overlay_spark.kernels import forests

forest = forests.forest

def killed_once(*columns):
    mark = Path({mark!r})
    try:
        mark.rename(mark.with_name("killed"))  # one process only can
    except FileNotFoundError:
        return forest(*columns)
    os.kill(os.getpid(), signal.SIGKILL)

forests.forest = killed_once
"""
"""Imported by each Python of the workers as it starts: the first that gets to a forest dies there."""


def test_rounds__of_which_a_task_is_killed_pick_the_same(spark, stored, submission, tmp_path):
    mark = tmp_path / "to be killed"
    mark.touch()
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(DEADLY.format(mark=str(mark)))
    flags = ("--master", "local-cluster[2,1,2048]", "--conf", f"spark.executorEnv.PYTHONPATH={site}:{ROOT}")
    submission.start(PIPELINE, (*arguments(stored), *IN_ROUNDS), sys.executable, sys.executable, flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert (tmp_path / "killed").exists()
    (reason,) = failed(submission)
    assert reason["Reason"] == "ExceptionFailure"
    assert "Python worker exited unexpectedly" in reason["Full Stack Trace"]
    assert links(spark, stored / "out") == links(spark, stored / "local")
    assert stages(spark, stored / "out") == {"round"}


def test_benchmark__in_a_session_of_its_own_tells_what_was_shuffled():
    command = ("-m", "overlay_spark.cli", "benchmark", "rounds", "--nodes", "30", "--topics", "110")
    done = subprocess.run(
        [sys.executable, *command, "--set", "frames.band_share=1.0"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = re.search(r"shuffled +([\d,]+) rows, [\d.]+ MiB +[\d.]+ x the ([\d,]+) candidate-topic rows", done.stdout)
    assert told, done.stdout
    rows = [int(moved.replace(",", "")) for moved in re.findall(r"  ([\d,]+) rows, [\d.]+ MiB$", done.stdout, re.M)]
    assert len(rows) > 2
    assert sum(rows) == int(told[1].replace(",", "")) > 0
