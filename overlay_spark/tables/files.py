"""Parquet and CSV files as inputs."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from overlay_spark.errors import InputError
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Reference

SEPARATORS = (";", "\t", "|")
"""What else may stand between the values of a CSV."""


def read(spark: SparkSession, table: Table, reference: Reference) -> DataFrame:
    """A file or folder of files. CSV has a header line; its values are taken by the declared types."""
    try:
        if reference.kind == "parquet":
            return spark.read.parquet(reference.place)
        return _typed(_with_header(_read_csv(spark, reference.place), table, reference), table)
    except AnalysisException as error:
        raise InputError(
            [f"{reference}: table '{table.name}' cannot be read ({error.getCondition()}). Check path and files."]
        ) from error


def _read_csv(spark: SparkSession, place: str) -> DataFrame:
    """A CSV with a header line; its separator is the comma, or whichever of the others parts the header's names."""

    def read(separator: str) -> DataFrame:
        return spark.read.csv(place, header=True, sep=separator, mode="FAILFAST", escape='"')

    found = read(",")
    if len(found.columns) == 1:
        for separator in SEPARATORS:
            if separator in found.columns[0]:
                return read(separator)
    return found


def _with_header(found: DataFrame, table: Table, reference: Reference) -> DataFrame:
    names = table.schema.names
    if not set(found.columns) & set(names):
        raise InputError(
            [
                f"{reference}: the first line, {found.columns}, names no column of table '{table.name}'. "
                f"Give a header line with the columns {names}; columns that may be null may be left out."
            ]
        )
    return found


def _typed(text: DataFrame, table: Table) -> DataFrame:
    """CSV columns as their declared types; what does not parse becomes null, which the input check reports.

    A list of numbers is written with spaces, commas or semicolons between them, in brackets or not.
    """
    declared = {field.name: field.dataType for field in table.schema.fields}
    columns = []
    for name in text.columns:
        value = F.col(f"`{name}`")
        kind = declared.get(name)
        if isinstance(kind, ArrayType):
            bare = F.regexp_replace(value, r"^[\s\[(]+|[\s\])]+$", "")
            value = F.split(bare, r"[\s,;]+")
        typed = value if kind is None or isinstance(kind, StringType) else value.try_cast(kind)
        columns.append(typed.alias(name))
    return text.select(*columns)
