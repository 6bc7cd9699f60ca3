"""Selection in rounds: bands of candidates by rank, and those of a band that greedy is sure to pick.

Take every topic's graph of components, with all candidates that join some of them. A candidate is safe if it is in the
minimum spanning forest, by rank, of every topic it joins: then greedy picks it, with the contribution that it has now.
Whether it is depends on candidates of lower rank only, so a band of the lowest ranks decides on its own members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.errors import GuardError
from overlay_spark.frames.buckets import buckets_for
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
SLICES = 1024
"""Where one rank has too many, they are cut by src into so many."""
ROWS_A_RUN = 1 << 20
"""A task brings edges down to their forest whenever it has so many more."""


def safe_links(
    problem: IndexedProblem,
    band: DataFrame,
    components: Components,
    unit_costs: bool,
    parts: int,
    options: FramesOptions,
) -> DataFrame:
    """A band (src, dst, cost, contribution) -> its safe links, with ``joined``: the components (a, b) joined by each.

    The band must hold every candidate of no higher rank than any of its own. Each of at most ``parts`` tasks first
    brings the edges it has down to their forest; what is left, fewer of a topic than it has nodes, meets in one task
    for each bucket of topics. Two shuffles: those edges by bucket, the edges of the forest by link.
    """
    n_buckets = buckets_of(problem, parts, options)
    edges = joined_components(band, components)
    if not components.small:
        edges = edges.coalesce(parts)  # a shuffled join has as many partitions as the session says
    bucket = F.pmod(components.topic_of(F.col("a")), F.lit(n_buckets)).alias("bucket")

    def whole(rows: pa.Table) -> pa.Table:
        return forest_of(rows, unit_costs)

    thinned = edges.mapInArrow(_thinning(unit_costs), EDGE)
    spread = thinned.repartition(max(n_buckets, components.n_parts), bucket)
    forest = spread.groupBy(bucket).applyInArrow(whole, EDGE)
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
    """How many buckets of topics keep most tasks' edges within ``frames.topic_rows``, where a single topic's are.

    Buckets are half as large on average, because topics are not alike.
    """
    return max(buckets_for(problem), 2 * parts * problem.n_subscriptions // options.topic_rows)


def edges_of(problem: IndexedProblem, parts: int, options: FramesOptions) -> int:
    """About the most edges that a task gets: of its own run, or of a bucket with the largest topic in it."""
    bucket = parts * problem.n_subscriptions // buckets_of(problem, parts, options)
    return max(ROWS_A_RUN, bucket + min(options.topic_rows, parts * problem.largest_topic))


@dataclass(frozen=True)
class Band:
    """The candidates of lowest rank, ``size`` of the ``left``: up to (``threshold``, ``last``) by (rank, src)."""

    threshold: float
    size: int
    left: int
    last: int | None = None
    """None where all of the rank ``threshold`` are in."""

    def holds(self, rank: Column) -> Column:
        """Whether a candidate of this rank is in."""
        if self.last is None:
            return rank <= self.threshold
        return (rank < self.threshold) | ((rank == self.threshold) & (F.col("src") <= self.last))


def next_band(
    problem: IndexedProblem, left: DataFrame, unit_costs: bool, options: FramesOptions, parts: int
) -> Band | None:
    """The lowest ranks of the candidates (src, dst, cost, contribution) that are left; None where none is.

    A share of them, and no more than one task can hold of a topic: from each of ``parts`` partitions come at most as
    many edges as the topic has nodes, and at most one a candidate. One job, and up to two more where ranks lie close
    or are alike; what is collected is a row for each bin of ranks or slice of nodes.
    """
    by = rank(unit_costs)
    bins = _counted(left, bin_of(by), by)
    total = sum(one.n for one in bins)
    if total == 0:
        return None
    most = total if parts * problem.largest_topic <= options.topic_rows else options.topic_rows
    wanted = min(most, max(options.least_band, math.ceil(options.band_share * total)))
    if bins[0].n <= most:
        size, threshold = _first(bins, wanted)
        return Band(threshold, size, total)
    finer = _counted(left.where(bin_of(by) == bins[0].bin), bin_of(by, BINS_A_DOUBLING * FINER), by)
    if finer[0].n <= most:
        size, threshold = _first(finer, wanted)
        return Band(threshold, size, total)
    lowest, src = finer[0].lowest, F.col("src")
    alike = _counted(left.where(by == lowest), F.floor(src * F.lit(float(SLICES)) / F.lit(problem.n_nodes)), src)
    if alike[0].n > most:
        raise GuardError(
            f"{alike[0].n:,} candidates of neighbouring nodes rank alike, at {lowest:g} units a topic joined, so that "
            f"a task may get so many edges of one topic; frames.topic_rows allows {most:,}. Set it higher, if your "
            f"workers have about {alike[0].n * BYTES_AN_EDGE >> 20:,} MiB to spare for each task."
        )
    size, last = _first(alike, wanted)
    return Band(lowest, size, total, int(last))


class Counted(NamedTuple):
    """How many candidates a bin has, and the lowest and highest value among them."""

    bin: int
    n: int
    lowest: float
    highest: float


def _counted(left: DataFrame, bin: Column, value: Column) -> list[Counted]:
    """The bins that have any, in order."""
    told = (F.count(F.lit(1)).alias("n"), F.min(value).alias("lowest"), F.max(value).alias("highest"))
    return sorted(Counted(*row) for row in left.groupBy(bin.alias("bin")).agg(*told).collect())


def _first(bins: list[Counted], wanted: int) -> tuple[int, float]:
    """The first bins, at least one, that have no more than ``wanted``: how many, and up to which value."""
    size, highest = bins[0].n, bins[0].highest
    for one in bins[1:]:
        if size + one.n > wanted:
            break
        size, highest = size + one.n, one.highest
    return size, highest
