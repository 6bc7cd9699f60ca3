"""Overlays kept up node by node: the published rounds, the slow twin, and what holds after every event."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.shadows import LiveOverlay, wants_of
from overlay_spark.costs import point_costs, site_costs
from overlay_spark.options import ChurnOptions, DegreeOptions, Options
from overlay_spark.options.churn import COST, COVERS, DEGREE, GREEDY, LOWEST, PICKS, PRIMAL_DUAL, RANDOM
from tests import checks, naive, naive_churn
from tests.conftest import CASES
from tests.strategies import SEEDS, instances

CHURN = [json.loads(path.read_text()) for path in sorted((CASES / "churn").glob("*.json"))]


def edges_hash(pairs):
    return sha256(",".join(f"{u}-{v}" for u, v in sorted(pairs)))


def backups_hash(backups):
    return sha256(";".join(f"{v}:{'.'.join(map(str, sorted(backups[v].tolist())))}" for v in sorted(backups)))


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def assert_measured(expected, present, pairs, n_changes=None, n_before=None):
    """The figures told of an overlay, and where they are told of a round what it changed."""
    degrees = np.bincount([v for pair in pairs for v in pair], minlength=1)
    assert (int(present.sum()), len(pairs), degrees.max()) == (expected["n"], expected["m"], expected["max_degree"])
    assert edges_hash(pairs) == expected["edges_sha256"]
    if n_changes is not None:
        assert n_changes == expected["repair_edges"]
        assert expected["repair_ratio"] == (round(n_changes / n_before, 9) if n_before else 0)


@pytest.mark.parametrize("case", CHURN, ids=lambda case: case["name"])
def test_golden_case__goes_round_by_round(case):
    told, k = case["params"], float(case["rho"])
    churn = ChurnOptions(
        objective=DEGREE,
        coverage=told["lam"],
        backups=GREEDY if told["backup"] == "greedy" else PRIMAL_DUAL,
        pick=told.get("pd_pick", LOWEST),
        trim=False,
    )
    options = Options(churn=churn, degrees=DegreeOptions(k=k))
    assert [v for v, _ in case["nodes"]] == list(range(len(case["nodes"])))
    instance = checks.instance_of([topics for _, topics in case["nodes"]], case["topics"])
    instance = instance.with_unit_costs()
    links = low_degree(instance, options.degrees)
    live = LiveOverlay(instance, links, options, seed=told.get("pd_seed", 0))
    plain = LiveOverlay(instance, links, options, shadows=False)
    assert [list(pair) for pair in links.pairs()] == case["initial"]["edges"]
    assert_measured(case["initial"], live.present, links.pairs())
    assert {str(v): sorted(chosen.tolist()) for v, chosen in live.backups.items()} == case["initial"]["backups"]
    assert backups_hash(live.backups) == case["initial"]["backups_sha256"]
    anew = links.pairs()
    for expected in case["rounds"]:
        node, topics = expected["node"], expected.get("topics", [])
        rebuilt = [v for v in live.backups if node in live.backups[v]] if expected["op"] == "leave" else [node]
        for overlay, name in ((live, "shadow"), (plain, "naive")):
            n_before = len(overlay.links)
            event = overlay.leave(node) if expected["op"] == "leave" else overlay.join(topics, node)
            assert [list(pair) for pair in event.added.pairs()] == expected[name]["added"]
            assert sorted(map(list, event.removed.pairs())) == expected[name]["removed"]
            assert_measured(expected[name], overlay.present, overlay.links.pairs(), event.changes, n_before)
            if overlay is live:
                assert event.shadow.tolist() == expected[name]["S"]
        new = {str(v): sorted(live.backups[v].tolist()) for v in sorted(rebuilt)}
        assert new == expected["shadow"]["rebuilt"]
        assert backups_hash(live.backups) == expected["shadow"]["backups_sha256"]
        before, anew = anew, low_degree(live.instance, options.degrees).pairs()
        assert_measured(expected["low"], live.present, anew, len(set(before) ^ set(anew)), len(before))
    final = case["final"]
    for name, pairs in (("shadow", live.links.pairs()), ("naive", plain.links.pairs()), ("low", anew)):
        assert [list(pair) for pair in sorted(pairs)] == final[f"{name}_edges"]
    assert {str(v): sorted(chosen.tolist()) for v, chosen in live.backups.items()} == final["backups"]
    primaries = {str(v): sorted(live.primaries.get(v, ())) for v in np.flatnonzero(live.present).tolist()}
    assert primaries == final["primaries"]


@st.composite
def histories(draw, **sizes):
    """A problem whose nodes may all link, and events: (node that leaves, None) or (node that joins, its topics)."""
    instance = draw(instances(listed=False, **sizes))
    rng = np.random.default_rng(draw(SEEDS))
    present, events = set(range(instance.n_nodes)), []
    for _ in range(draw(st.integers(1, 12)) if instance.n_nodes else 0):
        absent = set(range(instance.n_nodes)) - present
        if absent and (not present or rng.random() < 0.5):
            topics = np.flatnonzero(rng.random(instance.n_topics) < 0.4).tolist()
            events.append((int(rng.choice(sorted(absent))), topics))
            present.add(events[-1][0])
        else:
            events.append((int(rng.choice(sorted(present))), None))
            present.remove(events[-1][0])
    return instance, events


def apply(live, event):
    node, topics = event
    return live.leave(node) if topics is None else live.join(topics, node)


@given(
    histories(max_nodes=9, max_topics=12),
    st.sampled_from([None, 1.0, 3.0]),
    st.integers(0, 3),
    st.sampled_from(COVERS),
    st.sampled_from(PICKS),
    st.integers(0, 2**63 - 1),
)
def test_untrimmed__links_shadows_and_backups_are_those_of_the_slow_twin(history, k, coverage, covers, pick, seed):
    """Of coverage 0 links are chosen among all nodes; with no k by cost."""
    instance, events = history
    churn = ChurnOptions(
        objective=DEGREE if k else COST, coverage=max(1, coverage), backups=covers, pick=pick, trim=False
    )
    options = Options(churn=churn, degrees=DegreeOptions(k=k or 3.0))
    links = greedy(instance)
    live = LiveOverlay(instance, links, options, seed, shadows=coverage > 0)
    draws = naive_churn.SplitMix64(seed) if pick == RANDOM else None
    twin = naive_churn.LiveOverlay(instance, links.pairs(), k, False, coverage, covers == GREEDY, draws)
    for event in events:
        before = live.links.pairs()
        told = apply(live, event)
        shadow, added = twin.leave(event[0]) if event[1] is None else twin.join(*event)
        assert (told.node, told.shadow.tolist()) == (event[0], sorted(shadow))
        assert checks.picks(told.added) == added
        assert live.links.pairs() == twin.links
        assert told.removed.pairs() == ([pair for pair in before if event[0] in pair] if event[1] is None else [])
        assert {v: set(chosen.tolist()) for v, chosen in live.backups.items()} == twin.backups
        assert np.flatnonzero(live.present).tolist() == sorted(twin.wants)


@given(histories(max_topics=65), st.sampled_from([COST, DEGREE]), st.integers(1, 3), st.booleans(), st.booleans())
def test_after_every_event__topics_are_connected_and_the_log_tells_what_changed(
    history, objective, coverage, trim, shadows
):
    instance, events = history
    options = Options(churn=ChurnOptions(objective=objective, coverage=coverage, trim=trim))
    live = LiveOverlay(instance, greedy(instance), options, shadows=shadows)
    for event in events:
        before, backups = live.links.pairs(), dict(live.backups)
        told = apply(live, event)
        assert checks.is_topic_connected(live.instance, live.links)
        added, removed = set(told.added.pairs()), set(told.removed.pairs())
        assert not added & set(before)
        assert removed <= set(before)
        assert live.links.pairs() == [pair for pair in before if pair not in removed] + told.added.pairs()
        assert told.changes == len(added) + len(removed)
        costs = naive.allowed(live.instance)
        assert live.links.cost.tolist() == [costs[pair] for pair in live.links.pairs()]
        if shadows:
            assert_backed_up(live, backups, event[0], coverage)
        else:
            assert not live.backups


def assert_backed_up(live, before, node, coverage):
    """All who are there have backups who are there. The joiner's, and those of nodes that lost one, are as many for
    each topic as want it, up to the coverage; the others keep theirs, whoever joined."""
    members = naive.members(live.instance)
    present = set(np.flatnonzero(live.present).tolist())
    chosen = {v: set(nodes.tolist()) for v, nodes in live.backups.items()}
    assert set(chosen) == present
    for v in present:
        assert chosen[v] <= present - {v}
        if v in before and node not in before[v]:
            assert chosen[v] == set(before[v].tolist())
        else:
            for t in live.instance.topics_of(v).tolist():
                assert len(chosen[v] & set(members[t])) >= min(coverage, len(members[t]) - 1)
    for v, primaries in live.primaries.items():
        assert primaries == {u for u in present if v in chosen[u]}


@given(histories())
def test_trimmed__costs_no_more_than_the_same_repair_untrimmed(history):
    instance, events = history
    links = greedy(instance)
    for event in events[:1]:
        trimmed, untrimmed = (
            LiveOverlay(instance, links, Options(churn=ChurnOptions(objective=COST, trim=trim)))
            for trim in (True, False)
        )
        apply(trimmed, event)
        apply(untrimmed, event)
        assert trimmed.links.total_cost <= untrimmed.links.total_cost


@given(histories(max_nodes=9, max_topics=12), st.sampled_from([COST, DEGREE]), st.sampled_from(PICKS))
def test_same_events__give_the_same_overlay(history, objective, pick):
    instance, events = history
    options = Options(churn=ChurnOptions(objective=objective, pick=pick))
    links, both = greedy(instance), []
    for _ in range(2):
        live = LiveOverlay(instance, links, options, seed=5)
        log = [apply(live, event) for event in events]
        chosen = {v: of_it.tolist() for v, of_it in live.backups.items()}
        both.append((live.links.pairs(), [told.added.pairs() for told in log], chosen))
    assert both[0] == both[1]


def test_seed__changes_random_picks_only():
    rng = np.random.default_rng(0)
    instance = checks.instance_of([np.flatnonzero(rng.random(12) < 0.4) for _ in range(20)], 12)
    links = greedy(instance)

    def chosen(pick, seed):
        options = Options(churn=ChurnOptions(pick=pick))
        return {v: of_it.tolist() for v, of_it in LiveOverlay(instance, links, options, seed).backups.items()}

    assert chosen(RANDOM, 1) != chosen(RANDOM, 2)
    assert chosen(LOWEST, 1) == chosen(LOWEST, 2)


def test_newcomer__gets_the_next_number_or_one_it_asks_for():
    live = LiveOverlay(checks.instance_of([[0], [0]], 1).with_unit_costs(), checks.overlay_of([]))
    assert live.join([0]).node == 2
    assert live.join([0], node=5).node == 5
    assert live.present.tolist() == [True, True, True, False, False, True]
    live.leave(2)
    assert live.join([0], node=2).node == 2
    assert checks.is_topic_connected(live.instance, live.links)
    assert live.join([]).node == 6
    assert live.links.degrees(7).tolist()[3:] == [0, 0, live.links.degrees(7)[5], 0]


@pytest.mark.parametrize(
    "costs",
    [
        site_costs(np.array([1, 0]), np.array([[2, 7], [7, 3]])),
        point_costs(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([1.0, 0.5]), 1.0),
    ],
    ids=["sites", "points"],
)
def test_links_of_one_with_a_new_number__cost_what_those_of_node_0_do(costs):
    instance = checks.instance_of([[0], [0]], 1, costs)
    live = LiveOverlay(instance, greedy(instance))
    live.leave(0)
    told = live.join([0])
    assert told.added.cost.tolist() == greedy(instance).cost.tolist() == [7]


def test_everybody__may_leave_and_come_back():
    rng = np.random.default_rng(3)
    wants = [np.flatnonzero(rng.random(6) < 0.5).tolist() for _ in range(7)]
    instance = checks.instance_of(wants, 6)
    for objective in (COST, DEGREE):
        live = LiveOverlay(instance, greedy(instance), Options(churn=ChurnOptions(objective=objective)))
        for v in range(7):
            live.leave(v)
        assert len(live.links) == 0
        assert not live.backups
        for v in range(7):
            live.join(wants[v], v)
            assert checks.is_topic_connected(live.instance, live.links)
        assert naive.interests(live.instance) == naive.interests(instance)


@given(instances())
def test_wants_of__tells_both_ways(instance):
    wants = wants_of(instance)
    members = [wants.members[a:b].tolist() for a, b in zip(wants.starts, wants.starts[1:], strict=False)]
    assert members == naive.members(instance)
    assert wants.offsets is instance.offsets
    assert wants.topics is instance.topics
