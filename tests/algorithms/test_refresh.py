"""A stored overlay brought up to date in arrays: what stays of it, what it costs now, and the proof of the result.

Long histories of churn are in ``test_churn_machine``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.refresh import (
    BackupRows,
    Changed,
    chosen_backups,
    contributions_beyond,
    faults,
    prices,
    refreshed,
    renewed_backups,
)
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.costs import LISTED, listed_costs
from overlay_spark.instance import Links
from overlay_spark.options import ChurnOptions, Options
from overlay_spark.options.churn import COST, COVERS, DEGREE
from tests import checks, naive
from tests.churning import recosted, rewanted, stored_between
from tests.strategies import SEEDS, instances, overlays

NOBODY = BackupRows(*[np.empty(0, np.int64)] * 3)


@st.composite
def histories(draw):
    """(problem before, overlay of then, problem of now, options): the same numbers of nodes, some of which want
    nothing now and count as gone."""
    before = draw(instances(complete=True))
    rng = np.random.default_rng(draw(SEEDS))
    costs = recosted(before.costs, before.n_nodes, rng, draw(st.sampled_from((0.0, 0.1, 0.4))))
    now = rewanted(before, rng, draw(st.sampled_from((0.3, 0.1, 1.0))), costs)
    objective = draw(st.sampled_from((COST, DEGREE)))
    churn = ChurnOptions(objective=objective, coverage=draw(st.integers(1, 3)), backups=draw(st.sampled_from(COVERS)))
    links = greedy(before) if objective == COST else low_degree(before)
    return before, links, now, Options(churn=churn)


def refresh(history):
    before, links, now, options = history
    _, instance, stored, changes = stored_between(before, links, now)
    return instance, stored, changes, refreshed(instance, stored, changes, options)


@given(histories())
def test_result__connects_what_links_can_and_has_nothing_else_wrong(history):
    instance, _, _, found = refresh(history)
    assert checks.joins_all_that_can_be(instance, found.links)
    allowed = naive.allowed(instance)
    assert found.links.cost.tolist() == [allowed[pair] for pair in found.links.pairs()]
    told = faults(instance, found.links)
    assert set(told) <= {"apart"}
    assert told.get("apart", np.empty(0)).tolist() == naive.broken_topics(instance, allowed)


@given(histories())
def test_stored_links__stay_in_their_order_where_they_serve_an_untouched_topic(history):
    instance, stored, _, found = refresh(history)
    allowed, wants = naive.allowed(instance), naive.interests(instance)
    old = list(zip(stored.src.tolist(), stored.dst.tolist(), strict=True))
    stay = [pair for pair, stays in zip(old, found.stays.tolist(), strict=True) if stays]
    assert found.links.pairs()[: len(stay)] == stay
    assert not set(found.links.pairs()[len(stay) :]) & set(old)
    for (u, v), stays in zip(old, found.stays.tolist(), strict=True):
        assert not stays or (u, v) in allowed
        if (u, v) in allowed and any(not found.touched[t] for t in wants[u] & wants[v]):
            assert stays
    for u, v in found.links.pairs()[len(stay) :]:
        assert any(found.touched[t] for t in wants[u] & wants[v])


@given(histories())
def test_touched_topics__are_those_taken_up_or_dropped_and_those_of_links_withdrawn(history):
    before, links, now, _ = history
    found = refresh(history)[3]
    was, wants, allowed = naive.interests(before), naive.interests(now), naive.allowed(now)
    expected = {t for old, new in zip(was, wants, strict=True) for t in old ^ new}
    for u, v in links.pairs():
        if (u, v) not in allowed:
            expected |= wants[u] & wants[v]
    assert set(np.flatnonzero(found.touched).tolist()) == expected & set().union(*wants)


@given(histories())
def test_contributions__of_links_that_stay_are_kept_and_those_of_new_ones_are_what_they_join_beyond(history):
    instance, stored, _, found = refresh(history)
    stay = int(found.stays.sum())
    assert found.links.contribution[:stay].tolist() == stored.contribution[found.stays].tolist()
    pairs = found.links.pairs()
    assert found.links.contribution[stay:].tolist() == naive.replay(instance, pairs[stay:], pairs[:stay])


@given(overlays(), st.integers(0, 8))
def test_contributions_beyond__are_those_of_a_replay(overlay, cut):
    instance, pairs = overlay
    links = checks.overlay_of(pairs)
    found = contributions_beyond(SubOverlays.of(instance, links), links, cut)
    assert found.tolist() == naive.replay(instance, pairs[cut:], pairs[:cut])


@given(instances())
def test_prices__are_the_costs_of_links_that_may_be_used(instance):
    every = np.array(list(combinations(range(instance.n_nodes), 2)), np.int32).reshape(-1, 2)
    costs = instance.costs
    if costs.kind == LISTED:
        known = dict(zip(zip(costs.src.tolist(), costs.dst.tolist(), strict=True), costs.values.tolist(), strict=True))
        expected = [known.get((u, v), -1) for u, v in every.tolist()]
    else:
        expected = [naive.cost_between(costs, u, v) for u, v in every.tolist()]
    assert prices(costs, *every.T.copy()).tolist() == expected


def test_prices__where_nothing_is_listed():
    nothing = np.empty(0, np.int32)
    assert prices(listed_costs(nothing, nothing, nothing), np.array([0, 1]), np.array([1, 2])).tolist() == [-1, -1]


WRONG = {
    "apart": ([(0, 1)], None, [0]),
    "repeated": ([(0, 1), (1, 2), (0, 1)], None, [2]),
    "barred": ([(0, 1), (1, 2), (0, 2)], None, [2]),
    "useless": ([(0, 1), (1, 2), (2, 3)], None, [2]),
    "cost": ([(0, 1), (1, 2)], [5, 7], [1]),
}
"""Links between nodes 0 to 2, which want topic 0, and node 3, which wants another; their costs where these are not those
listed; and which of the topics or links is wrong."""


@pytest.mark.parametrize("fault", WRONG)
def test_faults__each_is_told_alone_with_its_place(fault):
    instance = checks.instance_of([[0], [0], [0], [1]], 2, listed_costs([0, 1, 2], [1, 2, 3], [5, 6, 1]))
    pairs, cost, where = WRONG[fault]
    links = checks.overlay_of(pairs)
    price = np.maximum(prices(instance.costs, links.src, links.dst), 0) if cost is None else np.array(cost)
    told = faults(instance, replace(links, cost=price))
    assert {name: wrong.tolist() for name, wrong in told.items()} == {fault: where}
    right = checks.overlay_of([(0, 1), (1, 2)])
    assert faults(instance, replace(right, cost=np.array([5, 6]))) == {}


@given(histories(), SEEDS)
def test_answer__does_not_depend_on_how_backups_are_told(history, seed):
    before, links, now, options = history
    _, instance, stored, changes = stored_between(before, links, now)
    backups = np.random.default_rng(seed).permutation(instance.n_nodes)[: instance.n_nodes // 2].astype(np.int32)
    one, other = (
        refreshed(instance, stored, replace(changes, backups=some), options)
        for some in (np.sort(backups), np.tile(backups, 2))
    )
    assert one.links.pairs() == other.links.pairs()


def test_links_of_nodes_that_are_gone__touch_their_topics_and_are_replaced():
    """A chain 0 - 1 - 2 loses its middle."""
    before = checks.instance_of([[0], [0], [0]], 1)
    links = checks.links_of(before, [(0, 1), (1, 2)])
    now = checks.instance_of([[0], [], [0]], 1)
    there, instance, stored, changes = stored_between(before, links, now)
    assert stored.dst.tolist() == [-1, 1]
    found = refreshed(instance, stored, changes, Options(churn=ChurnOptions(objective=COST)))
    assert (there.tolist(), found.links.pairs(), found.stays.tolist()) == ([0, 2], [(0, 1)], [False, False])
    assert found.apart == 1


def cover(instance, rows):
    """The layers of each node's backups that want each of its topics."""
    wants, found = naive.interests(instance), {}
    for v, backup, layer in zip(rows.node.tolist(), rows.backup.tolist(), rows.layer.tolist(), strict=True):
        assert backup != v
        assert wants[v] & wants[backup]
        for t in wants[v] & wants[backup]:
            found.setdefault((v, t), []).append(layer)
    return found


def needed(instance, coverage):
    return {
        (v, t): min(coverage, len(nodes) - 1)
        for t, nodes in enumerate(naive.members(instance))
        for v in nodes
        if len(nodes) > 1
    }


@given(histories())
def test_backups__cover_every_topic_of_every_node_as_often_as_others_want_it(history):
    instance, _, options = history[0], history[1], history[3]
    none = np.empty(0, np.int32)
    nothing = Changed(nodes=none, offsets=np.zeros(1, np.int64), topics=none, backups=none, known=none.astype(bool))
    rows = renewed_backups(instance, history[1], NOBODY, nothing, options)
    keys = list(zip(rows.node.tolist(), rows.backup.tolist(), strict=True))
    assert len(set(keys)) == len(keys)
    found = cover(instance, rows)
    for key, times in needed(instance, options.churn.coverage).items():
        assert len(found.get(key, ())) >= times
    assert set(rows.layer.tolist()) <= set(range(options.churn.coverage))


@given(histories())
def test_backups__are_chosen_anew_only_where_something_changed_for_them(history):
    before, links, now, options = history
    there, instance, stored, changes = stored_between(before, links, now)
    number = np.full(before.n_nodes + 1, -1)
    number[there] = np.arange(len(there))
    none = np.empty(0, np.int32)
    nothing = Changed(nodes=none, offsets=np.zeros(1, np.int64), topics=none, backups=none, known=none.astype(bool))
    then = renewed_backups(before, links, NOBODY, nothing, options)
    old = BackupRows(number[then.node], number[then.backup], then.layer)
    after = refreshed(instance, stored, changes, options).links
    rows = renewed_backups(instance, after, old, changes, options)
    was, wants = naive.interests(before), naive.interests(now)
    told, found = (
        {
            v: {(int(b), int(at)) for n, b, at in zip(r.node, r.backup, r.layer, strict=True) if n == v}
            for v in set(r.node.tolist())
        }
        for r in (then, rows)
    )
    both, covered = needed_by_both(before, now, options.churn.coverage), cover(instance, rows)
    for v, place in enumerate(number[:-1].tolist()):
        if place < 0:
            continue
        same = was[v] == wants[v] and v in told and all(was[b] == wants[b] for b, _ in told[v])
        if same:
            assert found[place] == {(number[b], at) for b, at in told[v]}
        for t in wants[v]:
            others = sum(t in wanted for u, wanted in enumerate(wants) if u != v)
            least = both.get((v, t), 0) if same else min(options.churn.coverage, others)
            assert len(covered.get((place, t), ())) >= least
    assert set(rows.node.tolist()) <= set(range(len(there)))
    assert not (rows.backup < 0).any()


def needed_by_both(before, now, coverage):
    """Of a node that kept its backups: as often as others wanted its topics when they were chosen, if they still do."""
    was, wants = naive.interests(before), naive.interests(now)
    return {
        (v, t): min(coverage, sum(t in a for u, a in enumerate(was) if u != v))
        for v, wanted in enumerate(wants)
        for t in wanted
        if was[v] == wanted
    }


@given(instances(), st.integers(1, 3), st.sampled_from(COVERS), SEEDS)
def test_chosen_backups__cover_what_was_asked_for_and_are_never_who_asks(instance, coverage, backups, seed):
    rng = np.random.default_rng(seed)
    asked = np.flatnonzero(rng.random(instance.n_nodes) < 0.5)[:1]  # one, so that nobody's backups are another's
    options = Options(churn=ChurnOptions(coverage=coverage, backups=backups))
    topics = np.concatenate([np.empty(0, np.int32), *[instance.topics_of(v) for v in asked]])
    degrees = np.zeros(instance.n_nodes, np.int64)
    sizes = np.array([len(instance.topics_of(v)) for v in asked], np.int64)
    found = chosen_backups(instance, degrees, sizes, topics, asked, options).tolist()
    assert found == sorted(set(found) - set(asked.tolist()))
    wants = naive.interests(instance)
    for v in asked.tolist():
        for t in wants[v]:
            others = sum(t in wanted for u, wanted in enumerate(wants) if u != v)
            assert sum(t in wants[u] for u in found) >= min(coverage - 1, others)  # one layer may have been its own


def test_nothing_stored_and_nothing_there():
    instance = checks.instance_of([], 0)
    none = np.empty(0, np.int32)
    changes = Changed(nodes=none, offsets=np.zeros(1, np.int64), topics=none, backups=none, known=none.astype(bool))
    before = checks.instance_of([[0], [0]], 1)
    links: Links = checks.links_of(before, [(0, 1)])
    stored = stored_between(before, links, checks.instance_of([[], []], 1))[2]
    found = refreshed(instance, stored, changes, Options())
    assert (len(found.links), found.stays.tolist(), found.apart) == (0, [False], 0)
