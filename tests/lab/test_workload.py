"""Workloads as tables: what is written, from whatever tasks."""

from __future__ import annotations

import pytest

from overlay_spark.lab.plan import plan_workload
from overlay_spark.lab.workload import workload_tables
from overlay_spark.options import Options, WorkloadOptions
from overlay_spark.tables import catalog
from overlay_spark.workloads.interests import subscriptions
from overlay_spark.workloads.latencies import pair_costs, pair_numbers, random_points
from tests.problems import sorted_rows


def planned(**workload):
    return plan_workload(Options(workload=WorkloadOptions(nodes=23, topics=12, least=2, most=6, **workload)))


@pytest.mark.spark
@pytest.mark.parametrize("sizes, seed", [("uniform", 0), ("power", 5), ("bernoulli", 5)])
def test_workload__is_what_the_arrays_are(spark, sizes, seed):
    made = planned(sizes=sizes, seed=seed)
    tables = workload_tables(spark, made)
    nodes, topics = subscriptions(made.interests, range(23), seed)
    expected = [(f"node-{v:02d}", f"topic-{t:02d}") for v, t in zip(nodes.tolist(), topics.tolist(), strict=True)]
    assert sorted_rows(tables[catalog.SUBSCRIPTIONS]) == sorted(expected)
    places = random_points(range(23), 2, 100.0, seed).tolist()
    rows = [(row["node_id"], row["coordinates"], row["height"]) for row in tables[catalog.NODES].collect()]
    assert sorted(rows) == [(f"node-{v:02d}", place, 0.0) for v, place in enumerate(places)]
    assert set(tables) == {catalog.SUBSCRIPTIONS, catalog.NODES}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("costs", ["plane", "clusters", "pairs"])
def test_workload__does_not_depend_on_tasks(spark, costs):
    expected = {table.name: sorted_rows(frame) for table, frame in workload_tables(spark, planned(costs=costs)).items()}
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    try:
        tables = workload_tables(spark, planned(costs=costs), rows_a_task=4)
        assert {table.name: sorted_rows(frame) for table, frame in tables.items()} == expected
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    if costs == "pairs":
        row = next(row for row in expected["link_costs"] if row[:2] == ("node-03", "node-17"))
        assert row[2] == pair_costs(pair_numbers([3], [17]), 1.0, 100.0, 0)[0]
        assert len(expected["link_costs"]) == 23 * 22 // 2
    if costs == "clusters":
        assert len(expected["site_costs"]) == 10 * 11 // 2
        assert {row[1] for row in expected["nodes"]} <= {f"cluster-{i}" for i in range(10)}
