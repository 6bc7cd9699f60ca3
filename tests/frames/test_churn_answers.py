"""What the refreshing task finds out adds up to a right overlay, in numbers found in another way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from overlay_spark.costs import LISTED
from overlay_spark.frames import churn_answers as answers
from overlay_spark.frames import churn_packs, churn_rows
from overlay_spark.frames.churn_answers import ANSWER, ANSWER_DDL, ROWS_A_BATCH, answer, solve
from overlay_spark.frames.churn_rows import churn_task
from overlay_spark.options import Options, RefreshOptions
from tests import naive
from tests.frames.churned import by_kind, histories, row
from tests.strategies import SEEDS


class Told:
    """The task's answer in the history's numbers."""

    def __init__(self, history, seed=0):
        task = churn_task(by_kind(history.rows(), seed), history.now.costs.unit)
        rows = [row for batch in solve(task, history.options) for row in batch.to_pylist()]
        self.node = {name: v for v, name in enumerate(history.nodes)}
        self.topic = {name: t for t, name in enumerate(history.topics)}
        self.kinds = [row["kind"] for row in rows]
        self.rows = {kind: [row for row in rows if row["kind"] == kind] for kind in range(9)}
        self.facts = {row["a"]: row["numbers"][0] for row in self.rows[answers.FACT]}

    def links(self, kind):
        """Numbers of each link told of."""
        return {(self.node[row["a"]], self.node[row["b"]]): row["numbers"] for row in self.rows[kind]}


def refreshed(history):
    """(answer, cost of each link after): what the answer makes of the stored overlay."""
    told = Told(history)
    after = dict(zip(history.links.pairs(), history.links.cost.tolist(), strict=True))
    for pair, numbers in told.links(answers.REMOVE).items():
        assert after.pop(pair) == numbers[0]
    for pair, numbers in told.links(answers.UPDATE).items():
        assert pair in after
        after[pair] = numbers[0]
    for pair, numbers in told.links(answers.ADD).items():
        assert pair not in after
        after[pair] = numbers[0]
    return told, after


def packed_rows(told):
    """The rows that the answer keeps for the next refresh, by kind."""
    packs = [pack["packed"] for pack in sorted(told.rows[answers.STATE], key=lambda pack: pack["numbers"])]
    assert [pack["numbers"] for pack in told.rows[answers.STATE]] == [[i] for i in range(len(packs))]
    gathered = churn_packs.gathered([pa.RecordBatch.from_arrays([pa.array(packs)], ["packed"])], 1 << 40)
    return {kind: [tuple(row.values()) for row in table.to_pylist()] for kind, table in gathered.items()}


@given(histories())
def test_state__is_the_overlay_as_its_tables_say_it(history):
    if not can_be_connected(history):
        return
    told, after = refreshed(history)
    kept = packed_rows(told)
    nodes, topics = history.nodes, history.topics
    wants = {(nodes[v], topics[t]) for v, wanted in enumerate(naive.interests(history.now)) for t in wanted}
    assert sorted(kept.get(churn_rows.OLD_SUBSCRIPTION, [])) == sorted(wants)
    links = {}
    for i, (u, v) in enumerate(history.links.pairs()):
        shared = len(naive.interests(history.before)[u] & naive.interests(history.before)[v])
        links[u, v] = [int(history.links.cost[i]), shared, int(history.links.contribution[i]), 3 * i]
    for kind in (answers.UPDATE, answers.ADD):
        links.update({pair: numbers[:4] for pair, numbers in told.links(kind).items()})
    assert sorted(kept.get(churn_rows.LINK, [])) == sorted(
        (nodes[u], nodes[v], *numbers) for (u, v), numbers in links.items() if (u, v) in after
    )
    of_node, of_topic, backups = (
        [(row["a"], row["b"], row["numbers"]) for row in told.rows[kind]]
        for kind in (answers.NODE_NOW, answers.TOPIC, answers.BACKUP_NOW)
    )
    assert kept.get(churn_rows.OLD_NODE, []) == [(a, n[0], n[3], max(0, n[4])) for a, _, n in of_node]
    assert kept.get(churn_rows.OLD_TOPIC, []) == [(a, n[0], *n[4:]) for a, _, n in of_topic]
    assert kept.get(churn_rows.BACKUP, []) == [(a, b, *n) for a, b, n in backups]


def can_be_connected(history):
    return not naive.broken_topics(history.now, naive.allowed(history.now))


@given(histories())
def test_answer__leads_to_an_overlay_that_is_right(history):
    allowed = naive.allowed(history.now)
    if not can_be_connected(history):
        assert history.now.costs.kind == LISTED
        return
    _, after = refreshed(history)
    assert after == {pair: allowed[pair] for pair in after}
    assert not naive.broken_topics(history.now, after)


@given(histories())
def test_listed_links__that_cannot_connect_topics_any_more_are_the_inputs_fault(history):
    broken = naive.broken_topics(history.now, naive.allowed(history.now))
    told = Told(history)
    assert (answers.FAULT in told.kinds) == bool(broken)
    if broken:
        (fault,) = told.rows[answers.FAULT]
        names = ", ".join(repr(history.topics[t]) for t in broken[:3])
        many = f"{len(broken)} topic{'s' * (len(broken) > 1)}"
        assert fault["b"] == answers.APART
        assert fault["a"].startswith(
            f"Table 'link_costs' has no links that connect {many} any more (first: {names}). List links between "
        )


@given(histories())
def test_links__to_add_follow_those_stored_and_those_to_remove_come_last_in_the_order_of_their_ids(history):
    if not can_be_connected(history):
        return
    told, after = refreshed(history)
    added, removed = told.links(answers.ADD), told.links(answers.REMOVE)
    stay = [pair for pair in history.links.pairs() if pair not in removed]
    joins = naive.replay(history.now, added, stay)
    wants = naive.interests(history.now)
    last = 3 * (len(history.links) - 1) if len(history.links) else -1
    assert list(added.values()) == [
        [after[u, v], len(wants[u] & wants[v]), join, last + 1 + i, i]
        for i, ((u, v), join) in enumerate(zip(added, joins, strict=True))
    ]
    assert list(removed) == sorted(removed)
    assert [numbers[1] for numbers in removed.values()] == list(range(len(added), len(added) + len(removed)))


@given(histories())
def test_links__to_update_are_those_that_stay_at_another_cost_or_share_other_topics(history):
    if not can_be_connected(history):
        return
    told, after = refreshed(history)
    then, now = naive.interests(history.before), naive.interests(history.now)
    expected = {}
    for i, (u, v) in enumerate(history.links.pairs()):
        cost, shared = after.get((u, v)), len(now[u] & now[v])
        if cost is not None and (cost, shared) != (history.links.cost[i], len(then[u] & then[v])):
            expected[u, v] = [cost, shared, int(history.links.contribution[i]), 3 * i]
    assert told.links(answers.UPDATE) == expected


@given(histories())
def test_topics_and_nodes__are_counted_as_they_are_and_topics_marked_whose_sub_overlay_is_another(history):
    if not can_be_connected(history):
        return
    told, after = refreshed(history)
    before = dict(zip(history.links.pairs(), history.links.cost.tolist(), strict=True))
    topics = {told.topic[row["a"]]: row["numbers"] for row in told.rows[answers.TOPIC]}
    then, now = (sub_overlays(problem, links) for problem, links in ((history.before, before), (history.now, after)))
    is_other = {t: sub_overlay != then[t] for t, sub_overlay in now.items()}
    assert topics == {
        t: [len(nodes), len(links), 1, int(is_other[t]), *((-1, -1) if is_other[t] else (t, 10 * t))]
        for t, (nodes, links) in now.items()
        if nodes
    }
    nodes = {told.node[row["a"]]: row["numbers"] for row in told.rows[answers.NODE_NOW]}
    wants = naive.interests(history.now)
    mine = {v: [cost for pair, cost in after.items() if v in pair] for v in history.there}
    parts = {v: [v, v % 2] if v in history.were else [-1, -1] for v in history.there}
    assert nodes == {v: [len(wants[v]), len(mine[v]), sum(mine[v]), *parts[v]] for v in history.there}


def sub_overlays(problem, links):
    """(nodes, {link: cost}) of each topic."""
    return {
        t: (set(nodes), {pair: cost for pair, cost in links.items() if set(pair) <= set(nodes)})
        for t, nodes in enumerate(naive.members(problem))
    }


@given(histories())
def test_facts__are_counted_from_the_answer(history):
    if not can_be_connected(history):
        return
    told, after = refreshed(history)
    before = dict(zip(history.links.pairs(), history.links.cost.tolist(), strict=True))
    degrees = [sum(v in pair for pair in after) for v in history.there]
    members = [[len(nodes) for nodes in naive.members(p) if nodes] for p in (history.before, history.now)]
    expected = {
        "links_before": len(before),
        "links": len(after),
        "added": len(told.rows[answers.ADD]),
        "removed": len(told.rows[answers.REMOVE]),
        "updated": len(told.rows[answers.UPDATE]),
        "recosted": sum(after[pair] != before[pair] for pair in set(after) & set(before)),
        "nodes_before": len(history.were),
        "nodes_lost": len(history.were - history.there),
        "nodes": len(history.there),
        "topics": len(members[1]),
        "cost_before": sum(before.values()),
        "cost": sum(after.values()),
        "joined_before": sum(n - 1 for n in members[0]),
        "joined": sum(n - 1 for n in members[1]),
        "max_degree": max(degrees, default=0),
    }
    assert {name: told.facts[name] for name in expected} == expected


@pytest.mark.slow
@given(histories())
def test_backups__of_every_node_are_told_up_to_a_size(history):
    if not can_be_connected(history):
        return
    told = Told(history)
    wants = naive.interests(history.now)
    backups = {}
    for kept in told.rows[answers.BACKUP_NOW]:
        backups.setdefault(told.node[kept["a"]], set()).add(told.node[kept["b"]])
    assert len(told.rows[answers.BACKUP_NOW]) == sum(map(len, backups.values()))
    for v, wanted in enumerate(wants):
        if any(wanted & other for u, other in enumerate(wants) if u != v):
            assert backups[v]
            assert all(wanted & wants[u] for u in backups[v] - {v})
            assert v not in backups[v]
    few = replace(history, options=replace(history.options, refresh=RefreshOptions(backups_up_to=0)))
    assert not Told(few).rows[answers.BACKUP_NOW] or not history.there


@given(histories(), SEEDS)
def test_answer__does_not_depend_on_the_order_of_rows(history, seed):
    one, other = (Told(history, s) for s in (0, seed))
    for told in (one, other):
        told.rows[answers.FACT] = [f for f in told.rows[answers.FACT] if f["a"] != "microseconds"]
    assert one.rows == other.rows


def test_overlay__that_is_wrong_for_no_fault_of_the_input_is_told_as_a_bug(monkeypatch):
    task = churn_task(by_kind([row(churn_rows.SUBSCRIPTION, v, "x") for v in "ab"]), 1.0)
    monkeypatch.setattr(answers, "faults", lambda *_: {"cost": np.arange(3), "apart": np.arange(1)})
    told = [row for batch in solve(task, Options()) for row in batch.to_pylist()]
    assert {(row["a"], row["b"]) for row in told} == {("3 cost", answers.WRONG_LINKS), ("1 apart", answers.WRONG_LINKS)}


def test_answer__is_cut_into_batches_that_hold_every_row():
    n = ROWS_A_BATCH + 3
    numbers = np.arange(2 * n).reshape(-1, 2)
    ids = pa.array([f"n{i}" for i in range(n)])
    batches = list(answer(answers.ADD, ids, ids, numbers))
    assert [batch.num_rows for batch in batches] == [ROWS_A_BATCH, 3]
    table = pa.Table.from_batches(batches, ANSWER)
    assert table.column("a").to_pylist() == table.column("b").to_pylist() == ids.to_pylist()
    assert table.column("numbers").to_pylist() == numbers.tolist()
    (without,) = answer(answers.FAULT, ["said"], ["of this kind"])
    said = {"kind": answers.FAULT, "a": "said", "b": "of this kind", "numbers": [], "packed": None}
    assert without.to_pylist() == [said]
    assert list(answer(answers.ADD, ids[:0], ids[:0], numbers[:0])) == []


@pytest.mark.spark
def test_answer__has_one_schema_in_arrow_and_in_spark(spark):
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    assert from_arrow_schema(ANSWER).simpleString() == StructType.fromDDL(ANSWER_DDL).simpleString()
