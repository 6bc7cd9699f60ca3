"""What a call takes: schemas are checked when a problem is made, all tables at once, and no row is read."""

from __future__ import annotations

import pytest

from overlay_spark.errors import InputError, OptionError
from overlay_spark.options import CostOptions
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark


@pytest.fixture
def frame(spark):
    """A frame without rows, of these columns."""
    return lambda columns: spark.createDataFrame([], columns)


@pytest.fixture
def subscriptions(frame):
    return frame("node_id string, topic_id string")


@pytest.fixture
def listed(frame):
    return ListedCosts(frame("src string, dst string, cost double"))


def faults_of(*arguments):
    with pytest.raises(InputError) as refusal:
        OverlayProblem(*arguments)
    return refusal.value.faults


def test_problem__tells_the_schema_faults_of_all_tables_at_once(frame):
    subscriptions = frame("node_id string, topic_id double, weight int")
    costs, nodes = frame("src string, dst string"), frame("node_id string, site int, coordinates array<string>")
    faults = faults_of(subscriptions, ListedCosts(costs), nodes)
    expected = [
        ("subscriptions", "weight"),
        ("subscriptions", "topic_id"),
        ("link_costs", "cost"),
        ("nodes", "coordinates"),
    ]
    assert len(faults) == len(expected)
    for fault, (table, column) in zip(faults, expected, strict=True):
        assert fault.startswith(f"Table '{table}'")
        assert f"'{column}'" in fault


def test_problem__with_site_costs_or_coordinates_needs_nodes_beside_all_else(frame, subscriptions):
    sites = SiteCosts(frame("site_a string, site_b string"))
    of_schema, of_nodes = faults_of(subscriptions, sites)
    assert of_schema.startswith("Table 'site_costs'")
    assert "'cost'" in of_schema
    assert of_nodes == "Table 'nodes' is not given. Site costs need it, to know the site of each node."
    assert faults_of(subscriptions, CoordinateCosts()) == (
        "Table 'nodes' is not given. Costs by coordinates need it, to know where each node is.",
    )


def test_problem__with_listed_costs_does_without_nodes(subscriptions, listed):
    assert OverlayProblem(subscriptions, listed).nodes is None


def test_problem__takes_whole_numbers_as_ids_and_costs(spark):
    """Every table as declared, also where columns stand in another order or are left out."""
    given = OverlayProblem(
        spark.createDataFrame([(7, 2**40), (10, -1)], "topic_id smallint, node_id bigint"),
        SiteCosts(spark.createDataFrame([(3, 1, 2)], "cost int, site_a tinyint, site_b int")),
        spark.createDataFrame([(2**40, 1), (-1, 2)], "node_id bigint, site int"),
    )
    assert sorted_rows(given.subscriptions) == [("-1", "10"), ("1099511627776", "7")]
    assert sorted_rows(given.costs.table) == [("1", "2", 3.0)]
    assert sorted_rows(given.nodes) == [("-1", "2", None, None), ("1099511627776", "1", None, None)]
    tables = (catalog.SUBSCRIPTIONS, catalog.SITE_COSTS, catalog.NODES)
    for table, frame in zip(tables, (given.subscriptions, given.costs.table, given.nodes), strict=True):
        assert [(f.name, f.dataType) for f in frame.schema] == [(f.name, f.dataType) for f in table.schema]


def test_frames__are_the_tables_that_were_given(frame, subscriptions, listed):
    """They are held while a problem is indexed, so none may be missing, and none of another shape."""
    nodes = frame("node_id string, site string")
    without = OverlayProblem(subscriptions, listed)
    assert [f.columns for f in without.frames] == [["node_id", "topic_id"], ["src", "dst", "cost"]]
    assert without.frames[1] is without.costs.table
    by_place = OverlayProblem(subscriptions, CoordinateCosts(), nodes)
    assert [f.columns for f in by_place.frames] == [
        ["node_id", "topic_id"],
        ["node_id", "site", "coordinates", "height"],
    ]
    sites = SiteCosts(frame("site_a string, site_b string, cost double"))
    assert len(OverlayProblem(subscriptions, sites, nodes).frames) == 3


def test_unit__of_the_problem_comes_before_that_of_the_options(subscriptions, listed):
    bare = OverlayProblem(subscriptions, listed)
    assert (bare.unit, bare.unit_cost) == (None, CostOptions().unit)
    assert bare.counted_in(0.5).unit_cost == 0.5
    assert bare.unit is None
    own = OverlayProblem(subscriptions, listed, unit=2.0)
    assert own.counted_in(0.5) is own
    assert own.unit_cost == 2.0
    assert bare.counted_in(0.5).counted_in(8.0).unit_cost == 0.5


@pytest.mark.parametrize("unit", [0.0, -1.0, 1e-31, 1e31, float("nan"), float("inf")])
def test_unit__that_is_none_is_refused_before_tables_are_looked_at(unit):
    with pytest.raises(OptionError, match=r"costs\.unit must be a number from 1e-30 to 1e30"):
        OverlayProblem(None, None, unit=unit)


def test_unit__may_be_as_small_or_large_as_options_allow(subscriptions, listed):
    for unit in (1e-30, 1e30):
        assert OverlayProblem(subscriptions, listed, unit=unit).unit_cost == unit
