"""What a declared table makes of a given one."""

from __future__ import annotations

import itertools
import random

import pytest
from pyspark.sql import functions as F

from overlay_spark.errors import InputError
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import faults_of, report
from overlay_spark.tables.contract import Column, Rule, Table
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

PETS = Table(
    "pets",
    "a table of these tests",
    (
        Column("name", "string", "its name"),
        Column("age", "int", "in years", nullable=True, rules=(Rule("age_is_low", "`age` < 30", "that [is|are] old", "Be [a pup|pups]."),)),
        Column("weight", "double", "in kg", nullable=True),
    ),
    key=("name",),
    rules=(Rule("weight_fits_age", "`weight` >= `age`", "with too little weight", "Feed [it|them]."),),
)  # fmt: skip


def test_conform__casts_reorders_and_fills_in(spark):
    given = spark.createDataFrame([(3, 7)], "weight int, name long")
    conformed = PETS.conform(given)
    assert conformed.schema.simpleString() == "struct<name:string,age:int,weight:double>"
    assert sorted_rows(conformed) == [("7", None, 3.0)]


@pytest.mark.parametrize(
    "given, faults",
    [
        (
            "age int",
            [
                "Table 'pets': column 'name' is missing; it has ['age']. Expected: name, age (optional), weight (optional)."
            ],
        ),
        (
            "name string, tail string",
            [
                "Table 'pets': column 'tail' is not known. Drop or rename it. Expected: name, age (optional), weight (optional)."
            ],
        ),
        (
            "name string, tail string, paws int",
            [
                "Table 'pets': columns 'tail', 'paws' are not known. Drop or rename them. Expected: name, age (optional), weight (optional)."
            ],
        ),
        ("name string, name string", ["Table 'pets': column 'name' occurs more than once. Rename or drop it."]),
        (
            "name string, age int, name string, age int",
            ["Table 'pets': columns 'age', 'name' occur more than once. Rename or drop them."],
        ),
        (
            "name double, age string",
            [
                "Table 'pets': column 'name' has type double, but must be string. Cast or correct it.",
                "Table 'pets': column 'age' has type string, but must be int. Cast or correct it.",
            ],
        ),
        (
            "`[a|b]` string",
            [
                "Table 'pets': column 'name' is missing; it has ['[a|b]']. Expected: name, age (optional), weight (optional).",
                "Table 'pets': column '[a|b]' is not known. Drop or rename it. Expected: name, age (optional), weight (optional).",
            ],
        ),
    ],
)
def test_schema_faults__are_all_told_for_one_and_for_many(spark, given, faults):
    frame = spark.createDataFrame([], given)
    assert PETS.schema_faults(frame)[0] == faults
    with pytest.raises(InputError):
        PETS.conform(frame)


def test_schema_faults__of_several_missing_columns(spark):
    (fault,) = catalog.LINK_COSTS.schema_faults(spark.createDataFrame([], "cost int"))[0]
    assert fault == "Table 'link_costs': columns 'src', 'dst' are missing; it has ['cost']. Expected: src, dst, cost."


def test_audit__finds_broken_rules_nulls_and_repeated_keys(spark):
    rows = [("rex", 3, 9.0), ("tom", 40, 50.0), ("kit", None, None), ("kit", 2, 1.0), (None, 1, 1.0)]
    found = report([PETS.audit(spark.createDataFrame(rows, "name string, age int, weight double"))])
    assert {fault.kind: fault.text for fault in found.faults} == {
        "name_is_given": "Table 'pets': column 'name' has 1 row that is null (first: name=None, age=1, weight=1.0). Fill in or remove this row.",
        "age_is_low": "Table 'pets': column 'age' has 1 row that is old (first: name='tom', age=40, weight=50.0). Be a pup.",
        "weight_fits_age": "Table 'pets' has 1 row with too little weight (first: name='kit', age=2, weight=1.0). Feed it.",
        "key_is_unique": "Table 'pets' has 2 rows whose (name) occurs more than once (first: name='kit'). Keep one of each.",
    }
    assert found.facts == {"pets": 5}


def test_audit__of_an_empty_table_is_a_fault_only_of_inputs(spark):
    assert faults_of([PETS.audit(PETS.rows(spark))]) == []
    assert faults_of([catalog.LINKS.audit(catalog.LINKS.rows(spark))]) == []
    assert [fault.kind for fault in faults_of([catalog.NODES.audit(catalog.NODES.rows(spark))])] == [
        "table_is_not_empty"
    ]


def repeated_rows(rows):
    """By hand: rows of pairs given more than twice, or twice but not once each way at one cost."""
    groups = {}
    for src, dst, cost in rows:
        groups.setdefault(tuple(sorted((src, dst))), []).append((src, dst, cost))
    wrong = [g for g in groups.values() if len(g) > 2 or (len(g) == 2 and (g[0][:2] == g[1][:2] or g[0][2] != g[1][2]))]
    return sum(map(len, wrong))


@pytest.mark.parametrize("seed", range(3))
def test_audit__counts_repeated_pairs_as_by_hand(spark, seed):
    draw = random.Random(seed)
    pairs = list(itertools.permutations("abcdefgh", 2))
    rows = [(*draw.choice(pairs), draw.choice([1.0, 1.0, 2.0])) for _ in range(40)]
    told = [fault.text for fault in faults_of([catalog.LINK_COSTS.audit(catalog.LINK_COSTS.rows(spark, rows))])]
    assert repeated_rows(rows)
    assert [text.split(" whose")[0] for text in told] == [f"Table 'link_costs' has {repeated_rows(rows)} rows"]


def test_audit__clears_keys_that_only_hash_alike(spark, monkeypatch):
    rows = [("a", "b", 1.0), ("c", "d", 2.0), ("d", "c", 2.0), ("e", "f", 1.0)]
    frame = catalog.LINK_COSTS.rows(spark, rows)
    monkeypatch.setattr(F, "xxhash64", lambda *columns: F.lit("the same"))
    assert faults_of([catalog.LINK_COSTS.audit(frame)]) == []
    told = faults_of([catalog.LINK_COSTS.audit(frame.union(frame.where("src = 'a'")))])
    assert [fault.text.split(" whose")[0] for fault in told] == ["Table 'link_costs' has 2 rows"]


def test_rows__leaves_out_last_columns_and_keeps_types(spark):
    assert sorted_rows(PETS.rows(spark, [("rex",), ("tom",)])) == [("rex", None, None), ("tom", None, None)]
    assert PETS.rows(spark).schema == PETS.schema
