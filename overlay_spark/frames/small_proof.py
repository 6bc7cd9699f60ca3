"""An overlay of a small problem proved right and measured at once, in one task, from what one task indexed.

What is wrong with an overlay, and how it is said, only :mod:`overlay_spark.frames.verification` tells: here a proof is
given up as soon as there may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from overlay_spark.frames.ids import places_of
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.metrics import Figures, metrics_of
from overlay_spark.frames.outputs import Measured, priced
from overlay_spark.frames.pricing import units
from overlay_spark.frames.small_rows import MOST_ROWS, Doubtful, in_number, in_pieces, items_of, require, struct_of
from overlay_spark.frames.workspace import Workspace
from overlay_spark.instance import Links
from overlay_spark.tables import catalog

TOPICS = pa.struct(
    [
        ("topic_id", pa.string()),
        *((name, pa.int32()) for name in ("nodes", "links", "components", "diameter")),
        ("weighted_diameter", pa.int64()),
    ]
)
NODES = pa.struct(
    [
        ("node_id", pa.string()),
        ("topics", pa.int32()),
        ("degree", pa.int32()),
        ("weighted_degree", pa.int64()),
        ("part_id", pa.int32()),
        ("representative", pa.bool_()),
    ]
)
ITEMS = {"topics": TOPICS, "nodes": NODES}
ANSWER = pa.schema([("figures", pa.list_(pa.int64())), *((name, pa.list_(items)) for name, items in ITEMS.items())])
"""``figures`` are null but in the first row, and empty there where the proof was given up."""
LINK = "struct<src:string,dst:string,cost:bigint>"


def prove_small(
    problem: IndexedProblem, links: DataFrame, diameter_max_nodes: int, workspace: Workspace
) -> Measured | None:
    """LINKS of a problem that one task indexed -> measured, if there is nothing wrong; else None. One task."""
    assert problem.packed is not None
    unit, raw = problem.unit, (problem.raw.nodes, problem.raw.topics, problem.raw.subscriptions)
    priced_by = problem.priced_by

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from answer(pa.Table.from_batches(batches), raw, priced_by, unit, diameter_max_nodes)

    index = problem.packed.drop("facts")
    all_links = links.limit(MOST_ROWS + 1).agg(
        F.collect_list(F.struct("src", "dst", units(F.col("cost"), unit).alias("cost"))).alias("links")
    )
    nothing = [F.lit(None).cast(type).alias(name) for name, type in index.dtypes]
    read = index.withColumn("links", F.lit(None).cast(f"array<{LINK}>")).union(all_links.select(*nothing, "links"))
    found = workspace.settle(read.coalesce(1).mapInArrow(run, from_arrow_schema(ANSWER)))
    [told] = found.where("figures IS NOT NULL").select("figures").collect()
    if not told["figures"]:
        return None
    topics, nodes = (found.select(F.inline(name)) for name in ITEMS)
    return Measured(
        priced(problem, topics, catalog.OVERLAY_TOPICS, "weighted_diameter"),
        priced(problem, nodes, catalog.OVERLAY_NODES, "weighted_degree"),
        metrics_of(problem, Figures(*told["figures"])),
    )


class Given(NamedTuple):
    """A problem in the order of its nodes and topics, and the overlay's links between their numbers."""

    node_ids: pa.Array
    topic_ids: pa.Array
    offsets: NDArray[np.int64]
    wanted: NDArray[np.int32]
    links: Links


def answer(
    rows: pa.Table, raw: tuple[int, int, int], priced_by: str, unit: float, diameter_max_nodes: int
) -> Iterator[pa.RecordBatch]:
    """Rows of ``ANSWER``. ``raw`` is how many nodes, topics and subscriptions there are; ``priced_by`` names the column
    that says what links cost."""
    try:
        given = given_in(rows, priced_by, unit)
        require_right(given, raw)
    except Doubtful:
        yield pa.RecordBatch.from_pylist([{"figures": []}], schema=ANSWER)
        return
    figures, found = measured(given, diameter_max_nodes)
    yield from in_pieces(figures, found, ANSWER)


def given_in(rows: pa.Table, priced_by: str, unit: float) -> Given:
    """What the rows of an index and of links say; links have the costs that they should have, or are doubtful."""
    nodes, topics = in_number(rows, "nodes", "node"), in_number(rows, "topics", "topic")
    lists = nodes.field("topics")
    links = items_of(rows, "links")
    require(len(links) <= MOST_ROWS)
    ends = [places_of(nodes.field("node_id"), links.field(end)) for end in ("src", "dst")]
    src, dst = np.minimum(*ends), np.maximum(*ends)
    require((src >= 0).all() and (src < dst).all())
    pairs = np.sort(src * len(nodes) + dst)
    require((np.diff(pairs) > 0).all())
    cost = links.field("cost").to_numpy()
    require((_prices(rows, priced_by, nodes, src, dst, unit) == cost).all())
    return Given(
        nodes.field("node_id"),
        topics.field("topic_id"),
        np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())]).astype(np.int64),
        lists.flatten().to_numpy(),
        Links(src.astype(np.int32), dst.astype(np.int32), cost, np.zeros(len(src), np.int32)),
    )


def _prices(
    rows: pa.Table, by: str, nodes: pa.StructArray, src: NDArray[np.int64], dst: NDArray[np.int64], unit: float
) -> NDArray[np.int64]:
    """What each link costs; -1 where it may not be used."""
    if by == "link_costs":
        return _found(items_of(rows, by), "src", "dst", src, dst)
    if by == "site_costs":
        site = nodes.field("site").to_numpy()
        return _found(items_of(rows, by), "site_a", "site_b", site[src], site[dst])
    points = nodes.field("coordinates").flatten().to_numpy().reshape(len(nodes), -1)
    height = nodes.field("height").to_numpy()
    squares = np.zeros(len(src))
    for x in points.T:
        squares += (x[src] - x[dst]) * (x[src] - x[dst])
    priced: NDArray[np.int64] = np.maximum(
        1, np.floor((np.sqrt(squares) + (height[src] + height[dst])) / unit + 0.5)
    ).astype(np.int64)
    return priced


def _found(costs: pa.StructArray, a: str, b: str, src: NDArray[Any], dst: NDArray[Any]) -> NDArray[np.int64]:
    one, other = (costs.field(name).to_numpy().astype(np.int64) for name in (a, b))
    width = max(ends.max(initial=0) for ends in (one, other, src, dst)) + 1
    order = np.argsort(one * width + other)
    keys = np.append((one * width + other)[order], -1)  # the last is no pair's
    asked = src.astype(np.int64) * width + dst
    at = np.searchsorted(keys[:-1], asked)
    found: NDArray[np.int64] = np.where(keys[at] == asked, np.append(costs.field("cost").to_numpy()[order], -1)[at], -1)
    return found


def require_right(given: Given, raw: tuple[int, int, int]) -> None:
    """Every node, topic and subscription there is was seen, all topics are walked through, and all links of use."""
    from overlay_spark.kernels.proof import walked

    n_topics, wanted, src, dst = len(given.topic_ids), given.wanted, given.links.src, given.links.dst
    is_wanted = np.bincount(wanted, minlength=n_topics) > 0
    require((len(given.node_ids), n_topics, len(wanted)) == raw and len(is_wanted) == n_topics and is_wanted.all())
    unreached, used = walked(n_topics, given.offsets, wanted, src, dst)
    require((unreached == 0).all() and used.all())


def measured(given: Given, diameter_max_nodes: int) -> tuple[Figures, dict[str, pa.StructArray]]:
    """An overlay that is right in figures, and the items of ``ANSWER``."""
    from overlay_spark.instance import topic_shapes

    n_nodes, links = len(given.node_ids), given.links
    shapes = topic_shapes(len(given.topic_ids), given.offsets, given.wanted, links, diameter_max_nodes)
    ends, twice = np.concatenate([links.src, links.dst]), np.concatenate([links.cost, links.cost])
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(n_nodes + 1))
    weighted = np.diff(np.concatenate([[0], np.cumsum(twice[order])])[starts])
    degree = np.diff(starts)
    there = shapes[:, 3] >= 0
    figures = Figures(
        topics=len(shapes),
        links=len(links),
        cost=int(links.cost.sum()),
        max_degree=int(degree.max(initial=0)),
        measured=int(there.sum()),
        largest=int(shapes[there, 3].max(initial=0)),
        hops=int(shapes[there, 3].sum()),
        path=int(shapes[there, 4].sum()),
    )
    columns = [pa.array(column, mask=column < 0) for column in shapes.T]
    parts = pa.nulls(n_nodes, pa.int32()), pa.array(np.zeros(n_nodes, bool))
    return figures, {
        "topics": struct_of(TOPICS, given.topic_ids, *columns),
        "nodes": struct_of(NODES, given.node_ids, np.diff(given.offsets), degree, weighted, *parts),
    }
