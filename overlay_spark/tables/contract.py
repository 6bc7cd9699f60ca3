"""A table declared once: its columns, key and rules give the schema, the CHECK constraints and the input check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FractionalType,
    IntegralType,
    StringType,
    StructType,
)

from overlay_spark.errors import InputError
from overlay_spark.tables.audit import Audit, Finding, rows


@dataclass(frozen=True)
class Rule:
    """What must hold in a row. ``sql`` is written here, never by a user; a row where it is null passes."""

    name: str
    sql: str
    says: str
    fix: str


@dataclass(frozen=True)
class Column:
    """One column: ``type`` as DDL; ``nullable`` ones may hold null, and be left out of a given table."""

    name: str
    type: str
    doc: str
    nullable: bool = False
    rules: tuple[Rule, ...] = ()

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        present = Rule(
            f"{self.name}_is_given", f"`{self.name}` IS NOT NULL", "that are null", "Fill in or remove these rows."
        )
        return self.rules if self.nullable else (present, *self.rules)


@dataclass(frozen=True)
class Table:
    """One table. ``pair`` names two key columns whose order does not matter in a given table."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    role: str = "out"
    pair: tuple[str, str] | None = None
    rules: tuple[Rule, ...] = ()

    @property
    def ddl(self) -> str:
        return ", ".join(f"`{c.name}` {c.type}{'' if c.nullable else ' NOT NULL'}" for c in self.columns)

    @property
    def schema(self) -> StructType:
        return cast(StructType, StructType.fromDDL(self.ddl))

    @property
    def constraints(self) -> dict[str, str]:
        """CHECK constraints by name; every one is true or false, never null."""
        named = {rule.name: (column, rule) for column in self.columns for rule in column.all_rules}
        checks = {
            name: f"`{column.name}` IS NULL OR ({rule.sql})" if column.nullable else rule.sql
            for name, (column, rule) in named.items()
        }
        return {**checks, **{rule.name: rule.sql for rule in self.rules}}

    def rows(self, spark: SparkSession, rows: Iterable[Sequence[Any]] = ()) -> DataFrame:
        """A small DataFrame of this table, empty by default; through Arrow, so that reading it takes no Python.

        Values of the last columns may be left out of all rows, and are null.
        """
        rows = list(rows)
        columns = list(zip(*rows, strict=True))
        columns += [(None,) * len(rows)] * (len(self.columns) - len(columns))
        types = to_arrow_schema(self.schema)
        arrays = [pa.array(c, t.type) for c, t in zip(columns, types, strict=True)]
        return spark.createDataFrame(pa.Table.from_arrays(arrays, schema=types), self.schema)

    def conform(self, given: DataFrame) -> DataFrame:
        """The given table with exactly the declared columns and types; all that is wrong with its schema in one error.

        Whole numbers are taken as ids and as fractions, columns that may be null may be left out.
        """
        faults, columns = self.schema_faults(given)
        if faults:
            raise InputError(faults)
        return given.select(*columns)

    def schema_faults(self, given: DataFrame) -> tuple[list[str], list[Expression]]:
        where = f"Table '{self.name}'"
        have = {field.name: field.dataType for field in given.schema.fields}
        wanted = {column.name: column for column in self.columns}
        faults, columns = [], []
        missing = [c.name for c in self.columns if c.name not in have and not c.nullable]
        extra = [name for name in have if name not in wanted]
        if len(have) < len(given.columns):
            doubled = sorted({name for name in given.columns if given.columns.count(name) > 1})
            faults.append(f"{where}: column names {doubled} occur more than once. Rename or drop them.")
        if missing:
            faults.append(f"{where}: columns {missing} are missing; it has {list(have)}. {self._expected()}")
        if extra:
            faults.append(f"{where}: columns {extra} are not known. Drop them, or rename them. {self._expected()}")
        for column, field in zip(self.columns, self.schema.fields, strict=True):
            if column.name not in have:
                columns.append(F.lit(None).cast(field.dataType).alias(column.name))
            elif _fits(have[column.name], field.dataType):
                columns.append(F.col(f"`{column.name}`").cast(field.dataType).alias(column.name))
            else:
                faults.append(
                    f"{where}: column '{column.name}' has type {have[column.name].simpleString()}, "
                    f"but must be {column.type}. Cast or correct it."
                )
        return faults, columns

    def _expected(self) -> str:
        return f"Expected: {', '.join(c.name + (' (optional)' if c.nullable else '') for c in self.columns)}."

    def audit(self, given: DataFrame) -> Audit:
        """What may be wrong with the values of a conforming table. Counting takes one shuffle, of keys."""
        where = f"Table '{self.name}'"
        ruled: list[tuple[Rule, Column | None]] = [(r, c) for c in self.columns for r in c.all_rules]
        ruled += [(rule, None) for rule in self.rules]
        shown = tuple(c.name for c in self.columns)
        findings = []
        for rule, column in ruled:
            what = f"{where}: column '{column.name}' has" if column else f"{where} has"
            say = partial(_say_rule, what, rule)
            findings.append(Finding(say, partial(given.where, _breaks(rule.sql)), shown))
        if self.key:
            examples = partial(self._repeated, given)
            findings.append(Finding(partial(self._say_repeated, where), examples, self.pair or self.key))
        if self.role == "in":
            findings.append(Finding(partial(self._say_empty, where)))
        broken = [F.expr(f"count_if({_breaks(rule.sql)}) AS c{i}") for i, (rule, _) in enumerate(ruled)]
        ruled_out = given.agg(*broken)
        if not self.key:
            return Audit(ruled_out, tuple(findings))
        keys, repeated, extra = self._repetition()
        by_key = given.groupBy(*keys).agg(F.count(F.lit(1)).alias("n"), *extra)
        empty = F.when(F.count(F.lit(1)) == 0, 1).otherwise(0).alias("empty")
        times = F.sum(F.when(repeated, F.col("n")).otherwise(0)).alias("repeated")
        return Audit(ruled_out.crossJoin(by_key.agg(times, *([empty] if self.role == "in" else []))), tuple(findings))

    def _repetition(self) -> tuple[list[Expression], Expression, list[Expression]]:
        """(what to group by, which groups are repeated, what else to sum up for it)."""
        if self.pair is None:
            return [F.col(f"`{k}`") for k in self.key], F.col("n") > 1, []
        a, b = (F.col(f"`{k}`") for k in self.pair)
        others = [F.col(f"`{c.name}`") for c in self.columns if c.name not in self.key]
        keys = [F.least(a, b).alias("low"), F.greatest(a, b).alias("high")]
        spread = [g(c).alias(f"{g.__name__}_{i}") for i, c in enumerate(others) for g in (F.min, F.max)]
        differ = [F.col(f"min_{i}") != F.col(f"max_{i}") for i in range(len(others))]
        forward = F.sum(F.when(a <= b, 1).otherwise(0)).alias("forward")
        repeated = (F.col("n") > 2) | ((F.col("n") == 2) & reduce(or_, differ, F.col("forward") != 1))
        return keys, repeated, [forward, *spread]

    def _repeated(self, given: DataFrame) -> DataFrame:
        keys, repeated, extra = self._repetition()
        groups = given.groupBy(*keys).agg(F.count(F.lit(1)).alias("n"), *extra).where(repeated)
        return groups.withColumnsRenamed(dict(zip(("low", "high"), self.pair, strict=True))) if self.pair else groups

    def _say_repeated(self, where: str, count: int, found: str) -> str:
        if self.pair is None:
            key = ", ".join(self.key)
            return f"{where} has {rows(count)} whose ({key}) occurs more than once (first: {found}). Keep one of each."
        return (
            f"{where} has {rows(count)} whose pair ({', '.join(self.pair)}) is given more than once (first: {found}). "
            "A pair may be given once, or once in each direction at the same cost; remove the others."
        )

    def _say_empty(self, where: str, count: int, found: str) -> str:
        return f"{where} is empty. Give at least one row ({', '.join(c.name for c in self.columns if not c.nullable)})."


def _say_rule(what: str, rule: Rule, count: int, found: str) -> str:
    return f"{what} {rows(count)} {rule.says} (first: {found}). {rule.fix}"


def _breaks(sql: str) -> str:
    return f"NOT coalesce(({sql}), true)"


def _fits(given: DataType, wanted: DataType) -> bool:
    if isinstance(wanted, StringType):
        return isinstance(given, StringType | IntegralType)
    if isinstance(wanted, DoubleType):
        return isinstance(given, IntegralType | FractionalType)
    if isinstance(wanted, IntegralType):
        return isinstance(given, IntegralType)
    if isinstance(wanted, ArrayType) and isinstance(given, ArrayType):
        return _fits(given.elementType, wanted.elementType)
    return given.simpleString() == wanted.simpleString()
