"""Arrays from the rows that the refreshing task reads, and its answer as rows: ids are text on both sides.

Only this task sees ids, because numbering them beforehand would cost more than all it does: nodes and topics are
numbered here, in the order of their ids' UTF-8 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from overlay_spark.algorithms.refresh import BackupRows, Changed, Stored
from overlay_spark.ascending import places_among
from overlay_spark.costs import Costs, listed_costs, point_costs, site_costs
from overlay_spark.frames.ids import Numbered, in_order, numbered, places_of
from overlay_spark.instance import Instance
from overlay_spark.tables.audit import counted, one_or_many

(
    SUBSCRIPTION,
    NODE,
    COORDINATE,
    LINK_COST,
    SITE_COST,
    LINK,
    CHANGE,
    BACKUP,
    OLD_NODE,
    OLD_TOPIC,
    COMPONENT,
    OLD_SUBSCRIPTION,
) = range(12)
"""Kinds of rows the task reads, all of the same columns.

SUBSCRIPTION   node ``a`` wants topic ``b``
NODE           ``a`` at site ``b``; ``x`` its height
COORDINATE     ``x`` of node ``a`` in dimension ``n1``
LINK_COST      ``n1``: what a link between ``a`` and ``b`` costs, in units
SITE_COST      ``n1``: what any link between sites ``a`` and ``b`` costs, in units
LINK           of the stored overlay, between ``a`` and ``b``; cost in units, shared topics, contribution and pick
CHANGE         node ``a`` took up topic ``b`` (1), or dropped it (-1)
BACKUP         ``b`` is a backup of ``a``; ``n1``: its layer
OLD_NODE       ``a`` was there; how many topics it wanted, its part, whether it represents it
OLD_TOPIC      ``a`` was there; how many nodes wanted it, its diameter, its weighted diameter in units
COMPONENT      of node ``a`` in topic ``b``: number ``n1`` names one of its nodes
OLD_SUBSCRIPTION  in place of SUBSCRIPTION: node ``a`` wanted topic ``b``, before the changes

Where a part or a diameter is null, here and in the answer, the number is -1.
"""

NUMBERS = ("n1", "n2", "n3", "n4")
"""Plain columns: a list that is null costs Spark more than all the rest of a row."""
ROW = {"kind": "tinyint", "a": "string", "b": "string", **dict.fromkeys(NUMBERS, "bigint"), "x": "double"}


@dataclass(frozen=True, kw_only=True)
class ChurnTask:
    """What the task works on. ``node_ids`` and ``topic_ids`` are the ids by number.

    ``rows`` are the stored links as given, by pick: their ids, and numbers as above.
    """

    instance: Instance
    node_ids: pa.Array
    topic_ids: pa.Array
    stored: Stored
    rows: pa.Table
    changed: Changed
    backups: BackupRows
    components: NDArray[np.int32] | None
    """The component of each subscription, by the position of a member, where frames found them."""
    left: int
    """How many nodes of the stored overlay are gone."""
    known: int
    """How many nodes the stored overlay had."""
    joined_before: int
    """How many components its links joined, over all topics."""
    parts: NDArray[np.int64]
    """(part, whether it represents it) of each node, as stored; -1 stands for null."""
    diameters: NDArray[np.int64]
    """(diameter, weighted diameter) of each topic, as stored; -1 stands for null."""
    strangers: list[str]
    """Sentences about what does not fit together: the tables, or the changes with the stored overlay."""


def churn_task(rows: dict[int, pa.Table], unit: float) -> ChurnTask:
    """The task's arrays from its rows."""
    _require_ids(_rows(rows, CHANGE))
    (node_codes, subscribed), (topics, topic_ids), strangers = _wanted(rows)
    nodes_given = rows.get(NODE)
    node_ids = subscribed
    if nodes_given is not None:
        node_ids = in_order(nodes_given.column("a"))
        places = places_of(node_ids, subscribed)
        if (places < 0).any():
            first = ", ".join(repr(v) for v in subscribed.filter(pa.array(places < 0)).slice(0, 3).to_pylist())
            n = int((places < 0).sum())
            strangers.append(
                f"Table 'subscriptions' has rows of {counted(n, 'node[|s]')} that table 'nodes' does not know (first: "
                f"{first}). {one_or_many('Add [this node|these nodes], or remove [its|their] subscriptions.', n)}"
            )
        node_codes = places[node_codes]
    n_nodes, n_topics = len(node_ids), len(topic_ids)
    keys = np.sort(node_codes.astype(np.int64) * max(1, n_topics) + topics)
    keys = keys[np.searchsorted(keys, 0) :]
    twice = int((np.diff(keys) == 0).sum())
    if twice:
        what = counted(twice, "row[|s] that repeat[s|] another")
        strangers.append(f"Table 'subscriptions' has {what}. Keep one of each.")
    offsets = np.searchsorted(keys, np.arange(n_nodes + 1, dtype=np.int64) * max(1, n_topics))
    costs = _costs(rows, node_ids, nodes_given, unit)
    instance = Instance(n_topics, offsets, (keys % max(1, n_topics)).astype(np.int32), costs)
    links = _rows(rows, LINK)
    numbers = numbers_of(links, 4)
    order = np.argsort(numbers[:, 3], kind="stable")
    links, numbers = links.take(pa.array(order)), numbers[order]
    stored = Stored(
        src=places_of(node_ids, links.column("a")).astype(np.int32),
        dst=places_of(node_ids, links.column("b")).astype(np.int32),
        cost=numbers[:, 0],
        contribution=numbers[:, 2].astype(np.int32),
    )
    old_nodes, old_topics, changes = _rows(rows, OLD_NODE), _rows(rows, OLD_TOPIC), _rows(rows, CHANGE)
    strangers += _other_counts(old_nodes, changes.column("a"), changes, node_ids, np.diff(offsets), "node")
    strangers += _other_counts(old_topics, changes.column("b"), changes, topic_ids, instance.topic_sizes, "topic")
    backups = _rows(rows, BACKUP)
    return ChurnTask(
        instance=instance,
        node_ids=node_ids,
        topic_ids=topic_ids,
        stored=stored,
        rows=links,
        changed=_changed(rows, node_ids, topic_ids),
        backups=BackupRows(
            places_of(node_ids, backups.column("a")),
            places_of(node_ids, backups.column("b")),
            numbers_of(backups, 1)[:, 0],
        ),
        components=_components(rows, keys, node_ids, topic_ids),
        left=int((places_of(node_ids, old_nodes.column("a")) < 0).sum()),
        known=len(old_nodes),
        joined_before=int(np.maximum(numbers_of(old_topics, 1)[:, 0] - 1, 0).sum()),
        parts=_as_stored(old_nodes, node_ids),
        diameters=_as_stored(old_topics, topic_ids),
        strangers=strangers,
    )


class BadValues(Exception):
    """Raised when subscriptions came whose ids no subscription may have."""


def _require_ids(changes: pa.Table) -> None:
    """Whether all ids that came are right by the rules of the catalog; what is wrong with them others tell."""
    for name in ("a", "b"):
        ids = changes.filter(pc.greater(changes.column("n1"), 0)).column(name)
        try:
            ids.validate(full=True)  # whether they are UTF-8
        except pa.ArrowInvalid as error:
            raise BadValues from error
        if ids.null_count or pc.any(pc.or_(pc.equal(ids, ""), pc.match_substring(ids, "\ufffd"))).as_py():
            raise BadValues


def _wanted(rows: dict[int, pa.Table]) -> tuple[Numbered, Numbered, list[str]]:
    """The nodes and the topics of all subscriptions that there are, and what is wrong with the changes they come of."""
    if OLD_SUBSCRIPTION not in rows:
        wanted = _rows(rows, SUBSCRIPTION)
        return numbered(wanted.column("a")), numbered(wanted.column("b")), []
    old, changes = (_rows(rows, kind).select(["a", "b"]) for kind in (OLD_SUBSCRIPTION, CHANGE))
    coded = changes.cast(old.schema) if len(changes) else old.slice(0, 0)
    both = pa.concat_tables([old, coded]).unify_dictionaries().combine_chunks()
    (nodes, _), (topics, topic_ids) = (numbered(both.column(name)) for name in "ab")
    keys = nodes * max(1, len(topic_ids)) + topics
    came = numbers_of(_rows(rows, CHANGE), 1)[:, 0] > 0
    was, new = keys[: len(old)], keys[len(old) :]
    order = np.argsort(was, kind="stable")  # as good as sorted already: so they were written
    at = places_among(was[order], new)
    is_known, stays = at >= 0, np.ones(len(old), bool)
    stays[order[at[is_known & ~came]]] = False
    there = np.concatenate([stays, came & ~is_known])
    strangers = []
    wrong = int((is_known == came).sum())
    if wrong:
        what = counted(wrong, "subscription[|s]")
        strangers.append(f"By the changes since, {what} came that were there, or went that were not.")
    return numbered(both.column("a"), there), numbered(both.column("b"), there), strangers


def _components(
    rows: dict[int, pa.Table], keys: NDArray[np.int64], node_ids: pa.Array, topic_ids: pa.Array
) -> NDArray[np.int32] | None:
    if COMPONENT not in rows:
        return None
    told = rows[COMPONENT]
    node, topic = places_of(node_ids, told.column("a")), places_of(topic_ids, told.column("b"))
    width, name = max(1, len(topic_ids)), numbers_of(told, 1)[:, 0]
    found = np.empty(len(keys), np.int32)
    found[np.searchsorted(keys, node * width + topic)] = np.searchsorted(keys, name * width + topic)
    return found


def _changed(rows: dict[int, pa.Table], node_ids: pa.Array, topic_ids: pa.Array) -> Changed:
    given, backups = _rows(rows, CHANGE), _rows(rows, BACKUP)
    codes, ids = numbered(given.column("a"))
    topics = places_of(topic_ids, given.column("b"))
    there = topics >= 0
    order = np.lexsort((topics[there], codes[there]))
    counts = np.bincount(codes[there], minlength=len(ids))
    chosen = places_of(node_ids, backups.column("b").filter(pc.is_in(backups.column("a"), ids)))
    return Changed(
        nodes=places_of(node_ids, ids).astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        topics=topics[there][order].astype(np.int32),
        backups=np.unique(chosen[chosen >= 0]).astype(np.int32),
        known=pc.is_in(ids, backups.column("a").unique()).to_numpy(zero_copy_only=False),
    )


def _as_stored(old: pa.Table, ids: pa.Array) -> NDArray[np.int64]:
    """The second and third number stored of each id; -1 of those that are new."""
    found = np.full((len(ids) + 1, 2), -1, np.int64)  # the last stands for those that are gone
    found[places_of(ids, old.column("a"))] = numbers_of(old, 3)[:, 1:]
    return found[:-1]


def _other_counts(
    old: pa.Table, changed: pa.ChunkedArray, changes: pa.Table, ids: pa.Array, counts: NDArray[Any], what: str
) -> list[str]:
    """A sentence where stored counts and what changed since do not add up to what is there now."""
    names = old.column("a").combine_chunks() if len(old) else pa.array([], pa.string())
    at = places_of(names, changed)
    net = np.bincount(at[at >= 0], numbers_of(changes, 1)[at >= 0, 0], len(names)).astype(np.int64)
    told = numbers_of(old, 1)[:, 0] + net
    places = places_of(ids, names)
    now = np.where(places >= 0, np.append(counts, 0)[places], 0)
    wrong = np.flatnonzero(now != told)
    if not len(wrong) or not len(old):
        return []
    i = int(wrong[0])
    return [
        f"{counted(len(wrong), f'{what}[ has another count|s have other counts]')} of subscriptions than the stored "
        f"overlay and the changes since say (first: {old.column('a')[i].as_py()!r} has {int(now[i])}, not "
        f"{int(told[i])})."
    ]


def _costs(rows: dict[int, pa.Table], node_ids: pa.Array, nodes: pa.Table | None, unit: float) -> Costs:
    if nodes is None or not (SITE_COST in rows or COORDINATE in rows):
        listed = _rows(rows, LINK_COST)
        a, b = (places_of(node_ids, listed.column(name)) for name in "ab")
        known, value = (a >= 0) & (b >= 0), numbers_of(listed, 1)[:, 0]
        low, high = np.minimum(a, b)[known], np.maximum(a, b)[known]
        _, first = np.unique(low * len(node_ids) + high, return_index=True)  # once in each direction is allowed
        return listed_costs(low[first], high[first], value[known][first])
    nodes = nodes.take(pa.array(np.argsort(places_of(node_ids, nodes.column("a")))))
    if SITE_COST in rows:
        given = rows[SITE_COST]
        sites = in_order(nodes.column("b"))
        a, b = (places_of(sites, given.column(name)) for name in "ab")
        known, value = (a >= 0) & (b >= 0), numbers_of(given, 1)[:, 0]
        table = np.zeros((len(sites), len(sites)), np.int64)
        table[a[known], b[known]] = table[b[known], a[known]] = value[known]
        return site_costs(places_of(sites, nodes.column("b")), table)
    points = rows[COORDINATE]
    order = np.lexsort((numbers_of(points, 1)[:, 0], places_of(node_ids, points.column("a"))))
    return point_costs(points.column("x").to_numpy()[order].reshape(len(nodes), -1), nodes.column("x").to_numpy(), unit)


def _rows(rows: dict[int, pa.Table], kind: int) -> pa.Table:
    return rows.get(kind, _NOTHING)


_NOTHING = pa.table(
    {
        "kind": pa.array([], pa.int8()),
        "a": pa.array([], pa.string()),
        "b": pa.array([], pa.string()),
        **{name: pa.array([], pa.int64()) for name in NUMBERS},
        "x": pa.array([], pa.float64()),
    }
)


def numbers_of(rows: pa.Table, width: int = 4) -> NDArray[np.int64]:
    """The first so many numbers of each row."""
    columns = [rows.column(name).to_numpy() for name in NUMBERS[:width]]
    return np.stack(columns, axis=1).astype(np.int64)
