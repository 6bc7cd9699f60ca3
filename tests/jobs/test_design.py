"""The design job: what it writes, and that bad input leaves nothing but the refusal's row."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from overlay_spark.errors import InputError
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import DesignOptions, Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests import plain_delta
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

SUBSCRIPTIONS = [("a", "x"), ("b", "x"), ("c", "x")]
LINK_COSTS = [("a", "b", 1.0), ("b", "c", 2.0)]


def parquet(folder: Path, table, rows) -> Reference:
    types = to_arrow_schema(table.schema)
    columns = zip(types, zip(*rows, strict=True), strict=True)
    pq.write_table(
        pa.table({field.name: pa.array(c, field.type) for field, c in columns}), folder / f"{table.name}.parquet"
    )
    return Reference("parquet", str(folder / f"{table.name}.parquet"))


def stored(folder: Path, link_costs=LINK_COSTS, subscriptions=SUBSCRIPTIONS) -> Inputs:
    return Inputs(
        parquet(folder, catalog.SUBSCRIPTIONS, subscriptions),
        link_costs=parquet(folder, catalog.LINK_COSTS, link_costs),
    )


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
    run = plain_delta.read(output.table("runs"))[0]
    assert (run["status"], run["job"], run["algorithm"], run["engine"]) == ("done", "design", "greedy", "kernel")
    assert json.loads(run["metrics"])["cost"] == overlay.metrics.cost == 3.0
    assert json.loads(run["inputs"])["subscriptions"]["version"] == 1
    times = {
        name: delta.commits(spark, given, 1)[0].at
        for name, given in (("subscriptions", inputs.subscriptions), ("link_costs", inputs.link_costs))
    }
    assert 0 < abs(times["link_costs"] - 1000 * time.time()) < 3_600_000
    for name in ("overlay_links", "overlay_topics", "overlay_nodes"):
        written = output.table(name)
        assert delta.latest_version(spark, written) == 0
        assert delta.commits(spark, written, 1)[0].metadata == {
            "run_id": run["run_id"],
            "job": "design",
            "generation": 0,
            "algorithm": "greedy",
            "inputs": {"subscriptions": 1, "link_costs": 0},
            "input_times": times,
            **({} if name == "overlay_links" else {"links_version": 0}),
        }
    assert plain_delta.sorted_rows(output.table("overlay_links")) == sorted_rows(overlay.links)
    assert run_verify(spark, inputs, output, Options()).ok
    again = run_design(spark, inputs, output, Options(design=DesignOptions(algorithm="trees")))
    assert delta.latest_version(spark, output.table("overlay_links")) == 1
    assert plain_delta.sorted_rows(output.table("overlay_links")) == sorted_rows(again.links)
    assert len(plain_delta.read(output.table("runs"))) == 3


def test_design__dry_run_writes_nothing_at_all(spark, tmp_path):
    inputs = stored(tmp_path)
    overlay = run_design(spark, inputs, Destination.parse(str(tmp_path / "out")), Options(), dry_run=True)
    assert overlay.metrics.links == 2
    assert not (tmp_path / "out").exists()


def test_verify__of_a_stored_overlay_says_refuted_in_runs(spark, tmp_path):
    inputs = stored(tmp_path)
    output = Destination.parse(str(tmp_path / "out"))
    broken = spark.createDataFrame([("a", "b", 1.0, 1, 1, "single", 0)], catalog.OVERLAY_LINKS.schema)
    delta.overwrite(catalog.OVERLAY_LINKS, broken, output.table("overlay_links"), {})
    found = run_verify(spark, inputs, output, Options())
    assert not found.ok
    run = plain_delta.read(output.table("runs"))[0]
    assert (run["job"], run["status"]) == ("verify", "refuted")
    assert "1 topic in pieces" in run["message"]


FAULTS = {
    "found in a table": (
        {"link_costs": [*LINK_COSTS, ("a", "c", 0.0), ("a", "d", -1.0)]},
        "Table 'link_costs': column 'cost' has 2 rows that are not above 0 (first: src='a', dst='c', cost=0.0; src='a', dst='d', cost=-1.0). Costs must be positive; remove or correct these rows.",
    ),
    "found by design": (
        {"subscriptions": [*SUBSCRIPTIONS, ("d", "x"), ("c", "y"), ("d", "y")], "link_costs": [("a", "b", 1.0), ("c", "d", 1.0)]},
        "Table 'link_costs' leaves 1 topic in pieces (first: topic 'x' is in 2 pieces: 2 nodes with 'a', 2 nodes with 'c'). List links between these sides, or remove the subscriptions.",
    ),
}  # fmt: skip
"""One of those the input check finds, which has tests of its own, and the only one that it does not find."""


@pytest.mark.parametrize("fault", FAULTS)
def test_design__refuses_bad_input_and_writes_only_the_refusal(spark, tmp_path, fault):
    tables, message = FAULTS[fault]
    with pytest.raises(InputError) as refusal:
        run_design(spark, stored(tmp_path, **tables), Destination.parse(str(tmp_path / "out")), Options())
    assert refusal.value.faults == (message,)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["runs"]
    run = plain_delta.read(Reference("delta", str(tmp_path / "out" / "runs")))
    assert [row["status"] for row in run] == ["refused"]
    assert message in run[0]["message"]
