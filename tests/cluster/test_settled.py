"""Rows that were settled stay when the executor dies that computed them."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cluster.cluster import wait_for

pytestmark = pytest.mark.cluster

PROGRAM = """
import json, sys, time
from pathlib import Path
from pyspark.sql import SparkSession
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import WorkspaceOptions

def slowly(batches):
    time.sleep(1)  # so that both executors get some
    yield from batches

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    spark = SparkSession.builder.getOrCreate()
    rows = spark.range(0, 100, 1, 4).mapInArrow(slowly, "id bigint")
    kept_once = rows.localCheckpoint()
    settled = Workspace(spark, WorkspaceOptions()).settle(rows)
    (folder / "settled").touch()
    while not (folder / "killed").exists():
        time.sleep(0.1)
    try:
        lost = kept_once.count() is None
    except Exception as error:
        lost = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND" in str(error)
    ids = sorted(row["id"] for row in settled.collect())
    (folder / "found.json").write_text(json.dumps({"kept once is lost": lost, "settled": ids}))
    spark.stop()
"""


def test_settled_rows__outlive_the_worker_that_computed_them(cluster, submission, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    submission.start(program, [str(tmp_path)], sys.executable, sys.executable)
    wait_for("rows to be settled", (tmp_path / "settled").exists)
    cluster.workers[0].kill()
    (tmp_path / "killed").touch()
    assert submission.wait() == 0, submission.said[-4000:]
    assert len(submission.events("ExecutorRemoved")) == 1
    assert json.loads((tmp_path / "found.json").read_text()) == {"kept once is lost": True, "settled": list(range(100))}
