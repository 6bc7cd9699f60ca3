"""A refresh submitted to a standalone cluster, by workers that have only what is shipped to them."""

from __future__ import annotations

import shutil

import pytest
from pyspark.sql import functions as F

from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.refresh import run_refresh
from overlay_spark.options import Options
from overlay_spark.tables import catalog, delta, feed
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cluster.submitting import ROOT

pytestmark = pytest.mark.cluster

PIPELINE = ROOT / "pipelines" / "refresh_overlay.py"
COMPARED = ("overlay_links", "overlay_topics", "overlay_nodes", "overlay_backups")
INPUTS = (catalog.SUBSCRIPTIONS, catalog.NODES)


def churn(spark, folder):
    """A few nodes go, and as many come that are where they were and want what they did."""
    tables = {table: delta.read(spark, folder.table(table.name)).localCheckpoint() for table in INPUTS}
    gone = [row["node_id"] for row in tables[catalog.NODES].orderBy("node_id").limit(6).collect()]
    for table, rows in tables.items():
        theirs = rows.where(F.col("node_id").isin(gone))
        came = theirs.withColumn("node_id", F.concat(F.lit("new "), "node_id"))
        changes = theirs.withColumn(feed.ACTION, F.lit("remove"))
        feed.merge(table, changes.union(came.withColumn(feed.ACTION, F.lit("add"))), folder.table(table.name), {})


def test_refresh__on_a_cluster_gives_the_same_tables(spark, stored, cluster, submission, plain_python, package_alone):
    shutil.copytree(stored / "local", stored / "out")
    given = Destination.parse(str(stored / "in"))
    churn(spark, given)
    flags = (
        *("--subscriptions", f"delta:{stored}/in/subscriptions", "--nodes", f"delta:{stored}/in/nodes"),
        *("--coordinates", "--output", f"{stored}/out"),
    )
    submission.start(PIPELINE, flags, plain_python, plain_python, package_alone.flags)
    assert submission.wait() == 0, submission.said[-4000:]
    inputs = Inputs(**{table.name: given.table(table.name) for table in INPUTS})
    local, out = (Destination.parse(str(stored / name)) for name in ("local", "out"))
    found = run_refresh(spark, inputs, local, Options())
    assert found.metrics is not None
    assert min(found.metrics.added, found.metrics.removed) > 0
    for name in COMPARED:
        assert plain_delta.sorted_rows(out.table(name)) == plain_delta.sorted_rows(local.table(name)), name
    events, expected = (plain_delta.sorted_rows(place.table("overlay_changes")) for place in (out, local))
    assert [event[1:] for event in events] == [event[1:] for event in expected]  # the first tells whose run it was
    (environment,) = submission.events("EnvironmentUpdate")
    assert dict(environment["Spark Properties"])["spark.master"] == cluster.url
