"""Counts, sentences and examples of what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark.tables.audit import Audit, Fault, Finding, counted, faults_of, one_or_many, report, sentence, show


@pytest.mark.parametrize(
    "count, text, expected",
    [
        (1, "row[|s] that [is|are] null", "1 row that is null"),
        (3, "row[|s] that [is|are] null", "3 rows that are null"),
        (0, "pair[|s] of sites", "0 pairs of sites"),
        (1, "row[|s] that hold[s|] null", "1 row that holds null"),
        (2, "row[|s] that hold[s|] null", "2 rows that hold null"),
        (2, "topic", "2 topic"),
    ],
)
def test_counted__says_one_or_many(count, text, expected):
    assert counted(count, text) == expected


def test_one_or_many__takes_many_places():
    assert (
        one_or_many("Fill in or remove [this row|these rows]; [it|they] count[s|].", 1)
        == "Fill in or remove this row; it counts."
    )
    assert (
        one_or_many("Fill in or remove [this row|these rows]; [it|they] count[s|].", 2)
        == "Fill in or remove these rows; they count."
    )


def test_sentence__is_where_what_first_and_fix_and_leaves_examples_as_they_are():
    say = sentence("The overlay has", "row[|s] with a loop", "Remove [it|them].")
    assert say(1, "src='[a|b]'") == "The overlay has 1 row with a loop (first: src='[a|b]'). Remove it."
    assert say(2, "-") == "The overlay has 2 rows with a loop (first: -). Remove them."
    assert (
        sentence("The overlay has", "row[|s] with a loop")(2, "-") == "The overlay has 2 rows with a loop (first: -)."
    )


def test_fault__is_said_as_its_text():
    assert str(Fault("kind", "What is wrong.")) == "What is wrong."


@pytest.fixture
def numbers(spark):
    return spark.range(10).selectExpr("CAST(id AS int) AS n")


def even(numbers):
    found = numbers.where("n % 2 = 0")
    return Finding("is_odd", sentence("Table has", "number[|s]"), lambda: found, ("n",))


@pytest.mark.spark
def test_faults_of__are_those_counted_by_name_and_the_second_only_without_the_first(numbers):
    wrong = Audit((numbers.selectExpr("count_if(n % 2 = 0)"),), (even(numbers),))
    right = Audit((numbers.selectExpr("max(0)"),), (replace(even(numbers), kind="never"),))
    fault = Fault("is_odd", "Table has 5 numbers (first: n=0; n=2; n=4).")
    assert faults_of([wrong]) == [fault]
    assert faults_of([wrong, right, wrong], [wrong]) == [fault, fault]
    assert faults_of([right], [right, wrong]) == [fault]
    assert faults_of([right], [right]) == []


@pytest.mark.spark
def test_report__takes_counts_from_several_frames_and_the_facts_after_them(numbers):
    two = numbers.selectExpr("max(0)", "count_if(n = 3)")
    facts = numbers.selectExpr("sum(n)", "max(CAST(NULL AS int))")
    never, three = replace(even(numbers), kind="never"), Finding("is_not_three", lambda n, _: f"{n} is three.")
    found = report(
        [Audit((two, facts), (never, three), ("sum", "nothing"))],
        [Audit((numbers.selectExpr("max(n)"),), (), ("most",))],
    )
    assert found.faults == (Fault("is_not_three", "1 is three."),)
    assert found.facts == {"sum": 45, "nothing": 0, "most": 9}


@pytest.mark.spark
def test_report__counts_suspicions_anew(numbers):
    cleared, confirmed = (replace(even(numbers), recount=lambda n=n: n) for n in (0, 1))
    audit = Audit((numbers.selectExpr("max(7)", "max(7)"),), (cleared, confirmed))
    assert faults_of([audit]) == [Fault("is_odd", "Table has 1 number (first: n=0; n=2; n=4).")]
    unasked = replace(even(numbers), recount=lambda: pytest.fail("nothing is suspected"))
    assert faults_of([Audit((numbers.selectExpr("max(0)"),), (unasked,))]) == []


@pytest.mark.spark
def test_show__is_brief(spark):
    long, short = "n" * 10_000, "\u00e9" * 40
    rows = [(long, list(range(1000))), (short, [1]), (short, [1])]
    frame = spark.createDataFrame(rows, "id string, list array<int>")
    assert show(frame, ["id", "list"]) == (
        f"id='{long[:40]}'..., list=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1...; id='{short}', list=[1]"
    )
    assert show(spark.range(9), ["id"]) == "id=0; id=1; id=2"
    assert show(spark.sql("SELECT CAST(unhex('61FF') AS string) AS id, CAST(NULL AS double) AS x"), ["id", "x"]) == (
        "id='0x61FF', x=None"
    )
