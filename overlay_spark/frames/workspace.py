"""The one place that cuts lineage: rows that several jobs read are computed once, and the same for all of them.

``hold`` keeps rows in the session's cache, as long as it has room. ``settle`` cuts: what it gives back never looks at
the inputs again, so that what is proved, measured, written and handed out is one set of rows.
"""

from __future__ import annotations

import re
from types import TracebackType
from typing import Self

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from overlay_spark.errors import GuardError
from overlay_spark.options import WorkspaceOptions
from overlay_spark.tables.staging import Staging


def is_refused(error: PySparkException) -> bool:
    """Whether the session offers no such thing (serverless Spark has neither cache nor checkpoints)."""
    return "NOT_SUPPORTED" in (error.getCondition() or "") or "SERVERLESS" in str(error).upper()


def copies(spark: SparkSession) -> StorageLevel:
    """How a checkpoint's rows are kept: twice, so that they survive the death of an executor, where there are several.

    Rows of a local checkpoint cannot be computed again, and a second copy of results costs next to nothing.
    """
    try:
        master = spark.conf.get("spark.master", "") or ""
    except PySparkException:  # a serverless session shows its own settings only
        master = ""
    return StorageLevel.MEMORY_AND_DISK if re.match(r"local(\[|$)", master) else StorageLevel.MEMORY_AND_DISK_2


ROWS_A_PART = 50_000
LEAST_PARTS = 2


def parts_of(rows: int) -> int:
    """How many partitions so many rows are worth."""
    return max(LEAST_PARTS, -(-rows // ROWS_A_PART))


class Workspace:
    """Frames kept during one computation, and let go together.

    Once it is told how many rows there are, what it keeps has no more partitions than they are worth: a session's
    default of 200 would make every later scan 200 tasks, and neither cache nor checkpoint is spared it otherwise.
    """

    def __init__(self, spark: SparkSession, options: WorkspaceOptions):
        self._spark, self._most_rows = spark, options.handover_rows
        self._held: list[DataFrame] = []
        self._parts: int | None = None
        self._checkpoints, self._level = True, copies(spark)
        self._staging = None if options.staging is None else Staging(spark, options.staging)

    def expect(self, rows: int) -> None:
        """Tell how many rows the problem has."""
        self._parts = parts_of(rows)

    def _parted(self, frame: DataFrame, rows: int | None = None) -> DataFrame:
        parts = self._parts if rows is None else parts_of(rows)
        return frame if parts is None else frame.coalesce(parts)

    def hold(self, frame: DataFrame) -> DataFrame:
        """Keep the rows of what is given back once they are computed; where there is no cache, when needed."""
        frame = self._parted(frame)
        try:
            self._held.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        except PySparkException as error:
            if not is_refused(error):
                raise
        return frame

    def settle(self, frame: DataFrame, rows: int | None = None) -> DataFrame:
        """Compute the rows now, once and for all. One job. ``rows`` says about how many, where they are not as many as
        the problem has.

        By a local checkpoint; where there is none in a staged table; where there is no folder for one, by way of the
        driver, up to ``workspace.handover_rows`` rows.
        """
        frame = self._parted(frame, rows)
        if self._checkpoints:
            try:
                return frame.localCheckpoint(eager=True, storageLevel=self._level)
            except PySparkException as error:
                if not is_refused(error):
                    raise
                self._checkpoints = False
        if self._staging is not None:
            return self._staging.write(frame)
        return self._handed_over(frame)

    def _handed_over(self, frame: DataFrame) -> DataFrame:
        rows = frame.limit(self._most_rows + 1).toArrow()
        if rows.num_rows > self._most_rows:
            raise GuardError(
                f"This Spark session offers neither cache nor checkpoints, and more than {self._most_rows:,} rows "
                "(workspace.handover_rows) would have to pass through the driver. Set workspace.staging to a folder "
                "that the session can write."
            )
        return self._spark.createDataFrame(rows, frame.schema)

    def drop(self, frame: DataFrame) -> None:
        """Let go a frame that is held or staged, before all others; a checkpoint goes with its last user."""
        if any(held is frame for held in self._held):
            self._held = [held for held in self._held if held is not frame]
            frame.unpersist()
        elif self._staging is not None:
            self._staging.drop(frame)

    def close(self) -> None:
        """Let go all that is held or staged; what was settled by a checkpoint goes with its last user."""
        while self._held:
            self._held.pop().unpersist()
        if self._staging is not None:
            self._staging.clear()

    def __enter__(self) -> Self:
        """For the length of a computation whose result keeps the workspace: only an error closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.close()
