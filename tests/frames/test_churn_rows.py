"""The rows of the refreshing task: ids to numbers and back, in the order of their bytes, and what cannot be right."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.refresh import prices
from overlay_spark.frames import churn_rows as kinds
from overlay_spark.frames.churn_rows import BadValues, churn_task
from overlay_spark.tables import catalog
from tests import naive
from tests.frames.churned import LETTERS, by_kind, histories, row
from tests.strategies import SEEDS


@given(histories(), SEEDS, st.booleans())
def test_churn_task__is_the_problem_of_those_who_are_there_in_whatever_order_rows_come(history, seed, packed):
    """Also where the subscriptions of then are given, and what changed."""
    task = churn_task(by_kind(history.rows(packed), seed), history.now.costs.unit)
    there, new = sorted(history.there), naive.interests(history.now)
    wanted = sorted(set().union(*new))
    assert task.strangers == []
    assert task.node_ids.to_pylist() == [history.nodes[v] for v in there]
    assert task.topic_ids.to_pylist() == [history.topics[t] for t in wanted]
    assert [set(task.instance.topics_of(i).tolist()) for i in range(len(there))] == [
        {wanted.index(t) for t in new[v]} for v in there
    ]
    every = np.array(list(combinations(range(len(there)), 2)), np.int32).reshape(-1, 2)
    nodes = np.array(there, np.int32)
    among = prices(history.now.costs, *nodes[every].reshape(-1, 2).T.copy())
    assert prices(task.instance.costs, *every.T.copy()).tolist() == among.tolist()


@pytest.mark.parametrize("column", ["node_id", "topic_id"])
@pytest.mark.parametrize(
    "rule, value", [("is_given", None), ("is_not_empty", ""), ("is_utf8", b"\xff"), ("was_decoded_right", "a\ufffd")]
)
def test_changes__that_came_with_ids_that_none_may_have_are_noticed(column, rule, value):
    """By every rule there is."""
    declared = {given.name for c in catalog.SUBSCRIPTIONS.columns for given in c.all_rules if c.name == column}
    assert f"{column}_{rule}" in declared
    assert len(declared) == 4
    name = {"node_id": "a", "topic_id": "b"}[column]
    rows = by_kind([*SMALL, row(kinds.CHANGE, "c", "new", [1]), row(kinds.CHANGE, "", "", [-1])])
    with_none = churn_task(rows, 1.0)
    assert with_none.changed.nodes.tolist() == [-1, 2]
    raw = pa.array([b"c", value if value is None or isinstance(value, bytes) else value.encode()])
    ids = pa.Array.from_buffers(pa.string(), 2, raw.buffers(), raw.null_count)
    other = pa.array(["x", "y"])
    came = pa.table({"a": ids if name == "a" else other, "b": ids if name == "b" else other, "n1": [1, 1]})
    with pytest.raises(BadValues):
        churn_task({**rows, kinds.CHANGE: came}, 1.0)


@pytest.mark.parametrize("changes, wrong", [
    ([("a", "y", -1)], 0), ([("a", "y", 1)], 1), ([("b", "y", -1)], 1), ([("b", "y", 1), ("d", "y", -1)], 1),
])  # fmt: skip
def test_changes__that_do_not_lead_from_the_subscriptions_before_are_told(changes, wrong):
    rows = [
        {**given, "kind": kinds.OLD_SUBSCRIPTION} if given["kind"] == kinds.SUBSCRIPTION else given for given in SMALL
    ]
    rows += [row(kinds.CHANGE, node, topic, [change]) for node, topic, change in changes]
    told = [text for text in churn_task(by_kind(rows), 1.0).strangers if text.startswith("By the changes")]
    assert told == [
        f"By the changes since, {n} subscription came that were there, or went that were not." for n in [wrong] if n
    ]


@given(histories(), SEEDS)
def test_churn_task__has_the_stored_overlay_in_the_order_of_picks_and_what_changed(history, seed):
    task = churn_task(by_kind(history.rows(), seed), history.now.costs.unit)
    there = sorted(history.there)
    place = {v: i for i, v in enumerate(there)}
    links, stored = history.links, task.stored
    ends = [(place.get(u, -1), place.get(v, -1)) for u, v in links.pairs()]
    assert list(zip(stored.src.tolist(), stored.dst.tolist(), strict=True)) == ends
    assert stored.cost.tolist() == links.cost.tolist()
    assert stored.contribution.tolist() == links.contribution.tolist()
    assert kinds.numbers_of(task.rows)[:, 3].tolist() == [3 * i for i in range(len(links))]
    old, new = naive.interests(history.before), naive.interests(history.now)
    wanted = sorted(set().union(*new))
    changed = [v for v in range(len(old)) if old[v] != new[v]]
    assert task.changed.nodes.tolist() == [place.get(v, -1) for v in changed]
    offsets = task.changed.offsets.tolist()
    assert [task.changed.topics[a:b].tolist() for a, b in pairwise(offsets)] == [
        sorted(wanted.index(t) for t in (old[v] ^ new[v]) & set(wanted)) for v in changed
    ]
    kept = history.kept_backups if history.backups else None
    rows = [] if kept is None else list(zip(kept.node.tolist(), kept.backup.tolist(), strict=True))
    told = [(place.get(v, -1), place.get(b, -1)) for v, b in rows]
    assert sorted(zip(task.backups.node.tolist(), task.backups.backup.tolist(), strict=True)) == sorted(told)
    assert task.changed.known.tolist() == [v in {v for v, _ in rows} for v in changed]
    near = {place.get(b, -1) for v, b in rows if v in changed} - {-1}
    assert task.changed.backups.tolist() == sorted(near)
    assert (task.known, task.left) == (len(history.were), len(history.were - history.there))
    assert task.joined_before == sum(max(0, len(nodes) - 1) for nodes in naive.members(history.before))


SMALL = [
    *[row(kinds.SUBSCRIPTION, node, "x") for node in "abc"],
    row(kinds.SUBSCRIPTION, "a", "y"),
    row(kinds.LINK_COST, "a", "b", [3]),
    row(kinds.LINK_COST, "b", "c", [4]),
    row(kinds.LINK, "a", "b", [3, 1, 1, 0]),
    row(kinds.LINK, "b", "c", [4, 1, 1, 1]),
    *[row(kinds.OLD_NODE, node, None, [count, -1, 0]) for node, count in (("a", 2), ("b", 1), ("c", 1))],
    *[row(kinds.OLD_TOPIC, topic, None, [count, -1, -1]) for topic, count in (("x", 3), ("y", 1))],
]
NODES = [row(kinds.NODE, node) for node in "abc"]
STRANGERS = {
    "unknown nodes": (
        [*NODES[:1], *SMALL],
        [
            "Table 'subscriptions' has rows of 2 nodes that table 'nodes' does not know (first: 'b', 'c'). Add these nodes, or remove their subscriptions."
        ],
    ),
    "one unknown node": (
        [*NODES[:2], *SMALL],
        [
            "Table 'subscriptions' has rows of 1 node that table 'nodes' does not know (first: 'c'). Add this node, or remove its subscriptions."
        ],
    ),
    "repeated": (
        [*SMALL, SMALL[3], row(kinds.CHANGE, "a", "y", [1])],
        ["Table 'subscriptions' has 1 row that repeats another. Keep one of each."],
    ),
    "repeated and unknown": (
        [*NODES, row(kinds.SUBSCRIPTION, "d", "x"), row(kinds.SUBSCRIPTION, "d", "x"), *SMALL],
        [
            "Table 'subscriptions' has rows of 1 node that table 'nodes' does not know (first: 'd'). Add this node, or remove its subscriptions."
        ],
    ),
    "a subscription nobody told of": (
        [*SMALL, row(kinds.SUBSCRIPTION, "b", "y")],
        [
            "1 node has another count of subscriptions than the stored overlay and the changes since say (first: 'b' has 2, not 1).",
            "1 topic has another count of subscriptions than the stored overlay and the changes since say (first: 'y' has 2, not 1).",
        ],
    ),
    "subscriptions that are not there": (
        SMALL[2:],
        [
            "2 nodes have other counts of subscriptions than the stored overlay and the changes since say (first: 'a' has 1, not 2).",
            "1 topic has another count of subscriptions than the stored overlay and the changes since say (first: 'x' has 1, not 3).",
        ],
    ),
}


@pytest.mark.parametrize("case", STRANGERS)
def test_strangers__are_told_by_what_is_wrong(case):
    rows, expected = STRANGERS[case]
    told = churn_task(by_kind(rows), 1.0).strangers
    assert told[: len(expected)] == expected
    assert all(("Table" in sentence) == ("Table" in expected[0]) for sentence in told[:1])


def test_counts__are_not_compared_with_an_overlay_whose_tables_are_not_known():
    rows = [given for given in SMALL if given["kind"] not in (kinds.OLD_NODE, kinds.OLD_TOPIC)]
    task = churn_task(by_kind([*rows, row(kinds.SUBSCRIPTION, "b", "y")]), 1.0)
    assert (task.strangers, task.known, task.left, task.joined_before) == ([], 0, 0, 0)


def test_listed_links__count_once_in_both_directions_and_of_known_nodes_only():
    rows = [*SMALL, row(kinds.LINK_COST, "c", "b", [4]), row(kinds.LINK_COST, "a", "nobody", [9])]
    costs = churn_task(by_kind(rows), 1.0).instance.costs
    assert list(zip(costs.src.tolist(), costs.dst.tolist(), costs.values.tolist(), strict=True)) == [
        (0, 1, 3),
        (1, 2, 4),
    ]


def test_ids__are_numbered_in_the_order_of_their_bytes():
    rows = [row(kinds.SUBSCRIPTION, node, topic) for node in LETTERS[::-1] for topic in LETTERS[::-1]]
    task = churn_task(by_kind([*rows, row(kinds.LINK_COST, "A", "Z", [1])]), 1.0)
    assert task.node_ids.to_pylist() == task.topic_ids.to_pylist() == list(LETTERS)


def test_nothing__is_a_problem_too():
    task = churn_task(by_kind([row(kinds.LINK_COST, "a", "b", [1])]), 1.0)
    assert (task.instance.n_nodes, task.instance.n_topics, len(task.stored.src), task.strangers) == (0, 0, 0, [])


@given(histories())
def test_history__without_nodes_table_is_the_one_with_nodes_that_want_something(history):
    if not history.nodes_given and not history.now.costs.kind:
        listed = replace(history, nodes_given=True)
        one, other = (churn_task(by_kind(h.rows()), history.now.costs.unit) for h in (history, listed))
        assert one.node_ids == other.node_ids
        assert np.array_equal(one.instance.offsets, other.instance.offsets)
