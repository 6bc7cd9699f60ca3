"""Bands by rank, and the links of a band that are safe: by definition, whatever the tasks see first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from overlay_spark.costs import point_costs
from overlay_spark.errors import GuardError
from overlay_spark.frames import selection as module
from overlay_spark.frames.contributions import rank
from overlay_spark.frames.selection import Band, buckets_of, edges_of, next_band, safe_links
from overlay_spark.options import FramesOptions
from tests import checks, naive
from tests.frames.growing import Growth

N = 16
WANTS = [{t for t in range(6) if (3 * v + t * t) % 5 < 3} for v in range(N)]


def instance():
    places = np.array([[(v * 7) % N, v % 3] for v in range(N)], float)
    return checks.instance_of(WANTS, 6, point_costs(places, np.zeros(N), 0.5))


def safe_by_definition(growth, unit_costs, threshold):
    """Candidates up to the threshold that no lower ones make needless in any topic they join."""
    costs = naive.allowed(growth.instance)
    ranks = {pair: ((1 if unit_costs else costs[pair]) / n, *pair) for pair, n in growth.contributions().items()}

    def is_needless(pair, topic):
        u, v = pair
        lower = [(a, b) for (a, b), r in ranks.items() if r < ranks[pair] and topic in growth.twin.joined(a, b)]
        labels = growth.twin.labels[topic]
        edges = [(labels[a], labels[b]) for a, b in lower]
        found = naive.components(set(labels.values()), edges)
        return found[labels[u]] == found[labels[v]]

    return {
        pair: sorted(growth.twin.joined(*pair))
        for pair in ranks
        if ranks[pair][0] <= threshold and not any(is_needless(pair, topic) for topic in growth.twin.joined(*pair))
    }


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("unit_costs, buckets, parts", [(False, 5, 4), (True, 1, 1)])
def test_safe_links__are_those_by_definition(spark, workspace, monkeypatch, unit_costs, buckets, parts):
    monkeypatch.setattr(module, "ROWS_A_RUN", 3)
    growth = Growth.of(spark, workspace, instance())
    for pairs in ([], [(0, 7), (2, 9)], [(3, 12), (1, 10)]):
        if pairs:
            growth.add(pairs)
        growth.refresh()
        ranks = sorted(row[0] for row in growth.left.select(rank(unit_costs)).collect())
        for threshold in (ranks[len(ranks) // 4], ranks[-1]):
            band = growth.left.where(rank(unit_costs) <= threshold).repartition(parts, "dst")
            problem, chosen = growth.components.problem, FramesOptions(topic_rows=2 * 4 * 50 // buckets)
            rows = safe_links(problem, band, growth.components, unit_costs, 4, chosen).collect()
            found = {(r["src"], r["dst"]): sorted(a // N for a, _ in r["joined"]) for r in rows}
            expected = safe_by_definition(growth, unit_costs, threshold)
            assert found == expected
            assert 0 < len(found) < len(ranks)
            for row in rows:
                assert row["contribution"] == len(row["joined"])
                assert all(a // N == b // N and a != b for a, b in row["joined"])


def test_thinning__keeps_few_edges_at_a_time_and_the_forest_of_all(monkeypatch):
    rng = np.random.default_rng(5)
    n = 400
    rows = {
        "src": pa.array(np.arange(n), pa.int32()),
        "dst": pa.array(np.arange(n) + n, pa.int32()),
        "cost": pa.array(rng.integers(1, 9, n)),
        "contribution": pa.array(rng.integers(1, 4, n), pa.int32()),
        "a": pa.array(rng.integers(0, 10, n)),
        "b": pa.array(rng.integers(0, 10, n)),
    }
    table = pa.table(rows)
    seen = []
    forest_of = module.forest_of
    monkeypatch.setattr(module, "ROWS_A_RUN", 50)
    monkeypatch.setattr(module, "forest_of", lambda rows, unit: seen.append(rows.num_rows) or forest_of(rows, unit))
    thinned = pa.Table.from_batches(module._thinning(False)(table.to_batches(max_chunksize=20)))
    expected = forest_of(table, False)
    assert forest_of(thinned, False).equals(expected)
    assert thinned.num_rows == expected.num_rows == 9
    assert len(seen) > 5
    assert max(seen) <= 9 + 50 + 20
    assert list(module._thinning(False)(iter([]))) == []


def frame_of(spark, ranks):
    return spark.createDataFrame(
        [(i, i + 1, cost, 1) for i, cost in enumerate(ranks)], "src int, dst int, cost bigint, contribution int"
    )


def band_of(left, chosen, unit_costs=False, parts=1, largest=10):
    return next_band(Problem(0, largest), left, unit_costs, chosen, parts)


@pytest.mark.spark
def test_next_band__is_a_share_of_what_is_left_and_at_least_so_many(spark):
    left = frame_of(spark, [2**i for i in range(20)])
    few = FramesOptions(band_share=0.25, least_band=1)
    assert band_of(left, few) == Band(16.0, 5, 20)
    assert band_of(left, FramesOptions(band_share=0.25, least_band=7)) == Band(64.0, 7, 20)
    assert band_of(left, FramesOptions()) == Band(2.0**19, 20, 20)
    assert band_of(left.limit(0), few) is None


@pytest.mark.spark
def test_next_band__takes_all_of_one_rank_and_no_more_than_a_task_can_hold(spark):
    left = frame_of(spark, [5] * 6 + [2**i for i in range(4, 14)])
    few = FramesOptions(band_share=0.1, least_band=1)
    assert band_of(left, few) == Band(5.0, 6, 16)
    assert band_of(left, few, unit_costs=True) == Band(1.0, 16, 16)
    tight = FramesOptions(band_share=1.0, topic_rows=8)
    assert band_of(left, tight, parts=2, largest=4) == Band(2.0**13, 16, 16)  # two tasks send four edges each, at most
    assert band_of(left, tight, parts=3, largest=4) == Band(32.0, 8, 16)


@pytest.mark.spark
def test_next_band__parts_ranks_that_lie_close_and_those_that_are_alike_by_src(spark):
    tight = FramesOptions(band_share=1.0, topic_rows=4)
    close = frame_of(spark, [10**9 + 10**5 * i for i in range(10)])
    assert band_of(close, tight, parts=3) == Band(10**9 + 3 * 10**5, 4, 10)
    alike = frame_of(spark, [9, 7, 7, 9, *[7] * 6])
    band = band_of(alike, tight, parts=3)
    assert band == Band(7.0, 4, 10, last=5)
    assert sorted(row["src"] for row in alike.where(band.holds(rank(False))).collect()) == [1, 2, 4, 5]
    both = Band(8.0, 9, 10, last=3)
    assert sorted(row["src"] for row in frame_of(spark, [8] * 6 + [7, 9]).where(both.holds(rank(False))).collect()) == [
        *range(4),
        6,
    ]


@pytest.mark.spark
def test_next_band__refuses_more_of_a_rank_and_of_few_nodes_than_a_task_can_hold(spark):
    star = spark.createDataFrame(
        [(3, i, 7, 1) for i in range(4, 14)], "src int, dst int, cost bigint, contribution int"
    )
    with pytest.raises(GuardError) as refusal:
        band_of(star, FramesOptions(band_share=1.0, topic_rows=4), parts=3)
    assert str(refusal.value) == (
        "10 candidates of neighbouring nodes rank alike, at 7 units a topic joined, so that a task may get so many edges "
        "of one topic; frames.topic_rows allows 4. Set it higher, if your workers have about 0 MiB to spare for each "
        "task."
    )


class Problem:
    n_nodes = 20

    def __init__(self, n_subscriptions, largest_topic):
        self.n_subscriptions, self.largest_topic = n_subscriptions, largest_topic


def test_buckets__keep_what_most_tasks_get_within_the_rows_of_a_topic():
    options = FramesOptions(topic_rows=1_000_000)
    assert buckets_of(Problem(500, 50), 2, options) == 1
    assert buckets_of(Problem(150_000, 900), 10, options) == 7
    assert buckets_of(Problem(6_000_000, 9000), 1000, options) == 12_000
    assert edges_of(Problem(500, 50), 2, options) == module.ROWS_A_RUN
    for rows in (5_000_000, 8_000_000):
        edges = edges_of(Problem(6_000_000, 9000), 1000, FramesOptions(topic_rows=rows))
        assert edges == pytest.approx(1.5 * rows, rel=0.01)
    assert edges_of(Problem(6_000_000, 900), 1000, FramesOptions()) == pytest.approx(3_400_000, rel=0.01)
