"""Every table: its rules are true or false, and its words are for one and for many."""

from __future__ import annotations

import json
import re

import pytest

from overlay_spark.tables import catalog
from overlay_spark.tables.audit import counted, one_or_many

RULES = {
    rule: table
    for table in catalog.TABLES
    for rules in (table.rules, *(column.all_rules for column in table.columns))
    for rule in rules
}
INFINITY, NAN = float("inf"), float("nan")

ROWS = {
    "nodes": [
        (None, None, None, None),
        ("", "", [], -1.0),
        ("a", "\ufffd", [None], NAN),
        ("b", "s", [1.0, None], INFINITY),
        ("c\ufffd", "s", [NAN, None], -INFINITY),
        ("d", "s", [INFINITY, 1.0], 0.0),
    ],
    "link_costs": [
        (None, None, None),
        ("a", "a", NAN),
        ("", "b", INFINITY),
        ("a", "b", -INFINITY),
        ("b", "a", 0.0),
        ("\ufffd", "", 1.0),
        ("a", "\ufffd", 1.0),
        ("a", None, 1.0),
    ],
}
"""Rows with everything that rules are about."""


def test_rules__are_said_for_one_and_for_many():
    for rule in RULES:
        one, many = counted(1, f"row[|s] {rule.says}"), counted(2, f"row[|s] {rule.says}")
        for text in (one, many, one_or_many(rule.fix, 1), one_or_many(rule.fix, 2)):
            assert not set("[|]") & set(text), rule
        assert re.match(r"1 row (that (is|holds|links) |without |whose )", one), one
        assert re.match(r"2 rows (that (are|hold|link) |without |whose )", many), many
        assert "these" not in one_or_many(rule.fix, 1)
        assert "this row" not in one_or_many(rule.fix, 2)
        assert rule.fix.endswith(".")
        assert not rule.says.endswith(".")


def test_docs__are_short_lines_and_all_there():
    for table in catalog.TABLES:
        for doc in (table.doc, *(column.doc for column in table.columns)):
            assert 3 < len(doc) <= 100
            assert not doc.endswith(".")
            assert "|" not in doc


def test_names_of_rules__are_unique_in_a_table():
    for table in catalog.TABLES:
        names = [rule.name for rules in (table.rules, *(c.all_rules for c in table.columns)) for rule in rules]
        assert len(set(names)) == len(names)


def test_keys_and_pairs__are_columns_that_are_given():
    for table in catalog.TABLES:
        given = {column.name for column in table.columns if not column.nullable}
        assert set(table.pair or ()) <= set(table.key) <= given | {"x"}, table.name


def test_as_markdown__has_a_line_for_each_table():
    lines = catalog.as_markdown().splitlines()
    assert len(lines) == 2 + len(catalog.TABLES)
    assert lines[2].startswith("| subscriptions (in) | ")
    assert "| node_id string, site string?, coordinates array<double>?, height double? | node_id |" in lines[3]


@pytest.mark.spark
@pytest.mark.parametrize("table", [catalog.NODES, catalog.LINK_COSTS], ids=lambda table: table.name)
def test_constraints__are_true_or_false_for_every_row(spark, table):
    """Delta refuses a row where one is null. Nulls in columns that must be given are refused by a constraint of theirs."""
    schema = ", ".join(f"`{column.name}` {column.type}" for column in table.columns)
    frame = spark.createDataFrame(ROWS[table.name], schema)
    given = {f"{column.name}_is_given" for column in table.columns if not column.nullable}
    told = frame.selectExpr(*[f"({sql}) AS {name}" for name, sql in table.constraints.items()]).collect()
    for row in told:
        values = row.asDict()
        if all(values[name] for name in given):
            assert None not in values.values(), values
        assert None not in {values[name] for name in given}
    for name in table.constraints:
        assert {row[name] for row in told} >= {True, False} or name.endswith("_is_utf8"), name


def test_constraints__can_be_stored_as_table_properties():
    for table in catalog.TABLES:
        assert json.loads(json.dumps(table.constraints)) == table.constraints
        assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in table.constraints)
