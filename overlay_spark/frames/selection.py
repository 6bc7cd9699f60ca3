"""Selection in rounds: bands of candidates by rank, and those of a band that greedy is sure to pick.

Take every topic's graph of components, with all candidates that join some of them. A candidate is safe if it is in the
minimum spanning forest, by rank, of every topic it joins: then greedy picks it, with the contribution that it has now.
Whether it is depends on candidates of lower rank only, so a band of the lowest ranks decides on its own members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.errors import GuardError
from overlay_spark.frames.buckets import SUBSCRIPTIONS_PER_BUCKET
from overlay_spark.frames.components import Components
from overlay_spark.frames.contributions import BINS_A_DOUBLING, bin_of, joined_components, rank
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.options import FramesOptions

EDGE_COLUMNS = ["src", "dst", "cost", "contribution", "a", "b"]
EDGE = "src int, dst int, cost bigint, contribution int, a bigint, b bigint"
BYTES_AN_EDGE = 150
"""What a task holds for an edge while it brings edges down to their forest."""
FINER = 4096
"""Where one bin of ranks has too many candidates, it is cut into so many."""
ROWS_A_RUN = 1 << 20
"""A task brings edges down to their forest whenever it has so many more."""


def safe_links(band: DataFrame, components: Components, unit_costs: bool, n_buckets: int) -> DataFrame:
    """A band (src, dst, cost, contribution) -> its safe links, with ``joined``: the components (a, b) joined by each.

    The band must hold every candidate of no higher rank than any of its own. Each task first brings the edges it has
    down to their forest; what is left, fewer of a topic than it has nodes, meets in one task for each of ``n_buckets``
    buckets of topics. Two shuffles: those edges by bucket, the edges of the forest by link.
    """
    edges = joined_components(band, components)
    thinned = edges.mapInArrow(_thinning(unit_costs), EDGE)
    bucket = F.pmod(components.topic_of(F.col("a")), F.lit(n_buckets)).alias("bucket")

    def whole(rows: pa.Table) -> pa.Table:
        return forest_of(rows, unit_costs)

    forest = thinned.repartition(components.n_parts, bucket).groupBy(bucket).applyInArrow(whole, EDGE)
    links = forest.repartition(components.n_parts, "src", "dst").groupBy("src", "dst", "cost", "contribution")
    voted = links.agg(F.collect_list(F.struct("a", "b")).alias("joined"))
    return voted.where(F.size("joined") == F.col("contribution"))


def _thinning(unit_costs: bool) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        rows, enough = 0, ROWS_A_RUN
        for batch in batches:
            held.append(batch)
            rows += batch.num_rows
            if rows >= enough:
                held = forest_of(pa.Table.from_batches(held), unit_costs).to_batches()
                rows = sum(batch.num_rows for batch in held)
                enough = rows + ROWS_A_RUN
        if held:
            yield from forest_of(pa.Table.from_batches(held), unit_costs).to_batches()

    return run


def forest_of(rows: pa.Table, unit_costs: bool) -> pa.Table:
    """Edges in any order -> those of their minimum spanning forest."""
    from overlay_spark.kernels.forests import forest

    src, dst, cost, contribution, a, b = (rows.column(name).to_numpy() for name in EDGE_COLUMNS)
    ranks = (1 if unit_costs else cost) / contribution
    return rows.select(EDGE_COLUMNS).take(forest(ranks, src, dst, a, b))


def buckets_of(problem: IndexedProblem, parts: int, options: FramesOptions) -> int:
    """How many buckets of topics keep a task's edges within ``frames.topic_rows``, where a single topic's are."""
    least = problem.n_subscriptions // SUBSCRIPTIONS_PER_BUCKET
    return max(1, least, parts * problem.n_subscriptions // options.topic_rows)


def edges_of(problem: IndexedProblem, parts: int, options: FramesOptions) -> int:
    """About the most edges that a task gets, of a bucket of topics or before it thins its own."""
    bucket = parts * problem.n_subscriptions // buckets_of(problem, parts, options)
    return max(ROWS_A_RUN, bucket, min(options.topic_rows, parts * problem.largest_topic))


@dataclass(frozen=True)
class Band:
    """The candidates of lowest rank: those up to ``threshold``, ``size`` of the ``left``."""

    threshold: float
    size: int
    left: int


def next_band(left: DataFrame, unit_costs: bool, options: FramesOptions, parts: int, largest_topic: int) -> Band | None:
    """The lowest ranks of the candidates (src, dst, cost, contribution) that are left; None where none is.

    A share of them, and no more than one task can hold of a topic: from each of ``parts`` partitions come at most as
    many edges as the topic has nodes, and at most one a candidate. One job, and one more where ranks lie close; what is
    collected is a row for each bin of ranks.
    """
    bins = _counted(left, rank(unit_costs), BINS_A_DOUBLING)
    total = sum(n for _, n, _ in bins)
    if total == 0:
        return None
    most = total if parts * largest_topic <= options.topic_rows else options.topic_rows
    wanted = min(most, max(options.least_band, math.ceil(options.band_share * total)))
    first, n, _ = bins[0]
    if n > most:
        alike = left.where(bin_of(rank(unit_costs), BINS_A_DOUBLING) == first)
        bins = _counted(alike, rank(unit_costs), BINS_A_DOUBLING * FINER)
        if bins[0][1] > most:
            raise GuardError(
                f"{bins[0][1]:,} candidates rank alike, at {bins[0][2]:g} units a topic joined, so that a task may get "
                f"so many edges of one topic; frames.topic_rows allows {most:,}. Set it higher, if your workers have "
                f"about {bins[0][1] * BYTES_AN_EDGE >> 20:,} MiB to spare for each task."
            )
    threshold, size = bins[0][2], bins[0][1]
    for _, n, highest in bins[1:]:
        if size + n > wanted:
            break
        threshold, size = highest, size + n
    return Band(threshold, size, total)


def _counted(left: DataFrame, rank: Column, bins_a_doubling: int) -> list[tuple[int, int, float]]:
    """(bin, how many candidates, the highest rank) of each bin that has any, by rising rank."""
    counts = left.groupBy(bin_of(rank, bins_a_doubling).alias("bin")).agg(
        F.count(F.lit(1)).alias("n"), F.max(rank).alias("highest")
    )
    return sorted((row["bin"], row["n"], row["highest"]) for row in counts.collect())
