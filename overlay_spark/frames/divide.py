"""The divide step: parts of near nodes, of bounded size. They depend on the tables, the options and the seed only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.clustering import bisected, by_first, centres_of, merged, pieces_of
from overlay_spark.errors import InputError, OptionError
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.landmarks import landmark_points, landmark_sites
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import DivideOptions

log = logging.getLogger(__name__)

SITE, COORDINATES, LANDMARKS, RANDOM = "site", "coordinates", "landmarks", "random"
FILLED = 0.5
"""Cells are so many that their mean has this share of the most nodes of a part: few are too large then."""
MOST_CENTRES = 2048
SAMPLE = 20
"""Centres are found among so many nodes for each."""


@dataclass(frozen=True)
class Parts:
    """Parts of a problem, numbered from 0, by arrays with an entry for each.

    ``nodes`` (node, part) is settled. ``sizes`` are nodes and ``wanted`` subscriptions; ``places`` are rows of numbers
    that are alike where parts are near.
    """

    nodes: DataFrame
    sizes: NDArray[np.int64]
    wanted: NDArray[np.int64]
    places: NDArray[np.float64]
    by: str

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class _Cells:
    """Nodes in cells of any size: ``nodes`` (node, cell, wanted, point), cells numbered from 0, each at a place."""

    nodes: DataFrame
    count: int
    places: NDArray[np.float64]


def divide(problem: IndexedProblem, options: DivideOptions, seed: int, workspace: Workspace) -> Parts:
    """Cells by the criterion of the options, the small ones merged, the large ones split.

    The driver holds a sample of the nodes, and a few numbers for each cell. One shuffle, by cell, to count; one by part
    for cells that are too large, each of which is one task's work; one counts what came of them.
    """
    by = criterion(problem, options)
    cells = _CELLS[by](problem, options, seed, workspace)
    nodes = workspace.settle(cells.nodes)
    sizes, _ = _counted(nodes, "cell", cells.count)
    labels = merged(cells.places, sizes, options.least_nodes, options.part_nodes)
    totals = np.bincount(labels, sizes).astype(np.int64)
    pieces = np.array([pieces_of(int(n), options.part_nodes) for n in totals], np.int64)
    firsts = np.cumsum(pieces) - pieces
    told = pa.table(
        {"cell": np.arange(cells.count), "group": labels, "first": firsts[labels], "pieces": pieces[labels]}
    )
    spark = problem.nodes.sparkSession
    known = nodes.join(F.broadcast(spark.createDataFrame(told)), "cell")
    whole = known.where("pieces = 1").select("node", F.col("first").cast("int").alias("part"), "wanted")
    if (pieces > 1).any():
        split = known.where("pieces > 1").groupBy("group")
        whole = whole.union(split.applyInArrow(_splitter(options.part_nodes), "node int, part int, wanted int"))
    settled = workspace.settle(whole)
    workspace.drop(nodes)
    sizes, wanted = _counted(settled, "part", int(pieces.sum()))
    places = np.zeros((len(totals), cells.places.shape[1]))
    np.add.at(places, labels, cells.places)
    places = np.repeat(places / np.bincount(labels)[:, None], pieces, axis=0)
    log.info("%d parts by %s, of at most %d nodes.", len(sizes), by, sizes.max(initial=0))
    return Parts(settled.select("node", "part"), sizes, wanted, places, by)


def criterion(problem: IndexedProblem, options: DivideOptions) -> str:
    """What makes nodes near: as asked, or by what there is. One small job, where site labels may matter."""
    by_cost = COORDINATES if problem.link_costs is None and problem.site_costs is None else None
    if options.by == COORDINATES and by_cost is None:
        raise OptionError("divide.by is 'coordinates', but the costs are not given by coordinates. Use 'auto'.")
    if options.by == LANDMARKS and by_cost is not None:
        raise OptionError("divide.by is 'landmarks', but there is no table of costs. Use 'auto'.")
    if options.by not in ("auto", SITE):
        return options.by
    if problem.site_costs is not None:
        return SITE
    if options.by == "auto" and by_cost is not None:
        return by_cost
    unlabelled = problem.nodes.where("label IS NULL").count()
    if options.by == SITE and unlabelled:
        raise InputError([f"divide.by is 'site', but {unlabelled:,} of the nodes have no site. Use 'auto'."])
    return LANDMARKS if unlabelled else SITE


def _counted(nodes: DataFrame, by: str, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes and subscriptions of each cell or part; a row for each passes through the driver."""
    counts = nodes.groupBy(by).agg(F.count(F.lit(1)).alias("nodes"), F.sum("wanted").alias("wanted")).toArrow()
    sizes, wanted = np.zeros(n, np.int64), np.zeros(n, np.int64)
    places = counts.column(by).to_numpy()
    sizes[places], wanted[places] = counts.column("nodes").to_numpy(), counts.column("wanted").to_numpy()
    return sizes, wanted


def _splitter(part_nodes: int) -> Callable[[pa.Table], pa.Table]:
    """Cut a group of cells into pieces of near nodes, as many as :func:`pieces_of` says."""

    def split(rows: pa.Table) -> pa.Table:
        rows = rows.sort_by("node")
        pieces = bisected(_matrix(rows.column("point")), np.ones(len(rows)), part_nodes)
        part = rows.column("first").to_numpy() + by_first(pieces)
        return pa.table({"node": rows.column("node"), "part": part.astype(np.int32), "wanted": rows.column("wanted")})

    return split


def _matrix(points: pa.ChunkedArray) -> NDArray[np.float64]:
    """Lists of one length as rows."""
    flat = points.combine_chunks()
    return np.array(flat.flatten(), np.float64).reshape(len(flat), -1) if len(flat) else np.empty((0, 0))


WANTED = "size(topics) AS wanted"
NOWHERE = "CAST(array() AS array<double>)"


def _by_site(problem: IndexedProblem, options: DivideOptions, seed: int, workspace: Workspace) -> _Cells:
    """A cell for each site: its place is what links to a few landmark sites cost, or where one of its nodes is.

    Sites whose nodes have no coordinates, or not as many each, are all as near to one another, and cut by the order of
    their nodes. A row for each site passes through the driver.
    """
    if problem.site_costs is not None:
        places = landmark_sites(problem)
        cell, point = F.col("site").alias("cell"), F.expr(NOWHERE).alias("point")
        nodes = problem.nodes.select("node", cell, F.expr(WANTED), point)
        return _Cells(nodes, len(places), places)
    point = F.coalesce("coordinates", F.expr(NOWHERE)).alias("point")
    known = problem.nodes.select("node", "label", F.expr(WANTED), point)
    sizes = [F.min(F.size("point")).alias("least"), F.max(F.size("point")).alias("most")]
    found = known.groupBy("label").agg(F.min_by("point", "node").alias("place"), *sizes).orderBy("label").toArrow()
    labels = pa.table({"label": found.column("label"), "cell": pa.array(np.arange(len(found)), pa.int32())})
    numbered = known.join(problem.nodes.sparkSession.createDataFrame(labels), "label")
    alike = len({size for name in ("least", "most") for size in found.column(name).to_pylist()}) == 1
    places = _matrix(found.column("place")) if alike else np.zeros((len(found), 0))
    nodes = numbered.select("node", "cell", "wanted", "point" if alike else F.expr(NOWHERE).alias("point"))
    return _Cells(nodes, len(found), places)


def _by_coordinates(problem: IndexedProblem, options: DivideOptions, seed: int, workspace: Workspace) -> _Cells:
    points = problem.nodes.select("node", F.expr(WANTED), F.col("coordinates").alias("point"))
    return _clustered(problem, points, options, seed)


def _by_landmarks(problem: IndexedProblem, options: DivideOptions, seed: int, workspace: Workspace) -> _Cells:
    """k-means where the coordinates of a node are what links to a few landmarks cost."""
    points = workspace.settle(problem.nodes.select("node", F.expr(WANTED)).join(landmark_points(problem), "node"))
    return _clustered(problem, points, options, seed)


def _clustered(problem: IndexedProblem, points: DataFrame, options: DivideOptions, seed: int) -> _Cells:
    """k-means on a sample, on the driver, then the nearest centre of every node, in tasks.

    Our own: sums of the one in Spark's library depend on how rows are split, and serverless Spark has none.
    """
    k = min(MOST_CENTRES, n_cells(problem.n_nodes, options))
    every = max(1, problem.n_nodes // (SAMPLE * k))
    drawn = points.where(F.pmod(F.xxhash64("node", F.lit(seed)), F.lit(every)) == 0).select("node", "point").toArrow()
    drawn = drawn if len(drawn) else points.select("node", "point").orderBy("node").limit(1).toArrow()
    centres = centres_of(_matrix(drawn.sort_by("node").column("point")), k)

    def assign(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from overlay_spark.kernels.nearest import nearest

        for batch in batches:
            cell = nearest(_matrix(pa.chunked_array([batch.column("point")])), centres)
            columns = [batch.column("node"), pa.array(cell), batch.column("wanted"), batch.column("point")]
            yield pa.RecordBatch.from_arrays(columns, ["node", "cell", "wanted", "point"])

    ddl = "node int, cell int, wanted int, point array<double>"
    return _Cells(points.select("node", "wanted", "point").mapInArrow(assign, ddl), len(centres), centres)


def _by_chance(problem: IndexedProblem, options: DivideOptions, seed: int, workspace: Workspace) -> _Cells:
    k = n_cells(problem.n_nodes, options)
    cell = F.pmod(F.xxhash64("node", F.lit(seed)), F.lit(k)).cast("int").alias("cell")
    nodes = problem.nodes.select("node", cell, F.expr(WANTED), F.expr(NOWHERE).alias("point"))
    return _Cells(nodes, k, np.zeros((k, 0)))


def n_cells(n_nodes: int, options: DivideOptions) -> int:
    """About how many parts there are of so many nodes."""
    return 1 if n_nodes <= options.part_nodes else -(-n_nodes // max(1, int(FILLED * options.part_nodes)))


_CELLS = {SITE: _by_site, COORDINATES: _by_coordinates, LANDMARKS: _by_landmarks, RANDOM: _by_chance}
