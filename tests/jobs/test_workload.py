"""Workloads as tables: what is written, from whatever tasks."""

from __future__ import annotations

import json

import pytest

from overlay_spark.cli import DONE, REFUSED, USAGE, main
from overlay_spark.jobs import workload as module
from overlay_spark.options import Options, WorkloadOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from overlay_spark.workloads.interests import subscriptions
from overlay_spark.workloads.latencies import pair_costs, pair_numbers, random_points
from tests.problems import sorted_rows

SMALL = {"nodes": 23, "topics": 12, "least": 2, "most": 6}


def planned(**workload):
    return module.plan_workload(Options(workload=WorkloadOptions(**{**SMALL, **workload})))


@pytest.mark.spark
def test_workload__is_what_the_arrays_are(spark):
    made = planned()
    tables = module.workload_tables(spark, made)
    nodes, topics = subscriptions(made.interests, range(23), 0)
    expected = [(f"node-{v:02d}", f"topic-{t:02d}") for v, t in zip(nodes.tolist(), topics.tolist(), strict=True)]
    assert sorted_rows(tables[catalog.SUBSCRIPTIONS]) == sorted(expected)
    places = random_points(range(23), 2, 100.0, 0).tolist()
    rows = [(row["node_id"], row["coordinates"], row["height"]) for row in tables[catalog.NODES].collect()]
    assert sorted(rows) == [(f"node-{v:02d}", place, 0.0) for v, place in enumerate(places)]
    assert set(tables) == {catalog.SUBSCRIPTIONS, catalog.NODES}


@pytest.mark.spark
@pytest.mark.parametrize("costs", ["plane", "clusters", "pairs"])
def test_workload__does_not_depend_on_tasks(spark, monkeypatch, costs):
    expected = {t.name: sorted_rows(f) for t, f in module.workload_tables(spark, planned(costs=costs)).items()}
    monkeypatch.setattr(module, "ROWS_A_TASK", 4)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    try:
        tables = module.workload_tables(spark, planned(costs=costs))
        assert {table.name: sorted_rows(frame) for table, frame in tables.items()} == expected
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    if costs == "pairs":
        row = next(row for row in expected["link_costs"] if row[:2] == ("node-03", "node-17"))
        assert row[2] == pair_costs(pair_numbers([3], [17]), 1.0, 100.0, 0)[0]
        assert len(expected["link_costs"]) == 23 * 22 // 2
    if costs == "clusters":
        assert len(expected["site_costs"]) == 10 * 11 // 2
        assert {row[1] for row in expected["nodes"]} <= {f"cluster-{i}" for i in range(10)}


@pytest.mark.spark
@pytest.mark.parametrize(
    "text, flag",
    [("node,x,y,height\n0,1.5,2.0,0.5\n1,8.0,3.0,0\n", "--coordinates"), ("r,a,b\na,0,7\nb,7,0\n", "--site-costs")],
    ids=["coordinates", "sites"],
)
def test_workload__of_a_measured_set_can_be_designed_as_it_says(spark, tmp_path, capsys, text, flag):
    (tmp_path / "measured.csv").write_text(text)
    sizes = [part for name in ("topics", "least", "most") for part in ("--set", f"workload.{name}={SMALL[name]}")]
    command = ["workload", "--nodes", "23", *sizes, "--file", str(tmp_path / "measured.csv")]
    assert main([*command, "--output", str(tmp_path / "made")]) == DONE
    told = capsys.readouterr().out
    assert "23 nodes, 12 topics" in told
    following = next(line for line in told.splitlines() if line.strip().startswith("overlay-spark design"))
    assert flag in following
    assert main(following.split()[1:]) == DONE
    assert "every topic connected" in capsys.readouterr().out
    run = delta.read(spark, Destination.parse(str(tmp_path / "made")).table("runs")).collect()[0]
    assert (run["job"], run["status"]) == ("workload", "done")
    assert json.loads(run["options"])["workload"]["nodes"] == 23


@pytest.mark.spark
def test_workload__leaves_no_costs_of_another_one_beside_its_tables(spark, tmp_path, capsys):
    sizes = [part for name in SMALL for part in ("--set", f"workload.{name}={SMALL[name]}")]
    out = str(tmp_path / "made")
    assert main(["workload", *sizes, "--costs", "clusters", "--output", out]) == DONE
    assert main(["workload", *sizes, "--costs", "plane", "--output", out]) == REFUSED
    assert "holds costs of another workload" in capsys.readouterr().err
    nodes = Destination.parse(out).table("nodes")
    assert delta.latest_version(spark, nodes) == 0
    assert main(["workload", *sizes, "--costs", "clusters", "--seed", "2", "--output", out]) == DONE
    assert delta.latest_version(spark, nodes) == 1


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--nodes", "0"], "workload.nodes must be at least 1"),
        (["--costs", "planes"], "workload.costs must be one of plane, file, clusters, pairs"),
        (["--costs", "file"], "workload.file names the measured set"),
        (["--file", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--topics", "10"], "sizes must be 0 <= least <= most <= topics, got 20, 100, 10"),
        (["--set", "workload.alpha=nan"], "interests.alpha must be a number of at least 0"),
        (["--law", "normal"], "interests.law must be one of unif, zipf, expo"),
        (["--set", "workload.spread=1"], "workload.spread must be at least 0 and below 1"),
        (["--set", "workload.high=0.5"], "workload.high must be at least workload.low"),
    ],
)
def test_workload__that_cannot_be_is_refused_before_spark_starts(flags, message, capsys):
    assert main(["workload", "--output", "out", *flags]) == USAGE
    assert message in capsys.readouterr().err
