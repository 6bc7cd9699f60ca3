"""The job that proves or refutes a stored overlay: its verdict, its row, and nothing where there is no overlay."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from overlay_spark.errors import InputError
from overlay_spark.jobs import verify as module
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options
from overlay_spark.results import Verification
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests import plain_delta

pytestmark = pytest.mark.spark

RIGHT = [("a", "b", 1.0, 1, 1, "single", 0), ("b", "c", 2.0, 1, 1, "single", 1)]


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\nc,x\n")
    (tmp_path / "link_costs.csv").write_text("src,dst,cost\na,b,1\nb,c,2\na,c,2.5\n")
    given = {name: Reference("csv", f"{tmp_path}/{name}.csv") for name in ("subscriptions", "link_costs")}
    return Inputs(**given)


@pytest.fixture
def output(tmp_path):
    return Destination.parse(str(tmp_path / "out"))


def store(spark, output, rows):
    links = catalog.OVERLAY_LINKS.rows(spark, rows)
    delta.overwrite(catalog.OVERLAY_LINKS, links, output.table("overlay_links"), {})


def test_verify__leaves_a_row_that_says_what_was_verified_and_how_it_went(spark, tmp_path, inputs, output):
    steps = []
    store(spark, output, RIGHT[:1])
    with run_verify(spark, inputs, output, Options(), progress=steps.append) as refuted:
        assert not refuted.ok
        assert [tuple(row) for row in refuted.broken_topics.orderBy("side").collect()] == [("x", "a", 2), ("x", "c", 1)]
    store(spark, output, RIGHT)
    with run_verify(spark, inputs, output, Options()) as proved:
        assert (proved.ok, proved.faults) == (True, ())
    assert steps == ["read", "check and index", "verify"]
    first, second = delta.read(spark, output.table("runs")).orderBy("started").collect()
    assert (first["job"], first["status"], first["message"]) == ("verify", "refuted", " ".join(refuted.faults))
    assert (second["job"], second["status"], second["message"]) == ("verify", "done", None)
    for row, found, version in ((first, refuted, 0), (second, proved, 1)):
        assert json.loads(row["metrics"]) == {"ok": found.ok, "method": found.method, "stale": list(found.stale)}
        assert [told.partition(",")[0] for told in found.stale] == [
            "overlay_topics is missing",
            "overlay_nodes is missing",
        ]
        assert json.loads(row["inputs"]) == {
            "subscriptions": {"reference": f"csv:{tmp_path}/subscriptions.csv", "version": None, "at": None},
            "link_costs": {"reference": f"csv:{tmp_path}/link_costs.csv", "version": None, "at": None},
            "overlay_links": {"reference": f"delta:{tmp_path}/out/overlay_links", "version": version},
        }


def test_verify__dry_run_leaves_no_row_and_tables_that_cannot_be_used_are_refused_in_one(
    spark, tmp_path, inputs, output, monkeypatch
):
    store(spark, output, RIGHT)
    broken = Inputs(inputs.subscriptions, nodes=Reference("csv", f"{tmp_path}/link_costs.csv"))
    for dry_run, tables in ((True, {"overlay_links"}), (False, {"overlay_links", "runs"})):
        with pytest.raises(InputError, match="names no column of table 'nodes'"):
            run_verify(spark, broken, output, Options(), dry_run=dry_run)
        assert {path.name for path in (tmp_path / "out").iterdir()} == tables
    (row,) = plain_delta.read(output.table("runs"))
    assert (row["status"], row["metrics"]) == ("refused", None)
    monkeypatch.setattr(module, "verify", lambda *given: verdict)
    verdict = Verification(ok=True, method="none", faults=(), broken_topics=spark.range(0), workspace=SimpleNamespace())
    assert run_verify(spark, inputs, output, Options(), dry_run=True).method == "none"
    assert delta.latest_version(spark, output.table("runs")) == 1  # opened and closed by the refused one


def test_verify__where_there_is_no_overlay_is_refused_and_writes_nothing(spark, tmp_path, inputs, output):
    """A mistyped folder is not made."""
    with pytest.raises(InputError) as refusal:
        run_verify(spark, inputs, output, Options())
    place = f"{tmp_path}/out/overlay_links"
    assert str(refusal.value) == f"delta:{place}: there is no Delta table here. Check the path or name."
    assert not (tmp_path / "out").exists()
