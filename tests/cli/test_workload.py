import json

import pytest

from overlay_spark.cli import DONE, REFUSED, USAGE, main
from overlay_spark.tables import delta
from overlay_spark.tables.references import Destination
from tests import plain_delta

SMALL = {"nodes": 23, "topics": 12, "least": 2, "most": 6}
SIZES = [part for name in SMALL for part in ("--set", f"workload.{name}={SMALL[name]}")]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "text, flag",
    [("node,x,y,height\n0,1.5,2.0,0.5\n1,8.0,3.0,0\n", "--coordinates"), ("r,a,b\na,0,7\nb,7,0\n", "--site-costs")],
    ids=["coordinates", "sites"],
)
def test_workload__of_a_measured_set_can_be_designed_as_it_says(spark, tmp_path, capsys, text, flag):
    (tmp_path / "measured.csv").write_text(text)
    command = ["workload", *SIZES, "--file", str(tmp_path / "measured.csv"), "--seed", "5"]
    assert main([*command, "--output", str(tmp_path / "made")]) == DONE
    told = capsys.readouterr().out
    assert "23 nodes, 12 topics" in told
    following = next(line for line in told.splitlines() if line.strip().startswith("overlay-spark design"))
    assert flag in following
    assert main(following.split()[1:]) == DONE
    assert "every topic connected" in capsys.readouterr().out
    (run,) = plain_delta.read(Destination.parse(str(tmp_path / "made")).table("runs"))
    assert (run["job"], run["status"]) == ("workload", "done")
    made = json.loads(run["options"])["workload"]
    assert (made["nodes"], made["seed"]) == (23, 5)


@pytest.mark.slow
@pytest.mark.spark
def test_workload__leaves_no_costs_of_another_one_beside_its_tables(spark, tmp_path, capsys):
    out = str(tmp_path / "made")
    assert main(["workload", *SIZES, "--costs", "clusters", "--output", out]) == DONE
    assert main(["workload", *SIZES, "--costs", "plane", "--output", out]) == REFUSED
    assert "holds costs of another workload" in capsys.readouterr().err
    nodes = Destination.parse(out).table("nodes")
    assert delta.latest_version(spark, nodes) == 0
    assert main(["workload", *SIZES, "--costs", "clusters", "--seed", "2", "--output", out]) == DONE
    assert delta.latest_version(spark, nodes) == 1


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--nodes", "0"], "workload.nodes must be at least 1"),
        (["--seed", "-1"], "workload.seed must be from 0"),
        (["--costs", "planes"], "workload.costs must be one of plane, file, clusters, pairs"),
        (["--costs", "file"], "workload.file names the measured set"),
        (["--file", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--file", "nowhere.csv", "--costs", "plane"], "workload.file names the measured set"),
        (["--topics", "10"], "sizes must be 0 <= least <= most <= topics, got 20, 100, 10"),
        (["--set", "workload.alpha=nan"], "interests.alpha must be a number of at least 0"),
        (["--sizes", "fixed"], "interests.sizes must be one of uniform, power, bernoulli"),
        (["--sizes", "bernoulli", "--law", "zipf"], "the first would be wanted with a chance of 6.1"),
        (["--law", "normal"], "interests.law must be one of unif, zipf, expo"),
        (["--set", "workload.spread=1"], "workload.spread must be at least 0 and below 1"),
        (["--set", "workload.high=0.5"], "workload.high must be at least workload.low"),
    ],
)
def test_workload__that_cannot_be_is_refused_before_spark_starts(flags, message, capsys):
    assert main(["workload", "--output", "out", *flags]) == USAGE
    assert message in capsys.readouterr().err
