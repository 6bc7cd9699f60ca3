"""Where tables are: a strict grammar, and nothing of a user's becomes SQL text."""

from __future__ import annotations

import pytest

from overlay_spark.errors import OptionError
from overlay_spark.tables.references import Destination, Reference, quoted_name


@pytest.mark.parametrize(
    "text, kind, place",
    [
        ("delta:/data/subs", "delta", "/data/subs"),
        ("parquet:s3://bucket/a b", "parquet", "s3://bucket/a b"),
        ("csv:subs.csv", "csv", "subs.csv"),
        ("table:main.bus.subs", "table", "`main`.`bus`.`subs`"),
        ("table:my-catalog.bus.t_1", "table", "`my-catalog`.`bus`.`t_1`"),
    ],
)
def test_reference__is_a_kind_and_a_place(text, kind, place):
    reference = Reference.parse(text)
    assert (reference.kind, reference.place) == (kind, place)
    assert str(reference) == text


@pytest.mark.parametrize("text", ["subs", "delta:", "json:subs", ":x", "table:a.b.c.d", "table:a..b", "table:a;drop", "table:`a`", "table:a b", "table:"])  # fmt: skip
def test_reference__of_another_form_is_refused(text):
    with pytest.raises(OptionError, match=r"does not say where|is not a name"):
        Reference.parse(text)


def test_destination__is_a_folder_or_a_schema():
    assert str(Destination.parse("out/").table("runs")) == "delta:out/runs"
    assert Destination.parse("delta:out").table("runs").place == "out/runs"
    assert Destination.parse("table:main.bus").table("runs").place == "`main`.`bus`.`runs`"
    assert Destination.parse("s3://bucket/out").place == "s3://bucket/out"
    assert str(Destination.parse("table:main.bus")) == "table:main.bus"
    for bad in ("", "/", "table:a.b.c", "table:a'b", "csv:out", "tabel:main.bus"):
        with pytest.raises(OptionError, match=r"is not a folder|is not a name|results are Delta tables"):
            Destination.parse(bad)


def test_quoted_name__leaves_no_way_out_of_its_quotes():
    for bad in ("a`b", "a.b`; drop table c", "a\n", "ä"):
        with pytest.raises(OptionError):
            quoted_name(bad)
