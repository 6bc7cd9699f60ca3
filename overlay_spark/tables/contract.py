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
from overlay_spark.tables.audit import Audit, Finding, one_or_many, sentence


@dataclass(frozen=True)
class Rule:
    """What must hold in a row. ``sql`` is written here, never by a user; a row where it is null passes.

    ``says`` goes on after "3 rows", ``fix`` says what to do; both write ``[one|many]`` where the number matters.
    """

    name: str
    sql: str
    says: str
    fix: str


@dataclass(frozen=True)
class RowCheck:
    """A rule of one call: rows where ``bad`` is true are wrong. Examples show ``shown``, or else all columns."""

    kind: str
    column: str | None
    bad: Expression
    says: str
    fix: str
    shown: tuple[str, ...] = ()


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
        if self.nullable:
            return self.rules
        name, fix = f"{self.name}_is_given", "Fill in or remove [this row|these rows]."
        return (Rule(name, f"`{self.name}` IS NOT NULL", "that [is|are] null", fix), *self.rules)


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
        """What is wrong with the given columns; and, where nothing is, the columns as declared."""
        where = f"Table '{self.name}'"
        have = {field.name: field.dataType for field in given.schema.fields}
        wanted = {column.name: column for column in self.columns}
        faults, columns = [], []
        missing = [c.name for c in self.columns if c.name not in have and not c.nullable]
        extra = [name for name in have if name not in wanted]
        doubled = sorted({name for name in given.columns if given.columns.count(name) > 1})
        if doubled:
            faults.append(f"{where}: {_say_columns(doubled, 'occur[s|] more than once. Rename or drop [it|them].')}")
        if missing:
            faults.append(
                f"{where}: {_say_columns(missing, '[is|are] missing')}; it has {list(have)}. {self._expected()}"
            )
        if extra:
            says = "[is|are] not known. Drop or rename [it|them]."
            faults.append(f"{where}: {_say_columns(extra, says)} {self._expected()}")
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

    def audit(self, given: DataFrame, also: Sequence[RowCheck] = ()) -> Audit:
        """What may be wrong with the values of a conforming table; the fact of the table's name is its number of rows.

        Two scans and one shuffle, of hashes of keys: keys are compared where hashes are equal, in a job of its own.
        """
        checks = [*self._row_checks(), *also]
        findings = [self._finding(check, given) for check in checks]
        broken = given.agg(*[F.count(F.when(check.bad, 1)) for check in checks])
        groups, n_rows, totals = given, F.count(F.lit(1)), []
        if self.key:
            hashed, repeated, extra = self._repetition()
            groups = given.groupBy(F.xxhash64(*hashed)).agg(F.count(F.lit(1)).alias("n"), *extra)
            n_rows, totals = F.sum("n"), [F.sum(F.when(repeated, F.col("n")))]
            findings.append(self._repeated_finding(given))
        if self.role == "in":
            totals.append(F.when(F.count(F.lit(1)) == 0, 1))
            findings.append(Finding("table_is_not_empty", self._say_empty))
        return Audit((broken, groups.agg(*totals, n_rows)), tuple(findings), (self.name,))

    def is_broken(self, also: Sequence[RowCheck] = ()) -> Expression:
        """Whether a row of a conforming table breaks any rule."""
        return reduce(or_, [F.coalesce(check.bad, F.lit(False)) for check in [*self._row_checks(), *also]])

    def _row_checks(self) -> list[RowCheck]:
        rules = [(rule, column.name) for column in self.columns for rule in column.all_rules]
        ruled = [*rules, *[(rule, None) for rule in self.rules]]
        return [RowCheck(rule.name, column, F.expr(_breaks(rule.sql)), rule.says, rule.fix) for rule, column in ruled]

    def _finding(self, check: RowCheck, given: DataFrame) -> Finding:
        where = f"Table '{self.name}': column '{check.column}' has" if check.column else f"Table '{self.name}' has"
        say = sentence(where, f"row[|s] {check.says}", check.fix)
        return Finding(check.kind, say, partial(given.where, check.bad), check.shown or tuple(self.schema.names))

    def _repetition(self) -> tuple[list[Expression], Expression, list[Expression]]:
        """(what to group by, which groups of ``n`` rows are repeated, what else to sum up for it)."""
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

    def _repeated_finding(self, given: DataFrame) -> Finding:
        keys, repeated, extra = self._repetition()
        groups = given.groupBy(*keys).agg(F.count(F.lit(1)).alias("n"), *extra).where(repeated)
        where, names = f"Table '{self.name}' has", ", ".join(self.key)
        if self.pair is None:
            kind, says, fix = "key_is_unique", f"whose ({names}) occurs more than once", "Keep one of each."
        else:
            groups = groups.withColumnsRenamed(dict(zip(("low", "high"), self.pair, strict=True)))
            kind, says = "pair_is_unique", f"whose pair ({names}) is given more than once"
            fix = "A pair may be given once, or once in each direction at the same cost; remove the others."

        def recount() -> int:
            return int(groups.agg(F.coalesce(F.sum("n"), F.lit(0))).collect()[0][0])

        return Finding(kind, sentence(where, f"row[|s] {says}", fix), lambda: groups, self.pair or self.key, recount)

    def _say_empty(self, count: int, found: str) -> str:
        needed = ", ".join(c.name for c in self.columns if not c.nullable)
        return f"Table '{self.name}' is empty. Give at least one row ({needed})."


def _say_columns(names: Sequence[str], what: str) -> str:
    quoted = ", ".join(repr(name) for name in names)
    return f"{one_or_many('column[|s]', len(names))} {quoted} {one_or_many(what, len(names))}"


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
