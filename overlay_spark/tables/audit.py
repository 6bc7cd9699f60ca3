"""Count everything that may be wrong in one job; look for examples only of what is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from overlay_spark.errors import InputError

EXAMPLES = 3
"""How many examples a message names."""

LONGEST_VALUE = 40
"""Longer values are cut in messages."""


@dataclass(frozen=True)
class Finding:
    """One thing that may be wrong: how it is said, given the count and the examples, and where examples are found."""

    say: Callable[[int, str], str]
    examples: Callable[[], DataFrame] | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """Findings and a DataFrame of one row with a count for each, in the same order."""

    counts: DataFrame
    findings: tuple[Finding, ...]


def faults_of(first: Sequence[Audit], then: Sequence[Audit] = ()) -> list[str]:
    """One sentence for each finding whose count is not 0; those of ``then`` only where ``first`` found nothing.

    One job for all counts, and one small job for the examples of each fault.
    """
    audits = [*first, *then]
    counts = [_as_array(audit.counts).withColumn("audit", F.lit(i)) for i, audit in enumerate(audits)]
    counted = {row["audit"]: row["counts"] for row in _read_all(reduce(DataFrame.union, counts))}
    found = [_sentences(audit, counted[i]) for i, audit in enumerate(first)]
    if not any(found):
        found = [_sentences(audit, counted[len(first) + i]) for i, audit in enumerate(then)]
    return [sentence for sentences in found for sentence in sentences]


def _read_all(counts: DataFrame) -> list[Row]:
    """Collect a row an audit. This is the first look into the files, so it is here that bad ones show."""
    try:
        return counts.collect()
    except Exception as error:  # Spark's or py4j's, by the kind of session
        told = re.findall(r"\[(?:FAILED_READ_FILE|MALFORMED_RECORD_IN_PARSING)[^\n]*", str(error))
        if not told:
            raise
        why = " ".join(dict.fromkeys(told))
        raise InputError([f"An input file cannot be read: {why} Correct or replace this file."]) from error


def _as_array(counts: DataFrame) -> DataFrame:
    names = [f"c{i}" for i in range(len(counts.columns))]
    known = ", ".join(f"coalesce({name}, 0)" for name in names)
    return counts.toDF(*names).select(F.expr(f"transform(array({known}), n -> bigint(n)) AS counts"))


def _sentences(audit: Audit, counts: Sequence[int]) -> list[str]:
    return [
        finding.say(count, show(finding.examples(), finding.shown) if finding.examples else "")
        for finding, count in zip(audit.findings, counts, strict=True)
        if count
    ]


def rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def show(found: DataFrame, columns: Sequence[str]) -> str:
    """The least few rows as ``a='x', b=1.0; ...``: cut to a readable length, and bytes that are not UTF-8 as hex."""
    types = {field.name: field.dataType for field in found.schema.fields}
    parts = []
    for name in columns:
        value = F.col(f"`{name}`")
        if isinstance(types[name], StringType):
            text, bytes_ = F.substring(value, 1, LONGEST_VALUE + 1), F.substring(F.hex(value), 1, LONGEST_VALUE)
            value = F.when(F.is_valid_utf8(value), text).otherwise(F.concat(F.lit("0x"), bytes_))
        parts.append(value.alias(name))
    least = found.select(*parts).distinct().orderBy(*columns).limit(EXAMPLES).collect()
    return "; ".join(", ".join(f"{name}={_brief(row[name])}" for name in columns) for row in least)


def _brief(value: Any) -> str:
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return repr(value[:LONGEST_VALUE]) + "..."
    return repr(value)
