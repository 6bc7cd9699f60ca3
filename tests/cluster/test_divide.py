"""Divide and conquer where parts are solved in other processes, and an executor dies: the tables of a run here."""

from __future__ import annotations

import sys

import pytest

from tests.cluster.overlays import IN_PARTS, PIPELINE, arguments, design_here, stages_of, tables
from tests.cluster.submitting import ROOT

pytestmark = pytest.mark.cluster

DEADLY = """
import os, signal, time
from pathlib import Path
from overlay_spark.kernels import representatives

cover = representatives.cover

def parent(process):
    return int(Path(f"/proc/{{process}}/stat").read_text().rpartition(") ")[2].split()[1])

def killing_once(*given):
    mark = Path({mark!r})
    try:
        mark.rename(mark.with_name("killed"))  # one process only can
    except FileNotFoundError:
        return cover(*given)
    os.kill(parent(parent(os.getpid())), signal.SIGKILL)  # the executor, whose daemon this worker comes from
    time.sleep(60)

representatives.cover = killing_once
"""
"""Imported by each Python of the workers as it starts: the first to choose representatives takes its executor away."""


def test_divide__of_which_an_executor_is_killed_gives_the_same_tables(spark, stored, submission, tmp_path):
    here = design_here(spark, stored, "parts here", *IN_PARTS)
    assert {"inner", "level-1", "driver"} <= stages_of(here)
    mark = tmp_path / "to be killed"
    mark.touch()
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(DEADLY.format(mark=str(mark)))
    flags = ("--master", "local-cluster[2,1,2048]", "--conf", f"spark.executorEnv.PYTHONPATH={site}:{ROOT}")
    submission.start(PIPELINE, arguments(stored, *IN_PARTS), sys.executable, sys.executable, flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert (tmp_path / "killed").exists()
    assert len(submission.events("ExecutorRemoved")) >= 1
    lost = [end["Task End Reason"]["Reason"] for end in submission.events("TaskEnd")]
    assert "ExecutorLostFailure" in lost
    assert tables(stored / "out") == here
