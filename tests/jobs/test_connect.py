"""Whole jobs over Spark Connect, on a server that has Delta's jars and none of its Connect plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from overlay_spark.jobs.jars import local_jars
from overlay_spark.jobs.session import DELTA_CATALOG, DELTA_EXTENSION, spark_version
from overlay_spark.options import SessionOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests.problems import sorted_rows

pytestmark = [pytest.mark.cluster]

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
from overlay_spark.cli import main
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination

folder = sys.argv[2]
WANTS = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y")]
COSTS = [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 2.5)]

def command(name, kind, *more):
    given = [f"--{table}={kind}:{folder}/in/{table.replace('-', '_')}{'' if kind == 'delta' else '.csv'}" for table in ("subscriptions", "link-costs")]
    return main([name, *given, *more])

if __name__ == "__main__":
    builder = SparkSession.builder.remote("local[2]")
    for name, value in json.loads(sys.argv[1]).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    codes = {}
    place = Destination.parse(f"{folder}/in")
    for table, rows in ((catalog.SUBSCRIPTIONS, WANTS), (catalog.LINK_COSTS, COSTS)):
        delta.overwrite(table, table.rows(spark, rows), place.table(table.name), {})
    for kind in ("delta", "csv"):
        codes[f"design {kind}"] = command("design", kind, "--output", f"{folder}/out-{kind}")
    rounds = ("--engine", "frames", "--set", "frames.finish_in_task=0")
    codes["design in rounds"] = command("design", "delta", "--output", f"{folder}/out-rounds", *rounds)
    parts = ("--engine", "divide", "--set", "divide.part_nodes=2", "--set", "divide.least_nodes=1")
    codes["design in parts"] = command("design", "delta", "--output", f"{folder}/out-parts", *parts)
    codes["verify parts"] = command("verify", "delta", "--overlay", f"{folder}/out-parts")
    codes["verify delta"] = command("verify", "delta", "--overlay", f"{folder}/out-delta")
    codes["estimate csv"] = command("estimate", "csv")
    codes["nothing there"] = command("verify", "csv", "--overlay", f"{folder}/nowhere")
    codes["design kept"] = command("design", "delta", "--output", f"{folder}/out-kept")
    came = catalog.SUBSCRIPTIONS.rows(spark, [("b", "y"), ("d", "y")])
    delta.append(catalog.SUBSCRIPTIONS, came, place.table("subscriptions"), {})
    delta.append(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, [("b", "d", 0.5)]), place.table("link_costs"), {})
    keep = ("--output", f"{folder}/out-kept")
    codes["refresh too much"] = command("refresh", "delta", *keep)
    codes["refresh"] = command("refresh", "delta", *keep, "--set", "refresh.most_added=9")
    codes["verify kept"] = command("verify", "delta", "--overlay", f"{folder}/out-kept")
    came = catalog.SUBSCRIPTIONS.rows(spark, [("c", "z"), ("d", "z")])
    delta.append(catalog.SUBSCRIPTIONS, came, place.table("subscriptions"), {})
    delta.append(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, [("c", "d", 0.75)]), place.table("link_costs"), {})
    codes["refresh from packs"] = command("refresh", "delta", *keep, "--set", "refresh.most_added=9")
    codes["refresh nothing"] = command("refresh", "delta", *keep)
    codes["refresh csv"] = command("refresh", "csv", *keep)
    with open(sys.argv[3], "w") as file:
        json.dump({"kind": type(spark).__module__, "codes": codes}, file)
    spark.stop()
"""


def test_jobs__over_connect_need_no_plugin(spark, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\nc,x\na,y\nc,y\n")
    (tmp_path / "in" / "link_costs.csv").write_text("src,dst,cost\na,b,1\nb,c,2\na,c,2.5\n")
    settings = {
        "spark.jars": ",".join(str(jar) for jar in local_jars(SessionOptions(), spark_version(), print)),
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    base = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    environment = {
        "SPARK_TESTING": "1",  # a free port for the server
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYTHONPATH": str(ROOT),
    }
    arguments = [str(tmp_path / "program.py"), json.dumps(settings), str(tmp_path), str(tmp_path / "found.json")]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**base, **environment}, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["kind"] == "pyspark.sql.connect.session"
    done_well = ("design delta", "design csv", "design in rounds", "design in parts", "verify parts", "verify delta")
    done_well += ("design kept", "refresh", "verify kept", "refresh from packs", "refresh nothing")
    codes = dict.fromkeys((*done_well, "estimate csv"), 0)
    refused = dict.fromkeys(("nothing there", "refresh too much", "refresh csv"), 1)
    assert found["codes"] == {**codes, **refused}, done.stderr[-4000:]
    assert "there is no Delta table here" in done.stderr
    assert "run it with --approve" in done.stderr
    assert "was not computed from a version of a Delta table of subscriptions" in done.stderr
    assert "Traceback" not in done.stderr
    for kind in ("delta", "csv", "rounds"):
        place = Destination.parse(str(tmp_path / f"out-{kind}"))
        links = delta.read(spark, place.table(catalog.OVERLAY_LINKS.name)).select("src", "dst", "pick")
        assert sorted_rows(links) == [("a", "b", 0), ("a", "c", 1)]
        runs = delta.read(spark, place.table("runs")).collect()
        verified = [("verify", "done")] if kind == "delta" else []
        assert sorted((row["job"], row["status"]) for row in runs) == [("design", "done"), *verified]
    kept = Destination.parse(str(tmp_path / "out-kept"))
    links = delta.read(spark, kept.table(catalog.OVERLAY_LINKS.name)).select("src", "dst", "pick")
    assert sorted_rows(links) == [("a", "b", 0), ("a", "c", 1), ("b", "d", 2), ("c", "d", 3)]
    runs = delta.read(spark, kept.table("runs")).orderBy("started").collect()
    assert [(row["job"], row["status"]) for row in runs] == [
        ("design", "done"),
        ("refresh", "refused"),
        ("refresh", "done"),
        ("verify", "done"),
        ("refresh", "done"),
        ("refresh", "refused"),
    ]
    changes = delta.read(spark, kept.table("overlay_changes")).select("step", "action", "src", "dst")
    assert sorted_rows(changes) == [(0, "add", "b", "d"), (0, "add", "c", "d")]
