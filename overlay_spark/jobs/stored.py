"""The overlay that a refresh begins with, and what changed since it was computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

import overlay_spark
from overlay_spark.errors import FeedError
from overlay_spark.jobs.generations import Head
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.options import Options
from overlay_spark.options.components import AUTO
from overlay_spark.problems import PackedOverlay, StoredOverlay
from overlay_spark.tables import catalog, delta, feed
from overlay_spark.tables.references import Destination

PACKED = "packed"
"""Under which the commit of the links says by whom it was packed."""


def stored_overlay(
    spark: SparkSession,
    inputs: Inputs,
    output: Destination,
    head: Head,
    described: Mapping[str, Any],
    options: Options,
) -> StoredOverlay | PackedOverlay:
    """The overlay as of its generation, packed where this version of ours left it so, and what changed since."""
    about = described[catalog.SUBSCRIPTIONS.name]
    now, then = about["version"], head.inputs.get(catalog.SUBSCRIPTIONS.name)
    if head.undone is not None:
        raise FeedError(
            f"Since the last run, table overlay_links was changed by another ({head.undone.operation}, version "
            f"{head.undone.version})."
        )
    if now is None or then is None:
        raise FeedError(
            "The overlay was not computed from a version of a Delta table of subscriptions, so nothing tells what "
            "changed since."
        )
    if now < then or head.is_of_another(catalog.SUBSCRIPTIONS.name, _committed(spark, inputs, about, then)):
        raise FeedError("Table 'subscriptions' is another than the overlay was computed from: it was replaced.")
    if now == then:
        schema = ", ".join(f"{name} string" for name in catalog.SUBSCRIPTIONS.key) + f", {feed.CHANGE} int"
        changes = spark.createDataFrame([], schema)
    else:
        changes = feed.net_changes(spark, catalog.SUBSCRIPTIONS, inputs.subscriptions, then, now)
    if head.metadata.get(PACKED) == packed_by(options) and options.components.method == AUTO:
        state = head.table(spark, output, catalog.OVERLAY_STATE)
        if state is not None:
            return PackedOverlay(state=state, changes=changes)
    links = head.links(spark, output)
    after = (catalog.OVERLAY_NODES, catalog.OVERLAY_TOPICS, catalog.OVERLAY_BACKUPS)
    nodes, topics, backups = (head.table(spark, output, table) for table in after)
    return StoredOverlay(
        links=links,
        nodes=catalog.OVERLAY_NODES.rows(spark, []) if nodes is None else nodes,
        topics=catalog.OVERLAY_TOPICS.rows(spark, []) if topics is None else topics,
        changes=changes,
        backups=backups,
    )


def packed_by(options: Options) -> list[Any]:
    """What a packed overlay can be read by: the same version of this package, with the same unit of costs."""
    return [overlay_spark.__version__, options.costs.unit]


def _committed(spark: SparkSession, inputs: Inputs, about: Mapping[str, Any], version: int) -> int | None:
    """When a version of the subscriptions was committed; None where that is forgotten."""
    if version == about["version"]:
        at: int | None = about["at"]
        return at
    told = delta.commits(spark, inputs.subscriptions, int(about["version"]) - version + delta.LOOK_BACK)
    return next((commit.at for commit in told if commit.version == version), None)
