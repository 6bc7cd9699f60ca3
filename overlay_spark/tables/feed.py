"""Changes of a Delta table: those that others made, by its change data feed; and ours, all in one commit."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from overlay_spark.errors import FeedError
from overlay_spark.tables import delta
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Reference

CHANGE = "change"
"""1 for a key that came, -1 for one that went."""
CAME, WENT = ("insert", "update_postimage"), ("delete", "update_preimage")
UNREADABLE = re.compile(r"\[(DELTA_|FAILED_READ_FILE\.FILE_NOT_EXIST|PATH_NOT_FOUND)|FileNotFound|VersionNotFound")
"""How Spark says that a part of the feed is not there (any more)."""
REASON = re.compile(r"\[(?:DELTA_|FAILED_READ_FILE|PATH_NOT_FOUND)[A-Z_.]*\] .*?\.(?= |$)")
"""The sentence that says what is not there, in what may be pages."""
ACTION = "action"


def net_changes(spark: SparkSession, table: Table, reference: Reference, after: int, upto: int) -> DataFrame:
    """(key columns, change): the keys that came or went between two versions, each once. One shuffle, by key.

    Whatever happened to a key in between, and in whatever order rows are told: what came less what went is all there is
    to it. Reading may find a hole only when it happens: :func:`holes_told` turns that into a :class:`FeedError` too.
    """
    reader = spark.read.option("readChangeFeed", "true").option("startingVersion", after + 1)
    reader = reader.option("endingVersion", upto)
    with holes_told(table.name):
        feed = reader.table(reference.place) if reference.kind == "table" else _at(reader, reference)
        keys = [F.col(f"`{name}`").cast("string").alias(name) for name in table.key]
        kind = F.col("_change_type")
        signed = F.when(kind.isin(*CAME), 1).when(kind.isin(*WENT), -1)
        told = feed.select(*keys, signed.alias(CHANGE))
        return told.groupBy(*table.key).agg(F.sum(CHANGE).cast("int").alias(CHANGE)).where(f"{CHANGE} <> 0")


def _at(reader: Any, reference: Reference) -> DataFrame:
    found: DataFrame = reader.format("delta").load(reference.place)
    return found


@contextmanager
def holes_told(table: str) -> Iterator[None]:
    """A change data feed that cannot be read is a :class:`FeedError`, with the sentence of Spark's that says why."""
    try:
        yield
    except FeedError:
        raise
    except Exception as error:  # Spark's or py4j's, by the kind of session
        text = " ".join(str(error).split())
        if not UNREADABLE.search(text):
            raise
        told = REASON.search(text)
        raise FeedError(
            f"The change data feed of table '{table}' has a hole: {told[0] if told else f'{text[:200]}.'} Keep "
            "delta.enableChangeDataFeed on, and history for longer than refreshes are apart."
        ) from error


def merge(
    table: Table,
    changes: DataFrame,
    reference: Reference,
    metadata: Mapping[str, Any],
    generation: int | None = None,
    updated: Sequence[str] = (),
) -> None:
    """Add, remove and update rows in one commit, which says of itself what ``metadata`` does.

    ``changes`` has the columns of the table and ``action``: add, remove or update, by key; of rows to update the
    ``updated`` columns are. With a ``generation``, only where no commit of this one or a later was made before, as with
    :func:`overlay_spark.tables.delta.overwrite`.
    """
    spark, names = changes.sparkSession, table.schema.names
    same = " AND ".join(f"t.`{key}` = c.`{key}`" for key in table.key)
    assigned = ", ".join(f"t.`{name}` = c.`{name}`" for name in updated)
    columns, values = (", ".join(f"{prefix}`{name}`" for name in names) for prefix in ("", "c."))
    place = delta.identifier(spark, reference).replace("{", "{{").replace("}", "}}")
    clauses = (
        f"MERGE INTO {place} AS t USING {{changes}} AS c ON {same}",
        f"WHEN MATCHED AND c.`{ACTION}` = 'remove' THEN DELETE",
        f"WHEN MATCHED AND c.`{ACTION}` = 'update' THEN UPDATE SET {assigned}" if updated else "",
        " ".join(
            [f"WHEN NOT MATCHED AND c.`{ACTION}` = 'add'", "THEN INSERT", f"({columns})", "VALUES", f"({values})"]
        ),
    )
    told = {
        "spark.databricks.delta.commitInfo.userMetadata": json.dumps(dict(metadata), sort_keys=True),
        "spark.databricks.delta.merge.materializeSource": "none",  # changes are settled already
    }
    if generation is not None:
        fence = "spark.databricks.delta.write.txn"
        told |= {f"{fence}AppId": delta.FENCE, f"{fence}Version": str(generation)}
    with _said(spark, told):
        delta.tried(lambda: spark.sql(" ".join(clauses), changes=changes).collect())


@contextmanager
def _said(spark: SparkSession, told: Mapping[str, str]) -> Iterator[None]:
    """For so long what a statement's commit says of itself: SQL takes it from the session's settings only.

    Threads that share a session take turns. Other writes of theirs must give their own options, or wait.
    """
    with _ONE_AT_A_TIME:
        before = {name: spark.conf.get(name, None) for name in told}
        try:
            for name, value in told.items():
                spark.conf.set(name, value)
            yield
        finally:
            for name, former in before.items():
                spark.conf.unset(name) if former is None else spark.conf.set(name, former)


_ONE_AT_A_TIME = threading.Lock()
