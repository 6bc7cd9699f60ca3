"""The one place that cuts lineage: intermediate results that several jobs read are computed once."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame


def hold(frame: DataFrame) -> DataFrame:
    """Keep the frame's rows once they are computed; where Spark offers no cache (serverless), compute them anew."""
    try:
        return frame.persist(StorageLevel.MEMORY_AND_DISK)
    except PySparkException as error:
        if "NOT_SUPPORTED" in (error.getCondition() or "") or "SERVERLESS" in str(error).upper():
            return frame
        raise


class Holder:
    """Frames held during one computation, and let go together."""

    def __init__(self) -> None:
        self._held: list[DataFrame] = []

    def hold(self, frame: DataFrame) -> DataFrame:
        self._held.append(hold(frame))
        return self._held[-1]

    def adopt(self, frame: DataFrame) -> DataFrame:
        """Take over a frame that somebody else persisted."""
        self._held.append(frame)
        return frame

    def release(self) -> None:
        while self._held:
            frame = self._held.pop()
            if frame.storageLevel.useMemory or frame.storageLevel.useDisk:
                frame.unpersist()
