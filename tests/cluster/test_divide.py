"""Divide and conquer where parts are solved in other processes, and an executor dies: the tables of a local run."""

from __future__ import annotations

import sys

import pytest

from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.options import Options
from overlay_spark.tables import catalog
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cluster.submitting import ROOT
from tests.cluster.test_cluster import PIPELINE, arguments

pytestmark = pytest.mark.cluster

IN_PARTS = ("design.engine=divide", "divide.part_nodes=60", "divide.least_nodes=10", "divide.join_nodes=120")
TABLES = (catalog.OVERLAY_LINKS, catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)


def tables(spark, folder):
    place = Destination.parse(str(folder))
    return {table.name: plain_delta.sorted_rows(place.table(table.name)) for table in TABLES}


@pytest.fixture
def in_parts(spark, stored):
    """The tables of a run in this process's session."""
    place = Destination.parse(str(stored / "in"))
    inputs = Inputs(**{t.name: place.table(t.name) for t in (catalog.SUBSCRIPTIONS, catalog.NODES)})
    run_design(spark, inputs, Destination.parse(str(stored / "parts")), Options.load(None, IN_PARTS)).close()
    found = tables(spark, stored / "parts")
    assert {"inner", "level-1", "driver"} <= {row[5] for row in found["overlay_links"]}
    return found


def flags_of(options):
    return [flag for option in options for flag in ("--set", option)]


def test_divide__on_a_cluster_gives_the_same_tables(spark, stored, in_parts, submission, plain_python, package_alone):
    given = (*arguments(stored), *flags_of(IN_PARTS))
    submission.start(PIPELINE, given, plain_python, plain_python, package_alone.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert tables(spark, stored / "out") == in_parts
    assert len({end["Task Info"]["Executor ID"] for end in submission.events("TaskEnd")}) == 2


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


def test_divide__of_which_an_executor_is_killed_gives_the_same_tables(spark, stored, in_parts, submission, tmp_path):
    mark = tmp_path / "to be killed"
    mark.touch()
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(DEADLY.format(mark=str(mark)))
    flags = ("--master", "local-cluster[2,1,2048]", "--conf", f"spark.executorEnv.PYTHONPATH={site}:{ROOT}")
    submission.start(PIPELINE, (*arguments(stored), *flags_of(IN_PARTS)), sys.executable, sys.executable, flags)
    assert submission.wait() == 0, submission.said[-4000:]
    assert (tmp_path / "killed").exists()
    assert len(submission.events("ExecutorRemoved")) >= 1
    lost = [end["Task End Reason"]["Reason"] for end in submission.events("TaskEnd")]
    assert "ExecutorLostFailure" in lost
    assert tables(spark, stored / "out") == in_parts
