"""The one place that cuts lineage: intermediate results that several jobs read are computed once."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame


def hold(frame: DataFrame) -> DataFrame | None:
    """Keep the frame's rows once they are computed; None where Spark offers no cache (serverless): computed anew."""
    try:
        return frame.persist(StorageLevel.MEMORY_AND_DISK)
    except PySparkException as error:
        if "NOT_SUPPORTED" in (error.getCondition() or "") or "SERVERLESS" in str(error).upper():
            return None
        raise


class Holder:
    """Frames held during one computation, and let go together."""

    def __init__(self) -> None:
        self._held: list[DataFrame] = []

    def hold(self, frame: DataFrame) -> DataFrame:
        held = hold(frame)
        if held is not None:
            self._held.append(held)
        return frame

    def adopt(self, frame: DataFrame) -> DataFrame:
        """Take over a frame that somebody else persisted."""
        self._held.append(frame)
        return frame

    def release(self) -> None:
        while self._held:
            self._held.pop().unpersist()
