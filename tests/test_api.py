"""The library on Spark: what only Spark can get wrong. The algorithms themselves are tested on arrays."""

from __future__ import annotations

import json
from statistics import mean

import numpy as np
import pytest
from pyspark.sql import functions as F

from overlay_spark import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts, design, verify
from overlay_spark.costs import point_costs
from overlay_spark.errors import InputError, OptionError
from overlay_spark.kernels.link_costs import costs_of
from overlay_spark.options import CostOptions, DesignOptions, MetricsOptions, Options
from overlay_spark.tables import catalog
from tests.conftest import CASES, GOLDEN
from tests.problems import golden_problem, links_in_order, node, options, problem, sorted_rows

pytestmark = pytest.mark.spark

TRIANGLE = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y")]
COSTS = [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 2.5)]


@pytest.mark.parametrize("algorithm, expected, listed", [("greedy", "GrMAW", True), ("GM", "GM", False)])
def test_design__gives_the_golden_links(spark, algorithm, expected, listed):
    """All golden cases beside one another in one design: they share no topic, so each keeps its own links and order."""
    cases = [json.loads(path.read_text()) for path in GOLDEN]
    overlay = design(golden_problem(spark, cases, listed), algorithm, options=options())
    links = overlay.links.orderBy("pick").collect()
    nodes, topics = overlay.nodes.collect(), overlay.topics.collect()
    assert len(cases) == 11
    for case in cases:
        golden, mine = case["expected"][expected], f"{case['name']}/"
        found = [row for row in links if row["src"].startswith(mine)]
        assert [(row["src"], row["dst"]) for row in found] == [
            (node(case, u), node(case, v)) for u, v in golden["edges"]
        ]
        assert sum(row["cost"] for row in found) == golden["total_weight"]
        degrees = [(row["degree"], row["weighted_degree"]) for row in nodes if row["node_id"].startswith(mine)]
        assert max(degree for degree, _ in degrees) == golden["max_degree"]
        assert mean(degree for degree, _ in degrees) == pytest.approx(golden["avg_degree"])
        assert mean(cost for _, cost in degrees) == pytest.approx(golden["avg_weighted_degree"])
        shapes = [(row["diameter"], row["weighted_diameter"]) for row in topics if row["topic_id"].startswith(mine)]
        assert mean(hops for hops, _ in shapes) == pytest.approx(golden["avg_topic_diameter_unweighted"])
        assert mean(path for _, path in shapes) == pytest.approx(golden["avg_topic_diameter_weighted"])
    total = sum(case["expected"][expected]["total_weight"] for case in cases)
    assert overlay.metrics["cost"] == total
    assert overlay.metrics["average_weighted_degree"] == pytest.approx(2 * total / len(nodes))
    assert overlay.metrics["average_degree"] == pytest.approx(2 * len(links) / len(nodes))
    assert overlay.metrics["links"] == len(links)
    assert overlay.metrics["max_degree"] == max(case["expected"][expected]["max_degree"] for case in cases)
    assert overlay.metrics["average_diameter"] == pytest.approx(mean(row["diameter"] for row in topics))
    assert overlay.metrics["average_weighted_diameter"] == pytest.approx(
        mean(row["weighted_diameter"] for row in topics)
    )


def test_design__gives_tables_of_the_catalog(spark):
    overlay = design(problem(spark, TRIANGLE, COSTS, ["a", "b", "c", "idle"]))
    for table, frame in (
        (catalog.OVERLAY_LINKS, overlay.links),
        (catalog.OVERLAY_TOPICS, overlay.topics),
        (catalog.OVERLAY_NODES, overlay.nodes),
    ):
        assert table.schema_faults(frame)[0] == []
        assert frame.columns == table.schema.names
    assert sorted_rows(overlay.links) == [("a", "b", 1.0, 1, 1, "single", 0), ("a", "c", 2.5, 2, 2, "single", 1)]
    assert sorted_rows(overlay.topics) == [("x", 3, 2, 1, 2, 3.5), ("y", 2, 1, 1, 1, 2.5)]
    assert sorted_rows(overlay.nodes) == [("a", 2, 2, 3.5), ("b", 1, 1, 1.0), ("c", 2, 1, 2.5), ("idle", 0, 0, 0.0)]
    assert (overlay.lower_bound, overlay.bound, overlay.gap) == (None, None, None)


def test_design__does_not_depend_on_row_order_partitions_or_plans(spark):
    given = golden_problem(spark, [json.loads((CASES / "clusters_v24.json").read_text())], False)
    reference = design(given, options=options())
    expected = {name: sorted_rows(getattr(reference, name)) for name in ("links", "topics", "nodes")}
    for n_partitions, adaptive in ((1, "true"), (3, "false"), (16, "true")):
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        spark.conf.set("spark.sql.shuffle.partitions", str(n_partitions))

        def mixed(frame, n=n_partitions):
            return frame.orderBy(F.rand(n)).repartition(n)

        again = design(
            OverlayProblem(mixed(given.subscriptions), SiteCosts(mixed(given.costs.table)), mixed(given.nodes)),
            options=options(),
        )
        assert {name: sorted_rows(getattr(again, name)) for name in expected} == expected
        assert again.metrics == reference.metrics
        again.release()


def test_design__takes_either_orientation_and_whole_number_ids(spark):
    subscriptions = spark.createDataFrame([(n, 7) for n in (2, 10, 1)], "node_id int, topic_id int")
    costs = spark.createDataFrame([(10, 1, 1), (1, 10, 1), (10, 2, 1)], "src int, dst int, cost int")
    overlay = design(OverlayProblem(subscriptions, ListedCosts(costs)))
    assert sorted_rows(overlay.links.select("src", "dst", "cost")) == [("1", "10", 1.0), ("10", "2", 1.0)]


def test_design__does_not_depend_on_ansi_rules(spark):
    """Clusters may have them off; then size(null) is -1, for one."""
    spark.conf.set("spark.sql.ansi.enabled", "false")
    overlay = design(problem(spark, TRIANGLE, COSTS, ["a", "b", "c", "idle"]))
    assert links_in_order(overlay.links) == [("a", "b"), ("a", "c")]
    nodes = [("a", None, [0.0]), ("b", None, None), ("c", None, None)]
    given = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, TRIANGLE), CoordinateCosts(), catalog.NODES.rows(spark, nodes)
    )
    with pytest.raises(InputError) as refusal:
        design(given)
    assert [fault.split(" (first")[0] for fault in refusal.value.faults] == [
        "Table 'nodes': column 'coordinates' has 2 rows that are null"
    ]


def test_design__orders_ids_by_their_bytes(spark):
    ids = ["Z", "a", "é", "\U0001f600", "ｱ"]  # by bytes; UTF-16 would put the emoji before the halfwidth letter
    expected = sorted(ids, key=str.encode)
    pairs = [(a, b, 1.0) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    overlay = design(problem(spark, [(i, "x") for i in ids], pairs))
    assert links_in_order(overlay.links) == [(expected[0], other) for other in expected[1:]]


def test_design__by_coordinates_is_that_of_the_same_costs_listed(spark):
    rng = np.random.default_rng(3)
    points, heights = rng.uniform(-50, 50, (40, 2)).round(3), rng.uniform(0, 9, 40).round(3)
    heights[0] = 0  # and none is given
    subscriptions = [(f"n{v:02d}", f"t{t}") for v in range(40) for t in np.flatnonzero(rng.random(12) < 0.3)]
    costs = point_costs(points, heights, 0.001)
    src, dst = (ends.astype(np.int32) for ends in np.triu_indices(40, 1))
    values = (costs_of(costs, src, dst) / 1000).tolist()
    listed = [(f"n{u:02d}", f"n{v:02d}", cost) for u, v, cost in zip(src, dst, values, strict=True)]
    nodes = [(f"n{v:02d}", None, points[v].tolist(), heights[v] if v else None) for v in range(40)]
    by_distance = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, subscriptions), CoordinateCosts(), catalog.NODES.rows(spark, nodes)
    )
    chosen = Options(costs=CostOptions(unit=0.001))
    overlay = design(by_distance, options=chosen)
    expected = design(problem(spark, subscriptions, listed, [n[0] for n in nodes]), options=chosen)
    assert sorted_rows(overlay.links) == sorted_rows(expected.links)
    assert overlay.metrics == expected.metrics
    dearer = overlay.links.withColumn("cost", F.col("cost") + F.when(F.col("pick") == 0, 0.001).otherwise(0.0))
    found = verify(by_distance, dearer, chosen)
    assert len(found.faults) == 1
    assert "1 row with another cost than the costs given" in found.faults[0]


def test_design__tells_the_bound_where_one_was_computed(spark):
    given = problem(spark, TRIANGLE, COSTS)
    dual = design(given, "PdMAW")
    assert (dual.bound, dual.algorithm) == ("dual value of primal_dual", "primal_dual")
    assert 0 < dual.lower_bound <= 3.5 <= dual.metrics["cost"]
    assert dual.gap == dual.metrics["cost"] / dual.lower_bound - 1
    asked = design(given, options=Options(design=DesignOptions(bound="primal_dual")))
    assert (asked.lower_bound, asked.bound) == (dual.lower_bound, dual.bound)
    assert design(given, "TrMAW").facts["sum_of_trees"] == 5.5  # a-b and b-c for x, a-c for y


def test_design__takes_needless_links_away_afterwards(spark):
    subscriptions = [("a", "x"), ("b", "x"), ("a", "y"), ("c", "y"), *[(node, "z") for node in "abc"]]
    costs = [("a", "b", 3.0), ("a", "c", 3.0), ("b", "c", 1.0)]
    given = problem(spark, subscriptions, costs)
    assert design(given, "trees").metrics["links"] == 3
    fewer = design(given, "trees", then="reverse_delete")
    assert sorted_rows(fewer.links.select("src", "dst", "contribution", "pick")) == [("a", "b", 2, 0), ("a", "c", 2, 1)]
    assert design(given, "PdrdMAW").metrics["links"] == 2
    with pytest.raises(OptionError, match="knows reverse_delete, got 'shuffle'"):
        design(given, then="shuffle")


def test_design__leaves_out_diameters_of_topics_too_large(spark):
    overlay = design(problem(spark, TRIANGLE, COSTS), options=Options(metrics=MetricsOptions(diameter_max_nodes=2)))
    assert sorted_rows(overlay.topics.select("topic_id", "diameter")) == [("x", None), ("y", 1)]
    assert overlay.metrics["topics_measured"] == 1


def test_design__compares_with_another_algorithm_in_the_same_run(spark):
    chosen = Options(design=DesignOptions(compare="TrMAW"))
    overlay = design(problem(spark, TRIANGLE, COSTS), options=chosen)
    compared = overlay.facts["compared"]
    assert compared == {"algorithm": "trees", "links": 3, "cost": 5.5, "max_degree": 2, "average_degree": 2.0}


def test_design__names_the_topic_and_sides_that_listed_links_cannot_connect(spark):
    subscriptions = [("a", "x"), ("b", "x"), ("c", "x"), ("d", "x"), ("c", "y"), ("d", "y")]
    with pytest.raises(InputError) as refusal:
        design(problem(spark, subscriptions, [("a", "b", 1.0), ("c", "d", 1.0)]))
    assert str(refusal.value) == (
        "Table 'link_costs' leaves 1 topic in pieces (first: topic='x', pieces=2, one_with='a', its_nodes=2, "
        "another_with='c', nodes_of_that=2). List links between these sides, or remove the subscriptions."
    )


def test_design__refuses_names_nobody_knows(spark):
    given = problem(spark, TRIANGLE, COSTS)
    with pytest.raises(OptionError, match="Did you mean 'greedy'"):
        design(given, "gredy")
    with pytest.raises(OptionError, match=r"design.engine must be one of auto, kernel, got 'gpu'"):
        design(given, engine="gpu")


def test_problem__tells_all_schema_faults_at_once(spark):
    subscriptions = spark.createDataFrame([("a", 1.5, 0)], "node_id string, topic_id double, weight int")
    costs = spark.createDataFrame([("a", "b")], "src string, dst string")
    with pytest.raises(InputError) as refusal:
        OverlayProblem(subscriptions, ListedCosts(costs))
    faults = refusal.value.faults
    assert len(faults) == 3
    assert "columns ['weight'] are not known" in faults[0]
    assert "column 'topic_id' has type double, but must be string" in faults[1]
    assert "columns ['cost'] are missing" in faults[2]
    with pytest.raises(InputError, match="Site costs need it"):
        OverlayProblem(
            catalog.SUBSCRIPTIONS.rows(spark, TRIANGLE), SiteCosts(catalog.SITE_COSTS.rows(spark, [("s", "s", 1.0)]))
        )


def test_verify__passes_what_design_made(spark):
    given = problem(spark, TRIANGLE, COSTS)
    found = verify(given, design(given).links)
    assert found.ok
    assert found.faults == ()
    assert found.broken_topics.isEmpty()


@pytest.mark.parametrize(
    "links, fault",
    [
        ([("a", "b", 1.0)], "The overlay leaves 2 topics in pieces (first: topic='x', pieces=2, one_with='a', its_nodes=2, another_with='c', nodes_of_that=1; topic='y'"),
        ([("c", "a", 2.5), ("a", "b", 1.0), ("a", "ghost", 1.0)], "1 row with a node that is not among the nodes (first: src='a', dst='ghost')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("b", "b", 1.0)], "1 row with the same node at both ends (first: src='b', dst='b')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("b", "a", 1.0)], "2 rows with a pair that is given more than once (first: src='a', dst='b'; src='b', dst='a')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("b", "d", 1.0)], "1 row with a pair that is not among the links that may be used (first: src='b', dst='d')"),
        ([("a", "c", 2.5), ("a", "b", 1.25)], "1 row with another cost than the costs given (first: src='a', dst='b')"),
        ([("a", "c", 2.5), ("a", "b", 1.0), ("c", "d", 9.0)], "1 row with ends that share no topic (first: src='c', dst='d')"),
    ],
)  # fmt: skip
def test_verify__names_what_is_wrong(spark, links, fault):
    given = problem(spark, [*TRIANGLE, ("d", "z")], [*COSTS, ("c", "d", 9.0)])
    found = verify(given, spark.createDataFrame(links, "src string, dst string, cost double"))
    assert not found.ok
    assert any(fault in told for told in found.faults), found.faults


def test_verify__names_every_side_of_every_broken_topic(spark):
    given = problem(spark, TRIANGLE, COSTS)
    found = verify(given, catalog.LINKS.rows(spark, [("b", "c", 2.0)]))
    assert sorted_rows(found.broken_topics) == [("x", "a", 1), ("x", "b", 2), ("y", "a", 1), ("y", "c", 1)]
    empty = verify(given, catalog.LINKS.rows(spark))
    assert sorted_rows(empty.broken_topics.groupBy("topic_id").count()) == [("x", 3), ("y", 2)]


def test_verify__checks_site_costs_too(spark):
    given = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, TRIANGLE),
        SiteCosts(catalog.SITE_COSTS.rows(spark, [("s", "s", 1.0), ("s", "t", 5.0)])),
        catalog.NODES.rows(spark, [("a", "s"), ("b", "s"), ("c", "t")]),
    )
    right = [("a", "b", 1.0), ("a", "c", 5.0)]
    assert verify(given, catalog.LINKS.rows(spark, right)).ok
    wrong = verify(given, catalog.LINKS.rows(spark, [("a", "b", 1.0), ("a", "c", 1.0)]))
    assert wrong.faults == ("The overlay has 1 row with another cost than the costs given (first: src='a', dst='c').",)
