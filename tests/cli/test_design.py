from types import SimpleNamespace

import pytest

from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.cli.design import print_overlay
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cli.results import NOTHING_MEASURED, facts, metrics
from tests.cli.tables import csv_problem


def overlay(**changed):
    given = {
        "metrics": metrics(),
        "facts": facts(),
        "algorithm": "greedy",
        "engine": "kernel",
        "lower_bound": None,
        "bound": None,
        "gap": None,
    }
    return SimpleNamespace(**{**given, **changed})


def lines(capsys):
    """What was printed, single spaces between words."""
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_print_overlay__tells_its_figures(capsys):
    print_overlay(overlay())
    assert lines(capsys) == [
        "links 1,500 for 1,200 nodes and 30 topics",
        "cost 1,234.5 greedy",
        "links per node 2.50 at most 17",
        "hops across a topic 4.25 at most 9, over 30 topics",
        "verified yes every topic connected (components: grouped)",
        "Engine: kernel, as asked",
    ]


def test_print_overlay__tells_bound_and_trees_where_there_are_any(capsys):
    print_overlay(overlay(facts=facts(sum_of_trees=2000.0), lower_bound=1000.0, bound="dual value", gap=0.2345))
    told = lines(capsys)
    assert "sum of trees 2,000 if each topic paid for its own tree" in told
    assert "no overlay costs less than 1,000 dual value; the cost is 23.4% above it" in told


def test_print_overlay__of_one_thing_is_in_the_singular(capsys):
    print_overlay(overlay(metrics=metrics(nodes=1, topics=1, topics_measured=1)))
    told = lines(capsys)
    assert told[0].endswith("for 1 node and 1 topic")
    assert told[3].endswith("over 1 topic")


def test_print_overlay__says_what_was_not_measured(capsys):
    print_overlay(overlay(metrics=metrics(**NOTHING_MEASURED)))
    assert "hops across a topic not measured no topic, or none within metrics.diameter_max_nodes" in lines(capsys)


@pytest.mark.spark
def test_design__from_csv_files(spark, tmp_path, capsys):
    given, out = csv_problem(tmp_path), str(tmp_path / "out")
    assert main(["design", *given, "--output", out, "--dry-run"]) == DONE
    assert "nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main(["design", *given, "--output", out]) == DONE
    told = capsys.readouterr().out
    assert "for 3 nodes and 1 topic\n" in told
    assert "every topic connected" in told
    assert f"Written to {out}" in told


@pytest.mark.spark
def test_design__takes_flags_as_its_options(spark, tmp_path):
    flags = ["--algorithm", "GM", "--then", "reverse_delete", "--seed", "7", "--engine", "kernel"]
    assert main(["design", *csv_problem(tmp_path), "--output", str(tmp_path / "out"), *flags]) == DONE
    (run,) = plain_delta.read(Destination.parse(str(tmp_path / "out")).table("runs"))
    assert (run["algorithm"], run["engine"], run["seed"]) == ("fewest_links", "kernel", 7)
    assert '"then": ["reverse_delete"]' in run["options"]


@pytest.mark.spark
def test_design__refused_exits_with_the_message_alone(spark, tmp_path, capsys):
    assert main(["design", *csv_problem(tmp_path, cost="-1.0"), "--output", str(tmp_path / "out")]) == REFUSED
    told = capsys.readouterr().err
    assert "column 'cost' has 1 row" in told
    assert "Traceback" not in told
