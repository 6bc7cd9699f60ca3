"""The same design in sessions of other kinds, each in a process of its own: the tables are identical."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from overlay_spark import design
from tests.conftest import CASES
from tests.problems import golden_problem, options, sorted_rows
from tests.sessions import QUICK, SPARK_HOME

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
TABLES = ("links", "topics", "nodes")

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
from overlay_spark import OverlayProblem, SiteCosts, design, verify
from overlay_spark.jobs.workers import require_workers
from tests.problems import options, sorted_rows

if __name__ == "__main__":
    builder = SparkSession.builder
    for name, value in json.loads(sys.argv[1]).items():
        builder = builder.remote(value) if name == "remote" else builder.config(name, value)
    spark = builder.getOrCreate()
    require_workers(spark)
    read = lambda name: spark.read.parquet(sys.argv[2] + "/" + name)
    problem = OverlayProblem(read("subscriptions"), SiteCosts(read("site_costs")), read("nodes"))
    overlay = design(problem, options=options())
    assert verify(problem, overlay.links, options()).ok
    found = {name: sorted_rows(getattr(overlay, name)) for name in ("links", "topics", "nodes")}
    with open(sys.argv[3], "w") as file:
        json.dump({"kind": type(spark).__module__, "tables": found}, file)
    spark.stop()
"""


@pytest.fixture
def stored(spark, tmp_path):
    """A golden problem as Parquet files, and its overlay in the tests' own session."""
    given = golden_problem(spark, [json.loads((CASES / "unif_v30.json").read_text())], listed=False)
    for name, frame in (
        ("subscriptions", given.subscriptions),
        ("nodes", given.nodes),
        ("site_costs", given.costs.table),
    ):
        frame.write.parquet(str(tmp_path / name))
    overlay = design(given, options=options())
    return json.loads(json.dumps({name: sorted_rows(getattr(overlay, name)) for name in TABLES}))


def run(command, **environment):
    base = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_HOME": SPARK_HOME}
    done = subprocess.run(
        command, cwd=ROOT, env={**base, **python, **environment}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize(
    "settings, kind",
    [
        ({"spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "1g"}, "pyspark.sql.session"),
        ({"remote": "local[2]"}, "pyspark.sql.connect.session"),
    ],
    ids=["local-cluster", "connect"],
)
def test_design__is_the_same_in_other_sessions(stored, tmp_path, settings, kind):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    arguments = [json.dumps({**QUICK, **settings}), str(tmp_path), str(tmp_path / "found.json")]
    run(
        [sys.executable, str(program), *arguments],
        PYTHONPATH=str(ROOT),
        **({"SPARK_TESTING": "1"} if "remote" in settings else {}),
    )
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["kind"] == kind
    assert found["tables"] == stored
