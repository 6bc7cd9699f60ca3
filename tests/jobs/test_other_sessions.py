"""The same design in sessions of other kinds, each in a process of its own: the tables are identical."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from overlay_spark import design
from overlay_spark.jobs.jars import local_jars
from overlay_spark.jobs.session import BRIEF, BRIEF_JAVA, DELTA_CATALOG, DELTA_EXTENSION, spark_version
from overlay_spark.options import SessionOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests.conftest import CASES
from tests.problems import UNIT, golden_problem, options, sorted_rows

pytestmark = [pytest.mark.spark, pytest.mark.slow_session]

ROOT = Path(__file__).parents[2]
SPARK_HOME = str(Path(pyspark.__file__).parent)
TABLES = ("links", "topics", "nodes")

QUICK = {
    **BRIEF,
    "spark.driver.extraJavaOptions": BRIEF_JAVA,
    "spark.executor.extraJavaOptions": BRIEF_JAVA,
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Settings that make these cold Sparks quick; none of them may change a result."""

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
from overlay_spark import OverlayProblem, SiteCosts, design, verify
from tests.problems import options, sorted_rows

if __name__ == "__main__":
    builder = SparkSession.builder
    for name, value in json.loads(sys.argv[1]).items():
        builder = builder.remote(value) if name == "remote" else builder.config(name, value)
    spark = builder.getOrCreate()
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
    return done


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
    run([sys.executable, str(program), *arguments], PYTHONPATH=str(ROOT))
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["kind"] == kind
    assert found["tables"] == stored


def test_pipeline__under_spark_submit_keeps_the_master_it_is_given(spark, stored, tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        check=True,
        capture_output=True,
    )
    wheel = next((tmp_path / "dist").glob("*.whl"))
    jars = ",".join(str(jar) for jar in local_jars(SessionOptions(), spark_version(), print))
    settings = {
        **QUICK,
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": str(tmp_path / "events"),
    }
    (tmp_path / "events").mkdir()
    flags = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    places = {name: f"parquet:{tmp_path}/{name}" for name in ("subscriptions", "nodes", "site_costs")}
    inputs = [part for name, place in places.items() for part in (f"--{name.replace('_', '-')}", place)]
    run(
        [f"{SPARK_HOME}/bin/spark-submit", "--master", "local[1]", "--jars", jars, "--py-files", str(wheel), *flags]
        + [str(ROOT / "pipelines" / "design_overlay.py"), *inputs, "--output", str(tmp_path / "out")]
        + ["--set", f"costs.unit={UNIT!r}"],
    )
    links = delta.read(spark, Destination.parse(str(tmp_path / "out")).table(catalog.OVERLAY_LINKS.name))
    assert json.loads(json.dumps(sorted_rows(links))) == stored["links"]
    logs = "".join(p.read_text() for p in (tmp_path / "events").rglob("*") if p.is_file() and p.suffix != ".crc")
    assert '"spark.master":"local[1]"' in logs
