"""Delta tables in and out: the only place that knows Delta.

A table is created by its first write: data, comments, CHECK constraints and metadata are one commit, so that a reader
never sees a version that is empty or unchecked.

A table that an earlier version wrote may lack columns. The next write adds them in its own commit; rows that stay are
null there, even where the column is declared as given. Delta takes constraints only when it creates a table, so those
of added columns are absent from it. A table with any other columns is refused.

Tables are asked by plain SQL and DataFrames only, so that Spark Connect needs no plugin of Delta's on the server.
"""

from __future__ import annotations

import json
import posixpath
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from overlay_spark.errors import InputError
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables.audit import counted
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Reference

NOT_THERE = ("PATH_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST", "DELTA_MISSING_DELTA_TABLE")
CONFLICT = re.compile(r"DELTA_(CONCURRENT_\w+|METADATA_CHANGED|PROTOCOL_CHANGED)|(Concurrent\w*|\w+Changed)Exception")
"""How Delta says that another commit was quicker."""
THERE = re.compile(r"DELTA_PATH_EXISTS|DELTA_TABLE_ALREADY_EXISTS")
"""How Delta says that there is a table where one was to be created."""
TIDYING = re.compile(
    "OPTIMIZE|VACUUM|REORG|CLUSTER|ANALYZE|COMPUTE STATS|UPGRADE PROTOCOL|(UN)?SET TBLPROPERTIES|(ADD|DROP) CONSTRAINT"
)
"""Operations that leave all rows as they are."""
TRIES = 10
FENCE = "overlay_spark"
"""The name under which Delta remembers the generation of a table."""
LOOK_BACK = 50
"""How many commits back ours is looked for."""
_folders: WeakKeyDictionary[SparkSession, dict[str, str]] = WeakKeyDictionary()
"""Where each session found tables at relative paths, which takes a job."""


def read(spark: SparkSession, reference: Reference, version: int | None = None) -> DataFrame:
    """A table as it is, or as it was at a version."""
    reader = spark.read
    if version is not None:
        reader = reader.option("versionAsOf", version)
    if reference.kind == "table":
        return reader.table(reference.place)
    return reader.format("delta").load(reference.place)


class Commit(NamedTuple):
    """One version of a table, what its commit says of itself (``userMetadata``), what Delta says that it did, and when:
    in milliseconds since 1970."""

    version: int
    metadata: dict[str, Any]
    operation: str = ""
    at: int = 0

    @property
    def is_of_rows(self) -> bool:
        """Whether it may have changed any; not if it only tidied files up, or told something of the table."""
        return not TIDYING.match(self.operation)


def commits(spark: SparkSession, reference: Reference, most: int = LOOK_BACK) -> list[Commit]:
    """The newest commits of a table, newest first; none for a catalog table of another format."""
    found = commits_if_any(spark, reference, most)
    if found is None:
        raise InputError([f"{reference}: there is no Delta table here. Check the path or name."])
    return found


def commits_if_any(spark: SparkSession, reference: Reference, most: int = LOOK_BACK) -> list[Commit] | None:
    """As :func:`commits`, but None where there is no table."""
    if not exists(spark, reference):
        return None
    try:
        told = spark.sql(f"DESCRIBE HISTORY {identifier(spark, reference)} LIMIT {most:d}").select(
            "version", "userMetadata", "operation", F.unix_millis("timestamp")
        )
        return [Commit(int(row[0]), _metadata(row[1]), row[2] or "", int(row[3])) for row in told.collect()]
    except PySparkException as error:
        if reference.kind == "table" and "DELTA" in (error.getCondition() or ""):
            return []
        raise


def _metadata(text: str | None) -> dict[str, Any]:
    """What a commit says of itself; others may have written what is no JSON of ours."""
    try:
        told = json.loads(text or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def version_of(spark: SparkSession, reference: Reference, run_id: str) -> int | None:
    """The version that a run committed last; None where it is not among the newest."""
    return next((c.version for c in commits(spark, reference) if c.metadata.get("run_id") == run_id), None)


def latest_version(spark: SparkSession, reference: Reference) -> int | None:
    """The newest version of a Delta table; None for a catalog table of another format."""
    found = commits(spark, reference, 1)
    return found[0].version if found else None


def exists(spark: SparkSession, reference: Reference) -> bool:
    """Whether there is such a table; at a path, a Delta table."""
    if reference.kind == "table":
        return spark.catalog.tableExists(reference.place)
    return bool(_stored_columns(spark, reference))


def _stored_columns(spark: SparkSession, reference: Reference) -> list[StructField]:
    """The columns of a table; none where there is no such table."""
    if reference.kind == "table" and not spark.catalog.tableExists(reference.place):
        return []
    try:
        return read(spark, reference).schema.fields
    except PySparkException as error:
        if error.getCondition() in NOT_THERE:
            return []
        raise


def look_ahead(spark: SparkSession, reference: Reference) -> None:
    """Have the log of a table read that will be written: its files are listed, which a write does first."""
    read(spark, reference).inputFiles()


def identifier(spark: SparkSession, reference: Reference) -> str:
    """The table as SQL names it: a catalog's name is quoted already, and a path cannot leave its quotes."""
    if reference.kind == "table":
        return reference.place
    path = _absolute(spark, reference).replace("`", "``")
    return f"delta.`{path}`"


def _absolute(spark: SparkSession, reference: Reference) -> str:
    """The path of a table that is there, as SQL takes it. A relative one is where this session finds it."""
    path = reference.place
    if path.startswith("/") or re.match(r"[A-Za-z][\w+.-]*:", path):
        return path
    known = _folders.setdefault(spark, {})
    if path not in known and (found := _told_by_files(spark, reference)):
        known[path] = found
    return known.get(path, str(Path(path).absolute()))


def _told_by_files(spark: SparkSession, reference: Reference) -> str | None:
    """The folder of a table at a relative path, from the names of its files; None where it has none."""
    files = read(spark, reference).inputFiles()
    named = "/".join(part for part in posixpath.normpath(reference.place).split("/") if part not in (".", ".."))
    if not files or not named:
        return None
    for file in (files[0], unquote(files[0])):  # a file's name comes as in an URL, or as it is
        folder, found, _ = file.rpartition(f"/{named}/")
        if found:
            return f"{folder}/{named}"
    return None


def require_own_columns(spark: SparkSession, places: Mapping[Table, Reference]) -> frozenset[str]:
    """Refuse stored tables with columns that are not declared, or of another type; a table may lack some, or not exist.
    Gives back the names of those that do not.

    Every write asks this of its own table; asked of all tables beforehand, it keeps a job from writing only a few.
    """
    faults = []
    found = side_by_side([partial(_stored_columns, spark, reference) for reference in places.values()])
    for (table, reference), stored in zip(places.items(), found, strict=True):
        declared = {field.name: field.dataType.simpleString() for field in table.schema.fields}
        types = {c.name: c.dataType.simpleString() for c in stored}
        others = [f"{name} {type}" for name, type in types.items() if declared.get(name) != type]
        if others:
            columns = f"{counted(len(others), 'column[|s]')} that this version does not write ({', '.join(others)})"
            faults.append(f"{reference}: table '{table.name}' has {columns}. Give another output folder or schema.")
    if faults:
        raise InputError(faults)
    return frozenset(table.name for table, stored in zip(places, found, strict=True) if not stored)


def overwrite(
    table: Table,
    frame: DataFrame,
    reference: Reference,
    metadata: Mapping[str, Any],
    generation: int | None = None,
    is_new: bool = False,
) -> None:
    """Replace all rows in one commit, and the columns by those declared; create the table if there is none.

    With a ``generation``, only where no commit of this generation or a later one was made before, whoever is quicker:
    Delta itself remembers the last one, in the commit. :func:`version_of` tells whether anything was written.

    A table ``is_new`` that was not there when it was looked for: it is created without another look, and where one is
    there by now after all, nothing is done to it but what is done to any other.
    """
    _save(table, frame, reference, metadata, "overwrite", {"overwriteSchema": True, **_fence(generation)}, is_new)


def _fence(generation: int | None) -> dict[str, Any]:
    """By which Delta takes no second commit of a generation. Such a commit is made even where no row changes."""
    return {} if generation is None else {"txnAppId": FENCE, "txnVersion": generation}


def append(
    table: Table, frame: DataFrame, reference: Reference, metadata: Mapping[str, Any], is_new: bool = False
) -> None:
    """Add rows in one commit, and columns that the table lacks at its end; create the table if there is none: in a
    catalog by a commit that says nothing of itself.

    ``is_new`` as for :func:`overwrite`.
    """
    _save(table, frame, reference, metadata, "append", {"mergeSchema": True}, is_new)


def replace_run(
    table: Table,
    frame: DataFrame,
    reference: Reference,
    run_id: str,
    metadata: Mapping[str, Any],
    generation: int | None = None,
) -> None:
    """Put rows in the place of those of a run, in one commit; with a ``generation``, as :func:`overwrite`. Without one,
    Delta may leave out a commit that changes no row."""
    if not re.fullmatch(r"[\w-]+", run_id):  # it becomes SQL text
        raise ValueError(f"{run_id!r} is not the id of a run")
    options = {"replaceWhere": f"run_id = '{run_id}'", **_fence(generation)}
    _save(table, frame, reference, metadata, "overwrite", options)


def _save(
    table: Table,
    frame: DataFrame,
    reference: Reference,
    metadata: Mapping[str, Any],
    mode: str,
    options: Mapping[str, Any],
    is_new: bool = False,
) -> None:
    columns = [F.col(c.name).alias(c.name, metadata={"comment": c.doc}) for c in table.columns]
    writer = frame.select(*columns).write.format("delta").options(**options)
    writer = writer.option("userMetadata", json.dumps(dict(metadata), sort_keys=True))
    writer = writer.option("comment", table.doc)  # kept by catalogs; a folder has no place for it
    if table.role == "in":
        writer = writer.option("delta.enableChangeDataFeed", "true")  # what an overlay is refreshed by
    for name, sql in table.constraints.items():
        writer = writer.option(f"delta.constraints.{name}", sql)
    if is_new and _is_created(writer, reference):
        return
    require_own_columns(frame.sparkSession, {table: reference})
    writer = writer.mode(mode)
    tried(lambda: writer.saveAsTable(reference.place) if reference.kind == "table" else writer.save(reference.place))


def tried(commit: Callable[[], Any]) -> None:
    """Commit, again and again while others commit at the same moment."""
    for left in reversed(range(TRIES)):
        try:
            commit()
            return
        except Exception as error:  # Spark's or py4j's, by the kind of session
            if not left or not CONFLICT.search(str(error)):
                raise
            time.sleep(0.1)  # a conflict is over as soon as the other commit is there


def _is_created(writer: DataFrameWriter, reference: Reference) -> bool:
    """Whether the table was created: not where another was quicker. A catalog is asked in no time, so left to others.

    A look at a folder that holds no table takes ten times as long as one at a table.
    """
    if reference.kind == "table":
        return False
    try:
        writer.mode("error").save(reference.place)
    except Exception as error:  # Spark's or py4j's, by the kind of session
        if not THERE.search(str(error)) and not CONFLICT.search(str(error)):
            raise
        return False
    return True
