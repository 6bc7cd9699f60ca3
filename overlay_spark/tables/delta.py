"""Delta tables in and out: the only place that knows Delta.

A table is created by its first write: data, CHECK constraints and metadata are one commit, so that a reader never
sees a version that is empty or unchecked. Later writes replace all rows in one commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from overlay_spark.errors import InputError
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Reference


def read(spark: SparkSession, reference: Reference, version: int | None = None) -> DataFrame:
    """A table as it is, or as it was at a version."""
    reader = spark.read
    if version is not None:
        reader = reader.option("versionAsOf", version)
    if reference.kind == "table":
        return reader.table(reference.place)
    return reader.format("delta").load(reference.place)


def latest_version(spark: SparkSession, reference: Reference) -> int | None:
    """The newest version of a Delta table; None for a catalog table of another format."""
    if not exists(spark, reference):
        raise InputError([f"{reference}: there is no Delta table here. Check the path or name."])
    try:
        row = _handle(spark, reference).history(1).select("version").first()
    except PySparkException as error:
        if reference.kind == "table" and "DELTA" in (error.getCondition() or ""):
            return None
        raise
    return None if row is None else int(row["version"])


def commit_metadata(spark: SparkSession, reference: Reference) -> dict[str, Any]:
    """What the newest commit says of itself (``userMetadata``)."""
    row = _handle(spark, reference).history(1).select("userMetadata").first()
    return json.loads(row[0]) if row is not None and row[0] else {}


def exists(spark: SparkSession, reference: Reference) -> bool:
    if reference.kind == "table":
        return spark.catalog.tableExists(reference.place)
    return DeltaTable.isDeltaTable(spark, reference.place)


def overwrite(table: Table, frame: DataFrame, reference: Reference, metadata: Mapping[str, Any]) -> None:
    """Replace all rows in one commit; create the table with its constraints if there is none."""
    _save(table, frame, reference, metadata, "overwrite")


def append(table: Table, frame: DataFrame, reference: Reference, metadata: Mapping[str, Any]) -> None:
    """Add rows in one commit; create the table with its constraints if there is none."""
    _save(table, frame, reference, metadata, "append")


def _save(table: Table, frame: DataFrame, reference: Reference, metadata: Mapping[str, Any], mode: str) -> None:
    writer: DataFrameWriter = (
        frame.select(*[c.name for c in table.columns])
        .write.format("delta")
        .mode(mode)
        .option("userMetadata", json.dumps(dict(metadata), sort_keys=True))
    )
    for name, sql in table.constraints.items():
        writer = writer.option(f"delta.constraints.{name}", sql)
    if reference.kind == "table":
        writer.saveAsTable(reference.place)
    else:
        writer.save(reference.place)


def _handle(spark: SparkSession, reference: Reference) -> DeltaTable:
    if reference.kind == "table":
        return DeltaTable.forName(spark, reference.place)
    return DeltaTable.forPath(spark, reference.place)
