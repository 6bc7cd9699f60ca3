"""Delta tables in and out."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

from overlay_spark.errors import InputError
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

COSTS = [("a", "b", 1.0)]


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
    assert (delta.latest_version(spark, place), delta.commit_metadata(spark, place)) == (0, {"run_id": "one"})
    delta.overwrite(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, [("c", "d", 2.0)]), place, {"run_id": "two"})
    assert (delta.latest_version(spark, place), delta.commit_metadata(spark, place)) == (1, {"run_id": "two"})
    assert sorted_rows(delta.read(spark, place)) == [("c", "d", 2.0)]
    assert sorted_rows(delta.read(spark, place, 0)) == COSTS


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
