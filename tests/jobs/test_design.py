"""The design job: what it writes, and that bad input leaves nothing but the refusal's row."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from overlay_spark.errors import InputError
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import DesignOptions, Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

INFINITY, NAN = float("inf"), float("nan")
SUBSCRIPTIONS = [("a", "x"), ("b", "x"), ("c", "x")]
LINK_COSTS = [("a", "b", 1.0), ("b", "c", 2.0)]
SITES = [("a", "s"), ("b", "s"), ("c", "t")]
SITE_COSTS = [("s", "s", 1.0), ("t", "s", 3.0)]


def parquet(folder: Path, table, rows) -> Reference:
    """A table as a Parquet file, which holds any nulls; values of the last columns may be left out."""
    types = to_arrow_schema(table.schema)
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    arrays = {types[i].name: pa.array(column, types[i].type) for i, column in enumerate(columns)}
    pq.write_table(pa.table(arrays), folder / f"{table.name}.parquet")
    return Reference("parquet", str(folder / f"{table.name}.parquet"))


def stored(folder: Path, subscriptions=SUBSCRIPTIONS, nodes=None, link_costs=None, site_costs=None) -> Inputs:
    given = {"nodes": nodes, "link_costs": link_costs, "site_costs": site_costs}
    tables = {name: getattr(catalog, name.upper()) for name in given}
    places = {name: parquet(folder, tables[name], rows) for name, rows in given.items() if rows is not None}
    return Inputs(parquet(folder, catalog.SUBSCRIPTIONS, subscriptions), **places)


def test_design__writes_tables_in_single_commits_that_name_the_run(spark, tmp_path):
    source, output = Destination.parse(str(tmp_path / "in")), Destination.parse(str(tmp_path / "out"))
    for table, rows in ((catalog.SUBSCRIPTIONS, SUBSCRIPTIONS), (catalog.LINK_COSTS, LINK_COSTS)):
        delta.overwrite(table, table.rows(spark, rows), source.table(table.name), {})
    delta.overwrite(
        catalog.SUBSCRIPTIONS,
        catalog.SUBSCRIPTIONS.rows(spark, SUBSCRIPTIONS),
        source.table("subscriptions"),
        {},
    )
    inputs = Inputs(source.table("subscriptions"), link_costs=source.table("link_costs"))
    overlay = run_design(spark, inputs, output, Options())
    run = delta.read(spark, output.table("runs")).collect()[0]
    assert (run["status"], run["job"], run["algorithm"], run["engine"]) == ("done", "design", "greedy", "kernel")
    assert json.loads(run["metrics"])["cost"] == overlay.metrics["cost"] == 3.0
    assert json.loads(run["inputs"])["subscriptions"]["version"] == 1
    for name in ("overlay_links", "overlay_topics", "overlay_nodes"):
        written = output.table(name)
        assert delta.latest_version(spark, written) == 0
        assert delta.commit_metadata(spark, written) == {
            "run_id": run["run_id"],
            "job": "design",
            "inputs": {"subscriptions": 1, "link_costs": 0},
        }
    assert sorted_rows(delta.read(spark, output.table("overlay_links"))) == sorted_rows(overlay.links)
    assert run_verify(spark, inputs, output, Options()).ok
    again = run_design(spark, inputs, output, Options(design=DesignOptions(algorithm="trees")))
    assert delta.latest_version(spark, output.table("overlay_links")) == 1
    assert sorted_rows(delta.read(spark, output.table("overlay_links"))) == sorted_rows(again.links)
    assert delta.read(spark, output.table("runs")).count() == 3


def test_design__dry_run_writes_nothing_at_all(spark, tmp_path):
    inputs = stored(tmp_path, link_costs=LINK_COSTS)
    overlay = run_design(spark, inputs, Destination.parse(str(tmp_path / "out")), Options(), dry_run=True)
    assert overlay.metrics["links"] == 2
    assert not (tmp_path / "out").exists()


def test_verify__of_a_stored_overlay_says_refuted_in_runs(spark, tmp_path):
    inputs = stored(tmp_path, link_costs=LINK_COSTS)
    output = Destination.parse(str(tmp_path / "out"))
    broken = spark.createDataFrame([("a", "b", 1.0, 1, 1, "single", 0)], catalog.OVERLAY_LINKS.schema)
    delta.overwrite(catalog.OVERLAY_LINKS, broken, output.table("overlay_links"), {})
    found = run_verify(spark, inputs, output, Options())
    assert not found.ok
    run = delta.read(spark, output.table("runs")).collect()[0]
    assert (run["job"], run["status"]) == ("verify", "refuted")
    assert "1 topic in pieces" in run["message"]


FAULTS = {
    "null id": (
        {"subscriptions": [("a", "x"), (None, "x")], "link_costs": LINK_COSTS},
        "Table 'subscriptions': column 'node_id' has 1 row that are null (first: node_id=None, topic_id='x'). Fill in or remove these rows.",
    ),
    "empty id": (
        {"subscriptions": [("a", ""), ("b", ""), ("a", "x"), ("b", "x")], "link_costs": LINK_COSTS},
        "Table 'subscriptions': column 'topic_id' has 2 rows that are empty (first: node_id='a', topic_id=''; node_id='b', topic_id='').",
    ),
    "duplicate subscription": (
        {"subscriptions": [*SUBSCRIPTIONS, ("a", "x")], "link_costs": LINK_COSTS},
        "Table 'subscriptions' has 2 rows whose (node_id, topic_id) occurs more than once (first: node_id='a', topic_id='x'). Keep one of each.",
    ),
    "no subscriptions": (
        {"subscriptions": [], "link_costs": LINK_COSTS},
        "Table 'subscriptions' is empty. Give at least one row (node_id, topic_id).",
    ),
    "no link costs": ({"link_costs": []}, "Table 'link_costs' is empty. Give at least one row (src, dst, cost)."),
    "null cost": (
        {"link_costs": [*LINK_COSTS, ("a", "c", None)]},
        "Table 'link_costs': column 'cost' has 1 row that are null (first: src='a', dst='c', cost=None).",
    ),
    "NaN cost": (
        {"link_costs": [*LINK_COSTS, ("a", "c", NAN)]},
        "Table 'link_costs': column 'cost' has 1 row that are NaN (first: src='a', dst='c', cost=nan).",
    ),
    "infinite costs": (
        {"link_costs": [*LINK_COSTS, ("a", "c", INFINITY), ("a", "d", -INFINITY)]},
        "Table 'link_costs': column 'cost' has 2 rows that are infinite (first: src='a', dst='c', cost=inf; src='a', dst='d', cost=-inf).",
    ),
    "zero and negative costs": (
        {"link_costs": [*LINK_COSTS, ("a", "c", 0.0), ("a", "d", -1.0)]},
        "Table 'link_costs': column 'cost' has 2 rows that are not above 0 (first: src='a', dst='c', cost=0.0; src='a', dst='d', cost=-1.0). "
        "Costs must be positive; remove or correct these rows.",
    ),
    "vanishing cost": (
        {"link_costs": [*LINK_COSTS, ("a", "c", 4e-7)]},
        "Table 'link_costs': column 'cost' has 1 row that are less than half of costs.unit = 1e-06 and would count as 0 (first: src='a', dst='c', cost=4e-07).",
    ),
    "overflowing cost": (
        {"link_costs": [*LINK_COSTS, ("a", "c", 1e7)]},
        "Table 'link_costs': column 'cost' has 1 row that are more than 1099511627776 times costs.unit = 1e-06 (first: src='a', dst='c', cost=10000000.0).",
    ),
    "self loop": (
        {"link_costs": [*LINK_COSTS, ("a", "a", 1.0)]},
        "Table 'link_costs' has 1 row that link a node with itself (first: src='a', dst='a', cost=1.0).",
    ),
    "pair twice in one direction": (
        {"link_costs": [*LINK_COSTS, ("a", "b", 1.0)]},
        "Table 'link_costs' has 2 rows whose pair (src, dst) is given more than once (first: src='a', dst='b').",
    ),
    "pair in both directions at two costs": (
        {"link_costs": [*LINK_COSTS, ("b", "a", 1.5)]},
        "Table 'link_costs' has 2 rows whose pair (src, dst) is given more than once (first: src='a', dst='b').",
    ),
    "node the nodes table does not know": (
        {"nodes": [("a", None), ("b", None)], "link_costs": LINK_COSTS},
        "Table 'subscriptions' has 1 row of nodes that table 'nodes' does not know (first: node_id='c').",
    ),
    "node given twice": (
        {"nodes": [("a", None), ("b", None), ("c", None), ("c", "s")], "link_costs": LINK_COSTS},
        "Table 'nodes' has 2 rows whose (node_id) occurs more than once (first: node_id='c').",
    ),
    "node the costs do not know": (
        {"link_costs": LINK_COSTS[:1]},
        "Table 'link_costs' does not know 1 of the nodes that share a topic with others (first: node_id='c'). List links for these nodes.",
    ),
    "node without site": (
        {"nodes": [("a", "s"), ("b", None), ("c", "t")], "site_costs": SITE_COSTS},
        "Table 'nodes': column 'site' has 1 row that are null (first: node_id='b'). With site costs every node needs a site.",
    ),
    "site pair without cost": (
        {"nodes": SITES, "site_costs": SITE_COSTS[:1]},
        "Table 'site_costs' has no cost for 1 pairs of sites in use (first: site_a='s', site_b='t').",
    ),
    "site without inner cost": (
        {"nodes": SITES, "site_costs": SITE_COSTS[1:]},
        "Table 'site_costs' has no cost for 1 pairs of sites in use (first: site_a='s', site_b='s').",
    ),
    "node without coordinates": (
        {"nodes": [("a", None, [0.0], None), ("b", None, None, 1.0), ("c", None, [1.0], None)]},
        "Table 'nodes': column 'coordinates' has 1 row that are null (first: node_id='b'). With costs by coordinates every node needs coordinates.",
    ),
    "coordinates in another space": (
        {"nodes": [("a", None, [0.0]), ("b", None, [0.0, 1.0]), ("c", None, [1.0])]},
        "Table 'nodes': column 'coordinates' has 1 row with another number of dimensions than the others (first: node_id='b', dimensions=2).",
    ),
    "coordinates that are no numbers": (
        {"nodes": [("a", None, [NAN]), ("b", None, [INFINITY]), ("c", None, [1.0])]},
        "Table 'nodes': column 'coordinates' has 2 rows that hold NaN or an infinity (first: node_id='a', site=None, coordinates=[nan], height=None;",
    ),
    "coordinates with a hole": (
        {"nodes": [("a", None, [1.0, None]), ("b", None, [0.0, 1.0]), ("c", None, [1.0, 1.0])]},
        "Table 'nodes': column 'coordinates' has 1 row that hold null, or text that is no number (first: node_id='a', site=None, coordinates=[1.0, None]",
    ),
    "coordinates without numbers": (
        {"nodes": [("a", None, []), ("b", None, [1.0]), ("c", None, [1.0])]},
        "Table 'nodes': column 'coordinates' has 1 row without a number (first: node_id='a',",
    ),
    "negative height": (
        {"nodes": [("a", None, [1.0], -1.0), ("b", None, [1.0], None), ("c", None, [1.0], 0.0)]},
        "Table 'nodes': column 'height' has 1 row that are negative, NaN or infinite (first: node_id='a',",
    ),
    "coordinates too far apart": (
        {"nodes": [("a", None, [-6e5, 0.0], 1.0), ("b", None, [6e5, 0.0], 2.0), ("c", None, [1.0, 1.0], 0.0)]},
        "Table 'nodes': columns 'coordinates' and 'height' allow distances of more than 1099511627776 times costs.unit = 1e-06 (across all nodes: distance=1200004.0000",
    ),
    "topic that cannot be connected": (
        {"subscriptions": [*SUBSCRIPTIONS, ("d", "x"), ("c", "y"), ("d", "y")], "link_costs": [("a", "b", 1.0), ("c", "d", 1.0)]},
        "Table 'link_costs' leaves 1 topic in pieces (first: topic='x', pieces=2, one_with='a', its_nodes=2, another_with='c', nodes_of_that=2).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_design__refuses_bad_input_and_writes_only_the_refusal(spark, tmp_path, fault):
    tables, message = FAULTS[fault]
    with pytest.raises(InputError) as refusal:
        run_design(spark, stored(tmp_path, **tables), Destination.parse(str(tmp_path / "out")), Options())
    assert message in str(refusal.value)
    assert len(refusal.value.faults) == 1, refusal.value.faults
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["runs"]
    run = delta.read(spark, Reference("delta", str(tmp_path / "out" / "runs"))).collect()
    assert [row["status"] for row in run] == ["refused"]
    assert message in run[0]["message"]


def test_design__refuses_ids_that_are_not_utf8_before_python_sees_them(spark, tmp_path):
    bad = spark.range(1).select(F.unhex(F.lit("61FF")).cast("string").alias("node_id"), F.lit("x").alias("topic_id"))
    good = spark.createDataFrame(SUBSCRIPTIONS, "node_id string, topic_id string")
    good.union(bad).coalesce(1).write.parquet(str(tmp_path / "subscriptions"))
    inputs = Inputs(
        Reference("parquet", str(tmp_path / "subscriptions")),
        link_costs=parquet(tmp_path, catalog.LINK_COSTS, LINK_COSTS),
    )
    with pytest.raises(
        InputError, match=r"column 'node_id' has 1 row that are not valid UTF-8 \(first: node_id='0x61FF'"
    ):
        run_design(spark, inputs, Destination.parse(str(tmp_path / "out")), Options())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["runs"]


def test_design__tells_the_faults_of_all_tables_at_once(spark, tmp_path):
    tables = {"subscriptions": [("a", None), ("a", "x"), ("a", "x")], "link_costs": [("a", "a", -1.0)]}
    with pytest.raises(InputError) as refusal:
        run_design(spark, stored(tmp_path, **tables), Destination.parse(str(tmp_path / "out")), Options())
    told = [fault.split(" (first")[0] for fault in refusal.value.faults]
    assert told == [
        "Table 'subscriptions': column 'topic_id' has 1 row that are null",
        "Table 'subscriptions' has 2 rows whose (node_id, topic_id) occurs more than once",
        "Table 'link_costs': column 'cost' has 1 row that are not above 0",
        "Table 'link_costs' has 1 row that link a node with itself",
    ]


def test_design__cuts_long_examples(spark, tmp_path):
    long = "n" * 10_000
    tables = {"subscriptions": [(long, "x"), (long, "x")], "link_costs": LINK_COSTS}
    with pytest.raises(InputError) as refusal:
        run_design(spark, stored(tmp_path, **tables), Destination.parse(str(tmp_path / "out")), Options())
    assert len(str(refusal.value)) < 400
