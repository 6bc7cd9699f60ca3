"""``overlay-spark refresh``: what it prints, how it ends, and that a refused one runs with its token."""

from __future__ import annotations

import re

import pytest

from overlay_spark.cli import main
from overlay_spark.cli.parsing import DONE, REFUSED, USAGE
from overlay_spark.cli.refresh import print_changes
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.options import Options
from overlay_spark.results import RefreshMetrics
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination
from tests import plain_delta

METRICS = RefreshMetrics(
    links_before=1200,
    links=1201,
    added=3,
    removed=2,
    recosted=1,
    updated=5,
    nodes_before=800,
    nodes_lost=4,
    nodes=799,
    topics=50,
    topics_touched=7,
    topics_apart=6,
    shadow_nodes=40,
    cost_before=1234.5,
    cost=1240.25,
    joined_before=1150,
    joined=1151,
    max_degree=9,
    solve_seconds=0.25,
)


def test_changes__are_printed_beside_what_was_there(capsys):
    print_changes(METRICS)
    assert [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()] == [
        ["links added", "3", "of 1,201 links now"],
        ["links removed", "2", "of 1,200 links before"],
        ["links at other costs", "1"],
        ["topics touched", "7", "6 of them had come apart"],
        ["nodes", "799", "4 of 800 are gone"],
        ["cost", "1,240.25", "1,234.5 before"],
        ["verified", "yes", "every topic connected, every link allowed, rightly priced and of use"],
    ]


def test_refresh__needs_to_know_where_the_overlay_is(capsys):
    assert main(["refresh", "--subscriptions", "delta:wants", "--link-costs", "delta:costs"]) == USAGE
    assert "--output" in capsys.readouterr().err


@pytest.mark.spark
def test_refresh__says_what_it_did_and_a_refused_one_runs_with_its_token(spark, tmp_path, capsys):
    place, out = Destination.parse(f"{tmp_path}/in"), Destination.parse(f"{tmp_path}/out")
    wants = catalog.SUBSCRIPTIONS.rows(spark, [("a", "x"), ("b", "x"), ("c", "x")])
    costs = catalog.LINK_COSTS.rows(spark, [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 2.5)])
    for table, frame in ((catalog.SUBSCRIPTIONS, wants), (catalog.LINK_COSTS, costs)):
        delta.overwrite(table, frame, place.table(table.name), {})
    inputs = Inputs(place.table("subscriptions"), link_costs=place.table("link_costs"))
    run_design(spark, inputs, out, Options()).close()
    flags = [
        *("--subscriptions", f"delta:{tmp_path}/in/subscriptions", "--link-costs", f"delta:{tmp_path}/in/link_costs")
    ]
    flags = ["refresh", *flags, "--output", str(out)]

    assert main(flags) == DONE
    assert capsys.readouterr().out == "Nothing changed.\n"

    gone = [("b", "x")]
    delta.append(
        catalog.SUBSCRIPTIONS, catalog.SUBSCRIPTIONS.rows(spark, [("d", "y")]), place.table("subscriptions"), {}
    )
    spark.sql(f"DELETE FROM delta.`{tmp_path}/in/subscriptions` WHERE node_id = '{gone[0][0]}'")
    assert main(flags) == REFUSED
    told = capsys.readouterr()
    token = re.search(r"run it with --approve (\w+)\.", told.err)[1]
    assert "remove 2 of 2 links (100.0%" in told.err
    assert "Traceback" not in told.err
    assert delta.latest_version(spark, out.table("overlay_links")) == 0

    assert main([*flags, "--approve", "nonsense"]) == REFUSED
    assert "The token nonsense was for another plan." in capsys.readouterr().err
    assert main([*flags, "--approve", token, "--dry-run"]) == DONE
    said = capsys.readouterr().out
    assert "links removed" in said
    assert said.endswith("Dry run: nothing was written.\n")
    assert main([*flags, "--approve", token]) == DONE
    assert capsys.readouterr().out.endswith(f"Written to {out}\n")
    assert [tuple(row)[:3] for row in plain_delta.read(out.table("overlay_links"))] == [("a", "c", 2.5)]


@pytest.mark.spark
def test_refresh__of_no_overlay_is_refused(spark, tmp_path, capsys):
    (tmp_path / "wants.csv").write_text("node_id,topic_id\na,x\n")
    (tmp_path / "costs.csv").write_text("src,dst,cost\na,b,1\n")
    flags = [f"--subscriptions=csv:{tmp_path}/wants.csv", f"--link-costs=csv:{tmp_path}/costs.csv"]
    assert main(["refresh", *flags, f"--output={tmp_path}/out"]) == REFUSED
    assert "there is no overlay here to refresh. Design one first, or give its place." in capsys.readouterr().err
