"""Rows that wait between jobs as files of their own, for sessions without cache or checkpoints."""

from __future__ import annotations

import itertools
import shutil
import uuid
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


class Staging:
    """Staged rows of one run, as Parquet below a folder; :meth:`clear` takes them away."""

    def __init__(self, spark: SparkSession, folder: str):
        self._spark, self._folder = spark, f"{folder.rstrip('/')}/staged-{uuid.uuid4().hex}"
        self._written: dict[str, StructType] = {}
        self._frames: dict[str, DataFrame] = {}
        self._numbers = itertools.count()  # frames may be staged side by side

    def write(self, frame: DataFrame) -> DataFrame:
        """The frame's rows as they are now, read back from where they are staged. One job."""
        place = f"{self._folder}/{next(self._numbers)}"
        self._written[place] = frame.schema  # before anything is there: a write may fail halfway
        frame.write.parquet(place)
        staged = self._spark.read.schema(frame.schema).parquet(place)
        self._frames[place] = staged
        return staged

    def drop(self, frame: DataFrame) -> None:
        """Delete the rows of a frame that was given back, before all others."""
        for place in [place for place, staged in self._frames.items() if staged is frame]:
            self._delete(place, self._written.pop(place))
            del self._frames[place]

    def clear(self) -> None:
        """Delete what was staged; in a store that this machine does not mount, empty files stay."""
        for place, schema in self._written.items():
            self._delete(place, schema)
        self._written.clear()
        self._frames.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _delete(self, place: str, schema: StructType) -> None:
        if Path(self._folder).is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            self._spark.createDataFrame([], schema).write.mode("overwrite").parquet(place)
