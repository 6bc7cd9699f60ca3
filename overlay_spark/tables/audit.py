"""Count everything that may be wrong in one job; look for examples only of what is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import itemgetter
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from overlay_spark.errors import InputError

EXAMPLES = 3
"""How many examples a message names."""

LONGEST_VALUE = 40
"""Longer values are cut in messages."""

Say = Callable[[int, str], str]
"""From how many and the first of them to a sentence."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: the name of its finding, and a sentence."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """One thing that may be wrong: its name, its sentence, and where examples are found.

    Where a count only raises a suspicion, ``recount`` counts exactly, in a job of its own; 0 clears it.
    """

    kind: str
    say: Say
    examples: Callable[[], DataFrame] | None = None
    shown: tuple[str, ...] = ()
    recount: Callable[[], int] | None = None


@dataclass(frozen=True)
class Audit:
    """Findings, facts, and frames of one row whose columns together count each finding, then each fact."""

    counts: tuple[DataFrame, ...]
    findings: tuple[Finding, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What audits found: faults, and how much there is, by the names of the facts."""

    faults: tuple[Fault, ...]
    facts: Mapping[str, int]


def faults_of(first: Sequence[Audit], then: Sequence[Audit] = ()) -> list[Fault]:
    """The faults that :func:`report` finds."""
    return list(report(first, then).faults)


def report(first: Sequence[Audit], then: Sequence[Audit] = ()) -> Report:
    """One fault for each finding whose count is not 0; those of ``then`` only where ``first`` found nothing.

    One job for all counts, and one or two small jobs for each fault: its examples, and its recount where it has one.
    """
    audits = [*first, *then]
    looked = list(zip(audits, _counts(audits), strict=True))
    faults = [fault for audit, counts in looked[: len(first)] for fault in _faults(audit, counts)]
    if not faults:
        faults = [fault for audit, counts in looked[len(first) :] for fault in _faults(audit, counts)]
    facts = {
        name: count
        for audit, counts in looked
        for name, count in zip(audit.facts, counts[len(audit.findings) :], strict=True)
    }
    return Report(tuple(faults), facts)


def counted(count: int, what: str) -> str:
    """``what`` for this many: of ``"row[|s] that [is|are] null"``, 1 gives "1 row that is null"."""
    return f"{count} {one_or_many(what, count)}"


def one_or_many(text: str, count: int) -> str:
    """The text with the left of each ``[one|many]`` where the count is 1, else the right."""
    return re.sub(r"\[([^\[|\]]*)\|([^\[|\]]*)\]", r"\1" if count == 1 else r"\2", text)


def sentence(where: str, what: str, fix: str = "") -> Say:
    """The pattern of messages: where, what is wrong and how often, the first of it, what to do.

    ``what`` and ``fix`` say ``[one|many]`` where the count matters.
    """

    def say(count: int, found: str) -> str:
        return f"{where} {counted(count, what)} (first: {found}). {one_or_many(fix, count)}".rstrip()

    return say


def rows_of(frames: Sequence[DataFrame]) -> int:
    """How many rows the frames have together. One job."""
    return sum(row["n"] for row in _looked([frame.agg(F.count(F.lit(1)).alias("n")) for frame in frames]))


def _counts(audits: Sequence[Audit]) -> list[list[int]]:
    """The counts of each audit."""
    frames = [frame for audit in audits for frame in audit.counts]
    if not frames:
        return [[] for _ in audits]
    numbered = [_as_array(frame).withColumn("frame", F.lit(i)) for i, frame in enumerate(frames)]
    by_frame = iter([row["counts"] for row in sorted(_looked(numbered), key=itemgetter("frame"))])
    return [[count for _ in audit.counts for count in next(by_frame)] for audit in audits]


def _looked(counts: Sequence[DataFrame]) -> list[Row]:
    """All rows, in one job."""
    with unreadable_files_told():
        return reduce(DataFrame.union, counts).collect()


@contextmanager
def unreadable_files_told() -> Iterator[None]:
    """Where a file cannot be read, one sentence."""
    try:
        yield
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


def _faults(audit: Audit, counts: Sequence[int]) -> list[Fault]:
    faults = []
    for finding, suspected in zip(audit.findings, counts, strict=False):  # facts follow
        count = finding.recount() if suspected and finding.recount else suspected
        if count:
            found = show(finding.examples(), finding.shown) if finding.examples else ""
            faults.append(Fault(finding.kind, finding.say(count, found)))
    return faults


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
    return "; ".join(", ".join(f"{name}={brief(row[name])}" for name in columns) for row in least)


def brief(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:LONGEST_VALUE]) + ("..." if len(value) > LONGEST_VALUE else "")
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "..."
