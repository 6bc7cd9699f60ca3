"""The library on Spark: what only Spark can get wrong. The algorithms themselves are tested on arrays."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from pyspark.sql import functions as F

import overlay_spark
from overlay_spark import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts, engines, verify
from overlay_spark.costs import point_costs
from overlay_spark.errors import InputError, OptionError
from overlay_spark.kernels.link_costs import costs_of
from overlay_spark.options import CostOptions, DesignOptions, FramesOptions, MetricsOptions, Options, WorkspaceOptions
from overlay_spark.tables import catalog
from tests.conftest import CASES, GOLDEN
from tests.problems import golden_problem, links_in_order, node, options, problem, sorted_rows

pytestmark = pytest.mark.spark

TRIANGLE = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y")]
COSTS = [("a", "b", 1.0), ("b", "c", 2.0), ("a", "c", 2.5)]


@pytest.fixture(params=[name for name in engines.NAMES if name != engines.PARTED])
def design(request):
    """The verb, by every engine whose overlay is greedy's."""

    def by_engine(problem, *arguments, **named):
        return overlay_spark.design(problem, *arguments, **{"engine": request.param, **named})

    return by_engine


@pytest.mark.parametrize("algorithm, expected, listed", [("greedy", "GrMAW", True), ("GM", "GM", False)])
def test_design__gives_the_golden_links(spark, design, algorithm, expected, listed):
    """All golden cases beside one another in one design: they share no topic, so each keeps its own links and order."""
    cases = [json.loads(path.read_text()) for path in GOLDEN]
    to_the_end = FramesOptions(finish_in_task=0)
    overlay = design(golden_problem(spark, cases, listed), algorithm, options=options(frames=to_the_end))
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
    assert overlay.metrics.cost == total
    assert overlay.metrics.average_weighted_degree == pytest.approx(2 * total / len(nodes))
    assert overlay.metrics.average_degree == pytest.approx(2 * len(links) / len(nodes))
    assert overlay.metrics.links == len(links)
    assert overlay.metrics.max_degree == max(case["expected"][expected]["max_degree"] for case in cases)
    assert overlay.metrics.average_diameter == pytest.approx(mean(row["diameter"] for row in topics))
    assert overlay.metrics.average_weighted_diameter == pytest.approx(mean(row["weighted_diameter"] for row in topics))


def test_design__gives_tables_of_the_catalog(spark, design):
    overlay = design(problem(spark, TRIANGLE, COSTS, ["a", "b", "c", "idle"]))
    for table, frame in (
        (catalog.OVERLAY_LINKS, overlay.links),
        (catalog.OVERLAY_TOPICS, overlay.topics),
        (catalog.OVERLAY_NODES, overlay.nodes),
    ):
        assert table.schema_faults(frame)[0] == []
        assert frame.columns == table.schema.names
    stage = {"kernel": "single", "frames": "finish"}[overlay.engine]
    assert sorted_rows(overlay.links) == [("a", "b", 1.0, 1, 1, stage, 0), ("a", "c", 2.5, 2, 2, stage, 1)]
    assert sorted_rows(overlay.topics) == [("x", 3, 2, 1, 2, 3.5), ("y", 2, 1, 1, 1, 2.5)]
    degrees = [("a", 2, 2, 3.5), ("b", 1, 1, 1.0), ("c", 2, 1, 2.5), ("idle", 0, 0, 0.0)]
    assert sorted_rows(overlay.nodes) == [(*row, None, False) for row in degrees]
    assert (overlay.lower_bound, overlay.bound, overlay.gap) == (None, None, None)


def test_design__does_not_depend_on_row_order_partitions_or_plans(spark, design):
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
        again.close()


def test_design__takes_either_orientation_and_whole_number_ids(spark):
    subscriptions = spark.createDataFrame([(n, 7) for n in (2, 10, 1)], "node_id int, topic_id int")
    costs = spark.createDataFrame([(10, 1, 1), (1, 10, 1), (10, 2, 1)], "src int, dst int, cost int")
    overlay = overlay_spark.design(OverlayProblem(subscriptions, ListedCosts(costs)))
    assert sorted_rows(overlay.links.select("src", "dst", "cost")) == [("1", "10", 1.0), ("10", "2", 1.0)]


def test_design__does_not_depend_on_ansi_rules(spark, design):
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


def test_design__orders_ids_by_their_bytes(spark, design):
    ids = ["Z", "a", "é", "\U0001f600", "ｱ"]  # by bytes; UTF-16 would put the emoji before the halfwidth letter
    expected = sorted(ids, key=str.encode)
    pairs = [(a, b, 1.0) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    overlay = design(problem(spark, [(i, "x") for i in ids], pairs))
    assert links_in_order(overlay.links) == [(expected[0], other) for other in expected[1:]]


def test_design__by_coordinates_is_that_of_the_same_costs_listed(spark, design):
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
    dual = overlay_spark.design(given, "PdMAW")
    assert (dual.bound, dual.algorithm) == ("dual value of primal_dual", "primal_dual")
    assert 0 < dual.lower_bound <= 3.5 <= dual.metrics.cost
    assert dual.gap == dual.metrics.cost / dual.lower_bound - 1
    asked = overlay_spark.design(given, options=Options(design=DesignOptions(bound="primal_dual")))
    assert (asked.lower_bound, asked.bound) == (dual.lower_bound, dual.bound)
    assert overlay_spark.design(given, "TrMAW").facts.sum_of_trees == 5.5  # a-b and b-c for x, a-c for y


def test_design__takes_needless_links_away_afterwards(spark):
    subscriptions = [("a", "x"), ("b", "x"), ("a", "y"), ("c", "y"), *[(node, "z") for node in "abc"]]
    costs = [("a", "b", 3.0), ("a", "c", 3.0), ("b", "c", 1.0)]
    given = problem(spark, subscriptions, costs)
    assert overlay_spark.design(given, "trees").metrics.links == 3
    fewer = overlay_spark.design(given, "trees", then="reverse_delete")
    assert sorted_rows(fewer.links.select("src", "dst", "contribution", "pick")) == [("a", "b", 2, 0), ("a", "c", 2, 1)]
    assert overlay_spark.design(given, "PdrdMAW").metrics.links == 2
    with pytest.raises(OptionError, match="There is no step 'shuffle'"):
        overlay_spark.design(given, then="shuffle")


def test_design__leaves_out_diameters_of_topics_too_large(spark):
    overlay = overlay_spark.design(
        problem(spark, TRIANGLE, COSTS), options=Options(metrics=MetricsOptions(diameter_max_nodes=2))
    )
    assert sorted_rows(overlay.topics.select("topic_id", "diameter")) == [("x", None), ("y", 1)]
    assert overlay.metrics.topics_measured == 1


def test_design__names_the_topic_and_sides_that_listed_links_cannot_connect(spark, design):
    subscriptions = [("a", "x"), ("b", "x"), ("c", "x"), ("d", "x"), ("c", "y"), ("d", "y")]
    with pytest.raises(InputError) as refusal:
        design(problem(spark, subscriptions, [("a", "b", 1.0), ("c", "d", 1.0)]))
    assert str(refusal.value) == (
        "Table 'link_costs' leaves 1 topic in pieces (first: topic 'x' is in 2 pieces: 2 nodes with 'a', 2 nodes with "
        "'c'). List links between these sides, or remove the subscriptions."
    )


def test_design__refuses_names_nobody_knows(spark):
    given = problem(spark, TRIANGLE, COSTS)
    with pytest.raises(OptionError, match="Did you mean 'greedy'"):
        overlay_spark.design(given, "gredy")
    with pytest.raises(OptionError, match="There is no engine 'gpu'"):
        overlay_spark.design(given, engine="gpu")


def test_design__hands_out_what_it_proved_whatever_becomes_of_its_files(spark, tmp_path):
    def write(name, columns, rows):
        spark.createDataFrame(rows, columns).coalesce(1).write.mode("overwrite").parquet(f"{tmp_path}/{name}")

    write("subscriptions", "node_id string, topic_id string", TRIANGLE)
    write("costs", "src string, dst string, cost double", COSTS)
    read = spark.read.parquet
    overlay = overlay_spark.design(
        OverlayProblem(read(f"{tmp_path}/subscriptions"), ListedCosts(read(f"{tmp_path}/costs")))
    )
    expected = [sorted_rows(frame) for frame in (overlay.links, overlay.topics, overlay.nodes)]
    write("subscriptions", "node_id string, topic_id string", [("p", "u"), ("q", "u")])
    write("costs", "src string, dst string, cost double", [("p", "q", 9.0)])
    assert [sorted_rows(frame) for frame in (overlay.links, overlay.topics, overlay.nodes)] == expected
    overlay.close()
    spark.catalog.clearCache()
    assert [sorted_rows(frame) for frame in (overlay.links, overlay.topics, overlay.nodes)] == expected
    assert expected[0][0][:2] == ("a", "b")


@pytest.mark.parametrize("staged", [False, True])
def test_design__solves_once_where_nothing_can_be_kept(spark, tmp_path, monkeypatch, refusing, staged):
    """Serverless Spark refuses cache and checkpoints; every solve leaves a file."""
    kernel, folder = engines.named("kernel"), tmp_path / "solved"
    folder.mkdir()
    in_one_task = sys.modules[kernel.__module__].in_one_task

    def counting(problem, work, workspace):
        def counted(task):
            import uuid

            (folder / uuid.uuid4().hex).touch()
            return work(task)

        return in_one_task(problem, counted, workspace)

    monkeypatch.setattr(sys.modules[kernel.__module__], "in_one_task", counting)
    given = problem(spark, TRIANGLE, COSTS)
    chosen = Options(workspace=WorkspaceOptions(staging=str(tmp_path / "staged") if staged else None))
    with overlay_spark.design(given, options=chosen) as overlay:
        assert sorted_rows(overlay.links.select("src", "dst")) == [("a", "b"), ("a", "c")]
        assert verify(given, overlay.links).ok
        assert overlay.topics.count() == 2
        assert overlay.nodes.agg(F.sum("degree")).first()[0] == 4
        assert list((tmp_path / "staged").glob("*/*")) != [] if staged else True
    assert len(list(folder.iterdir())) == 1
    assert {"persist", "localCheckpoint"} <= set(refusing)
    assert list((tmp_path / "staged").glob("*")) == []


def test_problem__counts_in_its_own_unit_before_that_of_the_options(spark):
    own = replace(problem(spark, TRIANGLE, COSTS), unit=0.75)
    overlay = overlay_spark.design(own, options=Options(costs=CostOptions(unit=0.1)))
    assert sorted_rows(overlay.links.select("cost")) == [(0.75,), (2.25,)]
    with pytest.raises(OptionError, match=r"costs\.unit must be"):
        replace(own, unit=-1.0)
