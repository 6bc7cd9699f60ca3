"""The command line: what it prints and how it exits. Commands that need Spark use the tests' session."""

from __future__ import annotations

import pytest

from overlay_spark.cli import DONE, INTERRUPTED, REFUSED, USAGE, main


def files(tmp_path, cost="1.0"):
    (tmp_path / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\nc,x\n")
    (tmp_path / "link_costs.csv").write_text(f"src,dst,cost\na,b,{cost}\nb,c,2.0\na,c,2.5\n")
    return [
        *("--subscriptions", f"csv:{tmp_path}/subscriptions.csv"),
        *("--link-costs", f"csv:{tmp_path}/link_costs.csv"),
    ]


@pytest.mark.parametrize(
    "command",
    [[], ["design"], ["verify"], ["estimate"], ["workload"], ["benchmark"], ["experiment"], ["demo"], ["algorithms"]],
)
def test_help__teaches(command, capsys):
    assert main([*command, "--help"]) == DONE
    assert "usage: overlay-spark" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "required: COMMAND"),
        (["design", "--output", "out"], "required: --subscriptions"),
        (["design", "--subscriptions", "csv:s", "--output", "o"], "one of the arguments --link-costs --site-costs --coordinates is required"),
        (["design", "--subscriptions", "s.csv", "--link-costs", "csv:c", "--output", "o"], "'s.csv' does not say where a table is"),
        (["design", "--subscriptions", "csv:s", "--site-costs", "csv:c", "--output", "o"], "--site-costs needs --nodes"),
        (["design", "--subscriptions", "csv:s", "--coordinates", "--output", "o"], "--coordinates needs --nodes"),
        (["design", "--subscriptions", "csv:s", "--link-costs", "csv:c", "--output", "o", "--algorithm", "gredy"], "Did you mean 'greedy'?"),
        (["design", "--subscriptions", "csv:s", "--link-costs", "csv:c", "--output", "o", "--set", "cost.unit=1"], "unknown section [cost]. Did you mean 'costs'?"),
        (["demo", "--config", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["demo", "--set", "costs.unit=-1"], "costs.unit must be a number from"),
    ],
)  # fmt: skip
def test_wrong_usage__is_told_before_spark_starts(arguments, message, capsys):
    assert main(arguments) == USAGE
    assert message in capsys.readouterr().err


def test_algorithms__are_listed(capsys):
    assert main(["algorithms"]) == DONE
    told = capsys.readouterr().out
    assert "GrMAW" in told
    assert "H(g)" in told


@pytest.mark.spark
def test_design_and_verify__from_csv_files(spark, tmp_path, capsys):
    given, out = files(tmp_path), str(tmp_path / "out")
    assert main(["design", *given, "--output", out, "--dry-run"]) == DONE
    assert "nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main(["design", *given, "--output", out]) == DONE
    told = capsys.readouterr().out
    assert "for 3 nodes and 1 topics" in told
    assert "every topic connected" in told
    assert main(["verify", *given, "--overlay", out]) == DONE
    assert "The overlay is right" in capsys.readouterr().out
    dearer = files(tmp_path, cost="1.5")
    assert main(["verify", *dearer, "--overlay", out]) == REFUSED
    assert "another cost than the costs given (first: src='a', dst='b')" in capsys.readouterr().out


@pytest.mark.spark
def test_design__refused_exits_with_the_message_alone(spark, tmp_path, capsys):
    assert main(["design", *files(tmp_path, cost="-1.0"), "--output", str(tmp_path / "out")]) == REFUSED
    told = capsys.readouterr().err
    assert "column 'cost' has 1 row that are not above 0" in told
    assert "Traceback" not in told


@pytest.mark.spark
def test_demo__shows_what_the_overlay_saves(spark, tmp_path, capsys):
    out = str(tmp_path / "demo")
    assert main(["demo", "--output", out]) == DONE
    told = capsys.readouterr().out
    assert "300 brokers in 10 cities, 200 topics" in told
    assert "Verified from the stored tables: yes" in told
    following = next(line for line in told.splitlines() if line.strip().startswith("overlay-spark verify"))
    assert main(following.split()[1:]) == DONE


def test_interrupt__has_its_own_exit_code(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("overlay_spark.cli.Options.load", interrupt)
    assert main(["demo"]) == INTERRUPTED


def test_unknown_errors__exit_with_3(monkeypatch):
    def fail(*_):
        raise RuntimeError("what nobody foresaw")

    monkeypatch.setattr("overlay_spark.cli.Options.load", fail)
    assert main(["demo"]) == 3


@pytest.mark.spark
def test_demo__does_not_replace_tables_of_others(spark, tmp_path, capsys):
    from overlay_spark.tables import catalog, delta
    from overlay_spark.tables.references import Destination

    nodes = Destination.parse(str(tmp_path)).table("nodes")
    delta.overwrite(catalog.NODES, catalog.NODES.rows(spark, [("a", None)]), nodes, {})
    assert main(["demo", "--output", str(tmp_path)]) == REFUSED
    assert "holds tables that no workload made" in capsys.readouterr().err
    assert delta.latest_version(spark, nodes) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["nodes"]
