"""The tables a job reads: each from where it is said to be, Delta tables at the version that was described."""

from __future__ import annotations

import pytest

from overlay_spark.errors import InputError
from overlay_spark.jobs.inputs import Inputs, describe, load_problem
from overlay_spark.problems import CoordinateCosts, ListedCosts, SiteCosts
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Reference
from tests.problems import sorted_rows

REFERENCE = Reference("csv", "anywhere")


def test_by_table__is_what_was_given_in_the_order_of_the_catalog():
    assert Inputs(REFERENCE).by_table() == {catalog.SUBSCRIPTIONS: REFERENCE}
    other = Reference("csv", "elsewhere")
    given = Inputs(REFERENCE, site_costs=other, nodes=REFERENCE).by_table()
    assert given == {catalog.SUBSCRIPTIONS: REFERENCE, catalog.NODES: REFERENCE, catalog.SITE_COSTS: other}
    assert Inputs(REFERENCE, link_costs=other).by_table()[catalog.LINK_COSTS] is other


@pytest.fixture
def stored(spark, tmp_path):
    """Subscriptions and site costs as CSV, nodes as Parquet."""
    (tmp_path / "subscriptions.csv").write_text("topic_id,node_id\nx,a\nx,b\n")
    (tmp_path / "site_costs.csv").write_text("site_a,site_b,cost\ns,s,2\n")
    nodes = catalog.NODES.rows(spark, [("a", "s", [1.0]), ("b", "s", [2.0])])
    nodes.coalesce(1).write.parquet(str(tmp_path / "nodes"))
    places = {name: Reference("csv", f"{tmp_path}/{name}.csv") for name in ("subscriptions", "site_costs")}
    return {**places, "nodes": Reference("parquet", f"{tmp_path}/nodes")}


@pytest.mark.spark
def test_load_problem__reads_tables_of_every_kind_at_the_versions_described(spark, tmp_path, stored):
    place = Reference("delta", f"{tmp_path}/link_costs")

    def commit(cost):
        delta.overwrite(catalog.LINK_COSTS, catalog.LINK_COSTS.rows(spark, [("a", "b", cost)]), place, {})

    commit(1.0)
    commit(2.0)
    inputs = Inputs(stored["subscriptions"], stored["nodes"], link_costs=place)
    described = describe(spark, inputs)
    assert described == {
        "subscriptions": {"reference": f"csv:{tmp_path}/subscriptions.csv", "version": None, "at": None},
        "nodes": {"reference": f"parquet:{tmp_path}/nodes", "version": None, "at": None},
        "link_costs": {
            "reference": f"delta:{tmp_path}/link_costs",
            "version": 1,
            "at": delta.commits(spark, place, 1)[0].at,
        },
    }
    commit(3.0)
    found = load_problem(spark, inputs, described)
    assert isinstance(found.costs, ListedCosts)
    assert sorted_rows(found.costs.table) == [("a", "b", 2.0)]
    assert sorted_rows(found.subscriptions) == [("a", "x"), ("b", "x")]
    assert sorted_rows(found.nodes) == [("a", "s", [1.0], None), ("b", "s", [2.0], None)]
    assert found.unit is None
    bare = Inputs(stored["subscriptions"], link_costs=place)
    assert load_problem(spark, bare, described).nodes is None
    described["link_costs"]["version"] = 0
    assert sorted_rows(load_problem(spark, inputs, described).costs.table) == [("a", "b", 1.0)]


@pytest.mark.spark
def test_load_problem__takes_the_costs_there_are_and_coordinates_where_there_are_none(spark, stored):
    by_site = Inputs(stored["subscriptions"], stored["nodes"], site_costs=stored["site_costs"])
    found = load_problem(spark, by_site, describe(spark, by_site))
    assert isinstance(found.costs, SiteCosts)
    assert sorted_rows(found.costs.table) == [("s", "s", 2.0)]
    by_place = Inputs(stored["subscriptions"], stored["nodes"])
    assert load_problem(spark, by_place, describe(spark, by_place)).costs == CoordinateCosts()


@pytest.mark.spark
def test_inputs__that_are_not_there_are_refused_by_place(spark, tmp_path):
    nowhere = Reference("delta", f"{tmp_path}/nowhere")
    with pytest.raises(InputError, match=rf"^delta:{tmp_path}/nowhere: there is no Delta table here"):
        describe(spark, Inputs(REFERENCE, nowhere))
    inputs = Inputs(Reference("parquet", f"{tmp_path}/nowhere"))
    with pytest.raises(InputError, match=rf"^parquet:{tmp_path}/nowhere: table 'subscriptions' cannot be read"):
        load_problem(spark, inputs, describe(spark, inputs))
