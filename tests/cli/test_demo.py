from types import SimpleNamespace

import pytest

from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.cli.demo import print_demo
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests.cli.results import NOTHING_MEASURED, metrics


def result(**changed):
    found = {
        "inputs": Inputs(Reference("delta", "demo/subscriptions")),
        "overlay": metrics(cost=400.0),
        "trees": metrics(cost=1000.0, links=4000, **NOTHING_MEASURED),
        "faults": (),
        "seconds": 41.6,
    }
    return SimpleNamespace(**{**found, **changed})


def test_print_demo__shows_both_overlays_and_what_is_saved(capsys):
    print_demo(result(), Destination.parse("demo"))
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "links 1,500 4,000" in told
    assert "cost of all links 400 ms 1,000 ms" in told
    assert "hops across a topic, average 4.2 not measured" in told
    assert "Cost saved: 60%. Verified from the stored tables: yes. Time: 42 s." in told


def test_print_demo__hides_no_fault(capsys):
    print_demo(result(faults=("Topic 'x' is in 2 pieces.",)), Destination.parse("demo"))
    assert "Verified from the stored tables: NO: Topic 'x' is in 2 pieces." in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.spark
def test_demo__shows_what_the_overlay_saves(spark, tmp_path, capsys):
    out = str(tmp_path / "demo")
    assert main(["demo", "--output", out]) == DONE
    told = capsys.readouterr().out
    assert "300 brokers in 10 cities, 200 topics" in told
    assert "Verified from the stored tables: yes" in told
    following = next(line for line in told.splitlines() if line.strip().startswith("overlay-spark verify"))
    assert main(following.split()[1:]) == DONE


@pytest.mark.spark
def test_demo__does_not_replace_tables_of_others(spark, tmp_path, capsys):
    nodes = Destination.parse(str(tmp_path)).table("nodes")
    delta.overwrite(catalog.NODES, catalog.NODES.rows(spark, [("a", None)]), nodes, {})
    assert main(["demo", "--output", str(tmp_path)]) == REFUSED
    assert "holds tables that no workload made" in capsys.readouterr().err
    assert delta.latest_version(spark, nodes) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["nodes"]
