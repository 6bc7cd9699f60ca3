"""Parquet and CSV files as inputs."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from overlay_spark.errors import InputError
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Reference


def read(spark: SparkSession, table: Table, reference: Reference) -> DataFrame:
    """A file or folder of files. CSV has a header line; its values are taken by the declared types."""
    try:
        if reference.kind == "parquet":
            return spark.read.parquet(reference.place)
        return _typed(spark.read.csv(reference.place, header=True, mode="FAILFAST", escape='"'), table)
    except AnalysisException as error:
        raise InputError(
            [f"{reference}: table '{table.name}' cannot be read ({error.getCondition()}). Check path and files."]
        ) from error


def _typed(text: DataFrame, table: Table) -> DataFrame:
    """CSV columns as their declared types; what does not parse becomes null, which the input check reports."""
    declared = {field.name: field.dataType for field in table.schema.fields}
    columns = []
    for name in text.columns:
        value = F.col(f"`{name}`")
        kind = declared.get(name)
        typed = value if kind is None or isinstance(kind, StringType) else value.try_cast(kind)
        columns.append(typed.alias(name))
    return text.select(*columns)
