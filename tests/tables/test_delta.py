"""Delta tables in and out."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError

from overlay_spark.errors import InputError
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.contract import Column, Rule
from overlay_spark.tables.references import Destination, Reference
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

COSTS = [("a", "b", 1.0)]

OLD_OUTPUT = Path(__file__).parents[1] / "cases" / "output_0_1"
"""What version 0.1 wrote for three nodes and two topics."""

OLD_TABLES = (catalog.OVERLAY_LINKS, catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES, catalog.RUNS)
GIVEN = {"representative": False}
"""Columns added since that hold no null."""


@pytest.fixture(params=["folder", "schema"])
def destination(request, spark, tmp_path):
    """A place to write to: one suite for paths and for catalog names."""
    if request.param == "folder":
        yield Destination.parse(str(tmp_path / "tables"))
        return
    spark.sql("CREATE DATABASE IF NOT EXISTS overlay_test LOCATION '" + str(tmp_path) + "'")
    yield Destination.parse("table:overlay_test")
    spark.sql("DROP DATABASE overlay_test CASCADE")


def test_overwrite__creates_the_table_and_replaces_it_in_single_commits(spark, destination):
    place = destination.table("link_costs")
    assert not delta.exists(spark, place)
    delta.overwrite(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, COSTS), place, {"run_id": "one"})
    assert delta.exists(spark, place)
    assert (delta.latest_version(spark, place), delta.commits(spark, place, 1)[0].metadata) == (0, {"run_id": "one"})
    delta.overwrite(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, [("c", "d", 2.0)]), place, {"run_id": "two"})
    assert (delta.latest_version(spark, place), delta.commits(spark, place, 1)[0].metadata) == (1, {"run_id": "two"})
    assert sorted_rows(delta.read(spark, place)) == [("c", "d", 2.0)]
    assert sorted_rows(delta.read(spark, place, 0)) == COSTS


def test_replaced_run__commits_once_for_a_generation_though_it_changes_no_row(spark, destination):
    place, table = destination.table("overlay_changes"), catalog.OVERLAY_CHANGES
    one, none = (table.rows(spark, rows) for rows in ([("one", 0, "add", "a", "b", 1.0)], []))
    for frame, run, generation in ((one, "one", 1), (none, "two", 2), (none, "two", 2), (one, "one", 1)):
        delta.replace_run(table, frame, place, run, {"run_id": run}, generation)
    assert [commit.metadata["run_id"] for commit in delta.commits(spark, place)] == ["two", "one"]
    assert [row["run_id"] for row in delta.read(spark, place).collect()] == ["one"]


def test_constraints__hold_from_the_first_commit(spark, destination):
    place = destination.table("link_costs")
    delta.overwrite(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, COSTS), place, {})
    for bad in ("a", "b", -1.0), ("a", "b", float("nan")), ("a", "a", 1.0), ("", "b", 1.0):
        frame = spark.createDataFrame([bad], "src string, dst string, cost double")
        with pytest.raises(Py4JJavaError, match="CHECK constraint"):
            delta.append(catalog.LINK_COSTS, frame, place, {})
    nothing = spark.createDataFrame([("a", None, 1.0)], "src string, dst string, cost double")
    with pytest.raises(Py4JJavaError, match="dst_is_given"):
        delta.append(catalog.LINK_COSTS, nothing, place, {})
    assert delta.latest_version(spark, place) == 0


@pytest.mark.parametrize("table", catalog.TABLES, ids=lambda table: table.name)
def test_every_table__can_be_created_with_its_constraints(spark, tmp_path, table):
    place = Reference("delta", str(tmp_path / table.name))
    delta.overwrite(table, table.rows(spark), place, {})
    assert delta.read(spark, place).columns == table.schema.names


def test_latest_version__of_what_is_not_there_is_refused(spark, tmp_path):
    with pytest.raises(InputError, match="there is no Delta table here"):
        delta.latest_version(spark, Reference("delta", str(tmp_path / "nowhere")))
    with pytest.raises(InputError, match="there is no Delta table here"):
        delta.latest_version(spark, Reference.parse("table:default.nowhere"))


def comments(spark, place):
    return {field.name: field.metadata.get("comment") for field in delta.read(spark, place).schema.fields}


def grown(table):
    """The table with two more columns, not at the end."""
    given = Column("given", "int", "a new column", rules=(Rule("given_is_odd", "`given` % 2 = 1", "even", "Add 1."),))
    return replace(table, columns=(given, *table.columns, Column("extra", "string", "another", nullable=True)))


@pytest.fixture
def old(tmp_path):
    shutil.copytree(OLD_OUTPUT, tmp_path / "old")
    return Destination.parse(str(tmp_path / "old"))


def test_docs__are_comments_of_the_stored_table(spark, destination):
    place = destination.table("link_costs")
    delta.append(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, COSTS), place, {})
    assert comments(spark, place) == {column.name: column.doc for column in catalog.LINK_COSTS.columns}
    if place.kind == "table":
        (description,) = DeltaTable.forName(spark, place.place).detail().select("description").first()
        assert description == catalog.LINK_COSTS.doc


def sorted_items(row):
    return sorted(row.items())


@pytest.mark.parametrize("table", OLD_TABLES, ids=lambda table: table.name)
def test_append__to_a_table_of_version_0_1_adds_columns_and_keeps_rows(spark, old, table):
    place, new = old.table(table.name), grown(table)
    before = [row.asDict() for row in delta.read(spark, place).collect()]
    assert before
    since = [name for name in table.schema.names if name not in before[0]]  # what later versions have added
    added = {**{name: GIVEN.get(name) for name in since}, **before[0], "given": 1, "extra": None}
    delta.append(new, new.rows(spark, [[added[name] for name in new.schema.names]]), place, {"run_id": "new"})
    found = delta.read(spark, place)
    assert found.columns == [*before[0], *(c for c in new.schema.names if c not in before[0])]
    assert {name: comments(spark, place)[name] for name in ("given", "extra")} == {
        "given": "a new column",
        "extra": "another",
    }
    rows = [row.asDict() for row in found.collect()]
    kept = [{**row, **dict.fromkeys(since), "given": None, "extra": None} for row in before]
    assert sorted(map(sorted_items, rows), key=str) == sorted(map(sorted_items, [*kept, added]), key=str)
    assert delta.commits(spark, place, 1)[0].metadata == {"run_id": "new"}


@pytest.mark.parametrize("table", OLD_TABLES, ids=lambda table: table.name)
def test_overwrite__of_a_table_of_version_0_1_gives_the_new_columns_in_order(spark, old, table):
    place, new = old.table(table.name), grown(table)
    before = [row.asDict() for row in delta.read(spark, place).collect()]
    rows = [[({"given": 3, "extra": "x"} | GIVEN | row).get(name) for name in new.schema.names] for row in before]
    delta.overwrite(new, new.rows(spark, rows), place, {})
    found = delta.read(spark, place)
    assert found.columns == new.schema.names
    assert comments(spark, place) == {column.name: column.doc for column in new.columns}
    assert sorted(map(list, found.collect()), key=str) == sorted(rows, key=str)
    assert [row.asDict() for row in delta.read(spark, place, 0).collect()] == before
    assert delta.latest_version(spark, place) == 1


def test_overwrite__of_a_grown_table_keeps_the_constraints_it_was_created_with(spark, old):
    """Those of added columns it has not: Delta takes them when it creates a table."""
    place, new = old.table("overlay_nodes"), grown(catalog.OVERLAY_NODES)
    with pytest.raises(Py4JJavaError, match="degree_is_not_negative"):
        delta.overwrite(new, new.rows(spark, [(1, "a", 1, -1, 1.0, None, False)]), place, {})
    delta.overwrite(new, new.rows(spark, [(2, "a", 1, 1, 1.0, None, False)]), place, {})
    fresh = Reference("delta", place.place + "_fresh")
    with pytest.raises(Py4JJavaError, match="given_is_odd"):
        delta.overwrite(new, new.rows(spark, [(2, "a", 1, 1, 1.0, None, False)]), fresh, {})


@pytest.mark.parametrize("write", [delta.append, delta.overwrite])
def test_write__to_a_table_with_other_columns_is_refused(spark, destination, write):
    place = destination.table("link_costs")
    delta.append(grown(catalog.LINK_COSTS), grown(catalog.LINK_COSTS).rows(spark, [(1, *COSTS[0])]), place, {})
    says = f"{place}: table 'link_costs' has %s that this version does not write (%s). Give another output folder or schema."
    with pytest.raises(InputError) as refusal:
        write(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, COSTS), place, {})
    assert str(refusal.value) == says % ("2 columns", "given int, extra string")
    other = replace(
        grown(catalog.LINK_COSTS), columns=(Column("given", "bigint", ""), *grown(catalog.LINK_COSTS).columns[1:])
    )
    with pytest.raises(InputError) as refusal:
        write(other, other.rows(spark, [(1, *COSTS[0])]), place, {})
    assert str(refusal.value) == says % ("1 column", "given int")
    assert delta.latest_version(spark, place) == 0


def test_write__of_a_new_table_creates_it_without_looking_for_it(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(delta, "require_own_columns", lambda *_: pytest.fail("looked for"))
    for number, write in enumerate((delta.append, delta.overwrite)):
        place = Reference("delta", str(tmp_path / str(number)))
        write(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, COSTS), place, {"run_id": "one"}, is_new=True)
        assert [commit.metadata for commit in delta.commits(spark, place)] == [{"run_id": "one"}]
        with pytest.raises(Py4JJavaError, match="CHECK constraint"):
            catalog.LINK_COSTS.rows(spark, [("a", "b", -1.0)]).write.format("delta").mode("append").save(place.place)


def test_write__of_a_new_table_that_is_there_after_all_is_a_write_to_any_other(spark, destination):
    place, more = destination.table("link_costs"), catalog.LINK_COSTS.rows(spark, [("c", "d", 2.0)])
    delta.overwrite(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, COSTS), place, {}, 1, is_new=True)
    delta.append(catalog.LINK_COSTS, more, place, {}, is_new=True)
    assert sorted_rows(delta.read(spark, place)) == [*COSTS, ("c", "d", 2.0)]
    delta.overwrite(catalog.LINK_COSTS, more, place, {"run_id": "late"}, 1, is_new=True)
    assert delta.version_of(spark, place, "late") is None
    delta.overwrite(catalog.LINK_COSTS, more, place, {"run_id": "next"}, 2, is_new=True)
    assert delta.version_of(spark, place, "next") == 2
    assert sorted_rows(delta.read(spark, place)) == [("c", "d", 2.0)]
    other = grown(catalog.LINK_COSTS)
    delta.append(other, other.rows(spark, [(1, *COSTS[0])]), destination.table("other"), {})
    for write in delta.append, delta.overwrite:
        with pytest.raises(InputError, match="given int, extra string"):
            write(catalog.LINK_COSTS, more, destination.table("other"), {}, is_new=True)
    assert delta.latest_version(spark, destination.table("other")) == 0


def test_append__by_two_who_both_found_nothing_keeps_the_rows_of_both(spark, tmp_path):
    place = Reference("delta", str(tmp_path / "table"))
    frames = [catalog.LINK_COSTS.rows(spark, [(name, "z", 1.0)]) for name in "abc"]
    side_by_side([partial(delta.append, catalog.LINK_COSTS, frame, place, {}, is_new=True) for frame in frames])
    assert sorted_rows(delta.read(spark, place)) == [(name, "z", 1.0) for name in "abc"]


def test_require_own_columns__tells_of_all_tables_at_once(spark, old):
    lost = {"overlay_links": "pick", "overlay_topics": "weighted_diameter", "overlay_nodes": "weighted_degree"}
    less = [
        replace(table, columns=tuple(c for c in table.columns if c.name != lost[table.name]))
        for table in OLD_TABLES
        if table.name in lost
    ]
    places = {table: old.table(table.name) for table in OLD_TABLES}
    assert not delta.require_own_columns(spark, places)
    assert delta.require_own_columns(spark, {**places, catalog.LINK_COSTS: old.table("nowhere")}) == {"link_costs"}
    with pytest.raises(InputError) as refusal:
        delta.require_own_columns(spark, {table: old.table(table.name) for table in less})
    assert [fault.split("(")[1].split(")")[0] for fault in refusal.value.faults] == [
        "pick bigint",
        "weighted_diameter double",
        "weighted_degree double",
    ]


@pytest.mark.parametrize("name", ["table", "a name/with `signs` and ü", "x/../x/table"])
@pytest.mark.parametrize("rows", [[("a", "x")], []], ids=["rows", "empty"])
def test_commits__of_a_table_at_a_relative_path_are_found(spark, tmp_path, name, rows):
    """SQL takes absolute paths only; the shared session runs where the tests were started."""
    (tmp_path / "x").mkdir()
    place = Reference("delta", f"{os.path.relpath(tmp_path)}/{name}")
    frame = catalog.SUBSCRIPTIONS.rows(spark, rows)
    delta.overwrite(catalog.SUBSCRIPTIONS, frame, place, {"run_id": "one"})
    assert not place.place.startswith("/")
    assert [commit.metadata for commit in delta.commits(spark, place)] == [{"run_id": "one"}]


def test_commits__of_a_table_at_a_relative_path_are_found_by_its_files_once(spark, tmp_path, monkeypatch):
    looks, look = [], delta._told_by_files
    monkeypatch.setattr(delta, "_told_by_files", lambda *given: looks.append(given) or look(*given))
    place = Reference("delta", f"{os.path.relpath(tmp_path)}/wants")
    for _ in range(2):  # a table without files does not tell where it is
        delta.overwrite(catalog.SUBSCRIPTIONS, catalog.SUBSCRIPTIONS.rows(spark, []), place, {})
        assert len(delta.commits(spark, place, 1)) == 1
    assert len(looks) == 2
    for run_id in ("one", "two"):
        delta.overwrite(
            catalog.SUBSCRIPTIONS, catalog.SUBSCRIPTIONS.rows(spark, [("a", "x")]), place, {"run_id": run_id}
        )
        assert delta.commits(spark, place, 1)[0].metadata == {"run_id": run_id}
    assert len(looks) == 3


def test_commits__are_none_where_there_is_no_table(spark, tmp_path):
    for nowhere in (Reference("delta", str(tmp_path / "nowhere")), Reference.parse("table:default.nowhere")):
        assert delta.commits_if_any(spark, nowhere) is None
