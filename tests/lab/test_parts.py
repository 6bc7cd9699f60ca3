"""The benchmark of parts: what it tells is what the two engines did with one problem."""

from __future__ import annotations

import io

import numpy as np
import pytest

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.benchmark import Case
from overlay_spark.lab.parts import CLUSTERS, INNER, OUTER, figures_of, instance_of, measure_parts
from overlay_spark.options import DivideOptions, Options


def test_clusters__are_sites_of_about_a_hundred_nodes():
    instance = instance_of(Case(1000, 110, CLUSTERS), None, 4)
    assert sorted(set(instance.costs.sites.tolist())) == list(range(10))
    assert set(np.diag(instance.costs.table).tolist()) == {1000 * INNER}
    assert set(instance.costs.table[~np.eye(10, dtype=bool)].tolist()) == {1000 * OUTER}


@pytest.mark.slow
@pytest.mark.spark
def test_measure_parts__sets_one_problem_in_parts_beside_the_whole(spark):
    case = Case(300, 110, CLUSTERS)
    options = Options(divide=DivideOptions(least_nodes=50, join_parts=2))
    (found,) = measure_parts(spark, [case], None, options, Steps(io.StringIO()))
    expected = greedy(instance_of(case, None, 0))
    assert (found.kernel_links, found.kernel_cost) == (len(expected), expected.total_cost)
    assert found.parts == 3
    assert found.levels == ("inner", "level-1", "driver")
    assert found.cost > found.kernel_cost
    assert found.task_bytes > 50 << 20
    assert found.dearer == pytest.approx(found.cost / found.kernel_cost - 1)
    assert found.ratio == found.seconds / found.kernel_seconds > 0
    told = {(series, metric): value for _, _, series, _, _, metric, value, _ in figures_of([found], 3)}
    assert told["divide", "links"] == found.links
    assert told["kernel", "cost"] == found.kernel_cost
