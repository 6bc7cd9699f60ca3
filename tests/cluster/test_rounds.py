"""Greedy in rounds where tasks run in other processes, and one dies there: the links of the kernel engine."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.cluster.cluster import clean_environment
from tests.cluster.overlays import IN_ROUNDS, PIPELINE, arguments, failed, links_but_stages, stages_of, tables
from tests.cluster.submitting import ROOT

pytestmark = pytest.mark.cluster

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


def test_rounds__of_which_a_task_is_killed_pick_the_same(stored, submission, tmp_path):
    mark = tmp_path / "to be killed"
    mark.touch()
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(DEADLY.format(mark=str(mark)))
    flags = ("--master", "local-cluster[2,1,2048]", "--conf", f"spark.executorEnv.PYTHONPATH={site}:{ROOT}")
    submission.start(PIPELINE, arguments(stored, *IN_ROUNDS), sys.executable, sys.executable, flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert (tmp_path / "killed").exists()
    (reason,) = failed(submission)
    assert reason["Reason"] == "ExceptionFailure"
    assert "Python worker exited unexpectedly" in reason["Full Stack Trace"]
    found = tables(stored / "out")
    assert links_but_stages(found) == links_but_stages(tables(stored / "local"))
    assert stages_of(found) == {"round"}


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
