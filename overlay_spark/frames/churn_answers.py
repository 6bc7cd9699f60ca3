"""What the refreshing task finds out, as rows: changed links, all topics and nodes, figures; or what is wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from overlay_spark.algorithms.refresh import BackupRows, Refreshed, faults, refreshed, renewed_backups
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.costs import LISTED
from overlay_spark.frames import churn_rows as rows
from overlay_spark.frames.churn_packs import packs_to_keep
from overlay_spark.frames.churn_rows import ChurnTask, numbers_of
from overlay_spark.instance import Links
from overlay_spark.options import Options
from overlay_spark.tables.audit import counted, one_or_many

WRONG_INPUT, WRONG_FEED, WRONG_LINKS = "input", "feed", "links"
TOO_LARGE, APART, BAD_VALUES = "too large", "apart", "values"
"""Kinds of faults the task tells of."""

ADD, REMOVE, UPDATE, TOPIC, NODE_NOW, BACKUP_NOW, FACT, FAULT, STATE = range(9)
"""Kinds of rows of the answer.

ADD, UPDATE    link (``a``, ``b``); ``numbers``: cost in units, shared topics, contribution, pick
REMOVE         link (``a``, ``b``); ``numbers``: cost in units, place among those removed
TOPIC          ``a``; ``numbers``: nodes, links, components, whether its sub-overlay is another than before, diameter,
               weighted diameter in units
NODE_NOW       ``a``; ``numbers``: topics, links, their cost in units, part, whether it represents it
BACKUP_NOW     ``b`` is a backup of ``a``; ``numbers``: its layer
FACT           the number ``a`` is ``numbers``
FAULT          ``a`` says what is wrong, ``b`` of which kind it is
STATE          ``packed`` rows, as the next refresh reads them; ``numbers``: the place of the pack
"""

ANSWER_DDL = "kind tinyint, a string, b string, numbers array<bigint>, packed binary"
ANSWER = pa.schema(
    [
        ("kind", pa.int8()),
        ("a", pa.string()),
        ("b", pa.string()),
        ("numbers", pa.list_(pa.int64())),
        ("packed", pa.binary()),
    ]
)
ROWS_A_BATCH = 1 << 16


def solve(task: ChurnTask, options: Options) -> Iterator[pa.RecordBatch]:
    """The task's answer as rows."""
    if task.strangers:
        kinds = [WRONG_INPUT if told.startswith("Table") else WRONG_FEED for told in task.strangers]
        yield from answer(FAULT, task.strangers, kinds)
        return
    started = time.perf_counter()
    found = refreshed(task.instance, task.stored, task.changed, options, task.components)
    seconds = time.perf_counter() - started
    wrong = faults(task.instance, found.links)
    if wrong:
        yield from _say(task, found, wrong)
        return
    yield from _links(task, found, seconds, options)


def _say(task: ChurnTask, found: Refreshed, wrong: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """What is wrong with the refreshed overlay; where listed links cannot connect topics, that is the input's fault."""
    if set(wrong) == {"apart"} and task.instance.costs.kind == LISTED:
        first = ", ".join(repr(t) for t in task.topic_ids.take(pa.array(wrong["apart"][:3])).to_pylist())
        n = len(wrong["apart"])
        text = (
            f"Table 'link_costs' has no links that connect {counted(n, 'topic[|s]')} any more (first: {first}). List "
            f"links between {one_or_many('[its|their]', n)} nodes."
        )
        yield from answer(FAULT, [text], [APART])
        return
    told = [f"{len(which)} {name}" for name, which in wrong.items()]
    yield from answer(FAULT, told, [WRONG_LINKS] * len(told))


def _links(task: ChurnTask, found: Refreshed, seconds: float, options: Options) -> Iterator[pa.RecordBatch]:
    """Changed links, all topics and nodes, and figures."""
    instance, links, stored = task.instance, found.links, task.stored
    n_kept = int(found.stays.sum())
    shared = found.sub.counts
    old = numbers_of(task.rows)
    last = int(old[:, 3].max(initial=-1))
    new = np.arange(n_kept, len(links))
    numbers = np.stack([links.cost, shared, links.contribution, np.arange(len(links))], axis=1).astype(np.int64)
    ids = task.node_ids.take(pa.array(links.src)), task.node_ids.take(pa.array(links.dst))
    step = np.arange(len(new))
    added = np.column_stack([numbers[new, :3], last + 1 + step, step])
    yield from answer(ADD, ids[0].take(pa.array(new)), ids[1].take(pa.array(new)), added)
    gone = task.rows.filter(pa.array(~found.stays)).sort_by([("a", "ascending"), ("b", "ascending")]).combine_chunks()
    cost = numbers_of(gone)[:, 0]
    removed = np.column_stack([cost, len(new) + np.arange(len(gone))])
    yield from answer(REMOVE, _one(gone, "a"), _one(gone, "b"), removed)
    before = old[found.stays]
    is_other = (before[:, 0] != links.cost[:n_kept]) | (before[:, 1] != shared[:n_kept])
    other = np.flatnonzero(is_other)
    updated = np.column_stack([numbers[other, :2], before[other, 2:]])
    yield from answer(UPDATE, ids[0].take(pa.array(other)), ids[1].take(pa.array(other)), updated)

    served = found.sub.topics
    is_changed = np.ones(len(links), bool)
    is_changed[:n_kept] = before[:, 0] != links.cost[:n_kept]
    touched = found.touched.copy()
    touched[served[np.repeat(is_changed, shared)]] = True
    touched[_served_by_gone(task, found)] = True
    sizes = instance.topic_sizes
    counts = [sizes, np.bincount(served, minlength=instance.n_topics), np.ones(instance.n_topics), touched]
    diameters = np.where(touched[:, None], -1, task.diameters)
    yield from answer(TOPIC, task.topic_ids, None, np.column_stack([*counts, diameters]))
    degree = links.degrees(instance.n_nodes)
    weighted = np.zeros(instance.n_nodes, np.int64)
    for ends in (links.src, links.dst):
        np.add.at(weighted, ends, links.cost)
    of_nodes = np.column_stack([np.diff(instance.offsets), degree, weighted, task.parts])
    yield from answer(NODE_NOW, task.node_ids, None, of_nodes)
    if instance.n_nodes <= options.refresh.backups_up_to:
        kept = renewed_backups(instance, links, task.backups, task.changed, options)
    else:
        kept = BackupRows(*[np.empty(0, np.int64)] * 3)
    who, backup = (task.node_ids.take(pa.array(nodes)) for nodes in (kept.node, kept.backup))
    yield from answer(BACKUP_NOW, who, backup, kept.layer.reshape(-1, 1))
    facts = {
        "links_before": len(stored.src),
        "links": len(links),
        "added": len(new),
        "removed": len(gone),
        "recosted": int((before[:, 0] != links.cost[:n_kept]).sum()),
        "updated": len(other),
        "nodes_before": task.known,
        "nodes_lost": task.left,
        "nodes": instance.n_nodes,
        "topics": instance.n_topics,
        "subscriptions": instance.n_subscriptions,
        "topics_touched": int(found.touched.sum()),
        "topics_apart": found.apart,
        "shadow_nodes": found.shadow,
        "cost": links.total_cost,
        "cost_before": int(stored.cost.sum()),
        "joined_before": task.joined_before,
        "joined": int(np.maximum(sizes - 1, 0).sum()),
        "max_degree": int(degree.max(initial=0)),
        "microseconds": int(seconds * 1e6),
    }
    yield from answer(FACT, list(facts), None, np.array(list(facts.values())).reshape(-1, 1))
    as_stored = np.vstack([np.hstack([numbers[:n_kept, :2], before[:, 2:]]), added[:, :4]])
    yield from _state(task, links, as_stored, diameters, kept)


def _state(
    task: ChurnTask, links: Links, numbers: NDArray[np.int64], diameters: NDArray[np.int64], backups: BackupRows
) -> Iterator[pa.RecordBatch]:
    """All that the next refresh has to know of this overlay, as the rows it reads."""
    instance, nodes, topics = task.instance, task.node_ids, task.topic_ids
    sizes = instance.topic_sizes.reshape(-1, 1), np.diff(instance.offsets).reshape(-1, 1)
    every_node, every_topic = np.arange(instance.n_nodes), np.arange(instance.n_topics)
    kept = (
        (rows.OLD_SUBSCRIPTION, _coded(instance.nodes, nodes), _coded(instance.topics, topics), None),
        (rows.LINK, _coded(links.src, nodes), _coded(links.dst, nodes), numbers),
        # whoever is new stands for no part
        (rows.OLD_NODE, _coded(every_node, nodes), None, np.hstack([sizes[1], task.parts.clip([-1, 0])])),
        (rows.OLD_TOPIC, _coded(every_topic, topics), None, np.hstack([sizes[0], diameters])),
        (rows.BACKUP, _coded(backups.node, nodes), _coded(backups.backup, nodes), backups.layer.reshape(-1, 1)),
    )
    place = 0
    for kind, a, b, values in kept:
        given = {"a": a, "b": b, **({} if values is None else dict(zip(rows.NUMBERS, values.T, strict=False)))}
        table = pa.table({name: column for name, column in given.items() if column is not None})
        for pack in packs_to_keep(kind, table):
            columns = (pa.array([STATE], pa.int8()), pa.nulls(1, pa.string()), pa.nulls(1, pa.string()))
            told = (pa.array([[place]], pa.list_(pa.int64())), pa.array([pack], pa.binary()))
            yield pa.RecordBatch.from_arrays([*columns, *told], schema=ANSWER)
            place += 1


def _coded(numbers: NDArray[Any], ids: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), ids)


def _served_by_gone(task: ChurnTask, found: Refreshed) -> Any:
    """Topics that links served which are gone, though both their nodes are there."""
    stored = task.stored
    lost = np.flatnonzero(~found.stays & (stored.src >= 0) & (stored.dst >= 0))
    gone = Links(stored.src[lost], stored.dst[lost], stored.cost[lost], stored.contribution[lost])
    return SubOverlays.of(task.instance, gone).topics


def _one(table: pa.Table, column: str) -> pa.Array:
    chunked = table.column(column)
    return chunked.combine_chunks() if len(chunked) else pa.array([], pa.string())


def answer(kind: int, a: Any, b: Any = None, numbers: NDArray[Any] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows of a kind; ``numbers`` has a row for each."""
    n = len(a)
    b = pa.nulls(n, pa.string()) if b is None else b
    width = 0 if numbers is None else numbers.shape[1]
    flat = pa.array(np.empty(0, np.int64) if numbers is None else numbers.astype(np.int64).reshape(-1))
    for start in range(0, n, ROWS_A_BATCH):
        end = min(n, start + ROWS_A_BATCH)
        ends = pa.array(np.arange(end - start + 1) * width, pa.int32())
        lists = pa.ListArray.from_arrays(ends, flat.slice(start * width, (end - start) * width))
        unpacked = pa.nulls(end - start, pa.binary())
        columns = [pa.array(np.full(end - start, kind, np.int8)), a[start:end], b[start:end], lists, unpacked]
        yield pa.RecordBatch.from_arrays([pa.array(c) if isinstance(c, list) else c for c in columns], schema=ANSWER)
