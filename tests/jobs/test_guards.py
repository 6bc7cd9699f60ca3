"""Limits to what a refresh may change unasked: what is said, and which token lets just that plan through."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from overlay_spark.errors import GuardError
from overlay_spark.jobs import guards
from overlay_spark.jobs.generations import Head
from overlay_spark.jobs.guards import BY_DEGREE, drift_of, guard, options_for
from overlay_spark.options import ChurnOptions, Options, RefreshOptions
from overlay_spark.results import RefreshMetrics

HEAD = Head(generation=3, version=7, metadata={"algorithm": "greedy"})
INPUTS = {"subscriptions": {"reference": "delta:bus/subscriptions", "version": 12}}
CALM = RefreshMetrics(
    links_before=100,
    links=100,
    added=10,
    removed=10,
    recosted=10,
    updated=10,
    nodes_before=50,
    nodes_lost=1,
    nodes=49,
    topics=5,
    topics_touched=2,
    topics_apart=1,
    shadow_nodes=4,
    cost_before=100.0,
    cost=100.0,
    joined_before=100,
    joined=100,
    max_degree=4,
    solve_seconds=0.1,
)
STORMY = [
    ({"added": 31}, "add 31 of 100 links (31.0%; refresh.most_added is 30.0%)"),
    ({"removed": 45}, "remove 45 of 100 links (45.0%; refresh.most_removed is 30.0%)"),
    ({"recosted": 51}, "give another cost to 51 of 100 links (51.0%; refresh.most_recosted is 50.0%)"),
    ({"nodes_lost": 11}, "find gone 11 of 50 nodes (22.0%; refresh.most_nodes_lost is 20.0%)"),
]


def refused(metrics, head=HEAD, inputs=INPUTS, approved=None):
    with pytest.raises(GuardError) as refusal:
        guard(metrics, head, inputs, Options(), approved)
    return str(refusal.value)


def token(message):
    return re.search(r"--approve (\w+)\.$", message)[1]


def test_calm_refresh__passes_and_one_at_the_limits_too():
    guard(CALM, HEAD, INPUTS, Options(), None)
    guard(replace(CALM, added=30, removed=30, recosted=50, nodes_lost=10), HEAD, INPUTS, Options(), None)


@pytest.mark.parametrize("changes, told", STORMY, ids=lambda given: given if isinstance(given, str) else "")
def test_each_limit__is_told_with_its_numbers_and_let_through_by_its_token(changes, told):
    stormy = replace(CALM, **changes)
    message = refused(stormy)
    assert message.startswith(f"This refresh would {told}. Nothing was written. An empty or half-loaded input")
    guard(stormy, HEAD, INPUTS, Options(), token(message))


def test_all_limits__are_told_at_once():
    changes = {name: count for change, _ in STORMY for name, count in change.items()}
    message = refused(replace(CALM, **changes))
    assert all(told in message for _, told in STORMY)


@pytest.mark.parametrize(
    "metrics, head, version",
    [
        (replace(CALM, added=32), HEAD, 12),
        (replace(CALM, added=31, nodes_lost=2), HEAD, 12),
        (replace(CALM, added=31), replace(HEAD, version=8), 12),
        (replace(CALM, added=31), HEAD, 13),
    ],
    ids=["another number of links", "other nodes lost", "another overlay", "another input"],
)
def test_token__is_of_one_plan_only(metrics, head, version):
    old = token(refused(replace(CALM, added=31)))
    inputs = {"subscriptions": {**INPUTS["subscriptions"], "version": version}}
    message = refused(metrics, head, inputs, approved=old)
    assert f"The token {old} was for another plan." in message
    assert token(message) != old


def test_objective__is_that_of_the_design_where_it_is_left_open():
    for algorithm in ("greedy", *BY_DEGREE):
        head = replace(HEAD, metadata={"algorithm": algorithm})
        assert options_for(head, Options()).churn.by_degree == (algorithm in BY_DEGREE)
        asked = Options(churn=ChurnOptions(objective="cost"))
        assert options_for(head, asked) == asked


def test_overlay__about_as_dear_as_before_needs_no_new_design():
    nothing = pytest.fail  # no problem is looked at
    options = Options(refresh=RefreshOptions(most_drift=0.1))
    dearer = replace(CALM, cost=109.0)
    assert drift_of(nothing, dearer, HEAD, options, nothing) == ({"base": 1.0, "drift": 0.0}, (), None)
    told = replace(HEAD, metadata={"quality": {"base": 0.9, "drift": 0.3}})
    much_dearer = replace(CALM, cost=120.0)  # 33 % above: known, and not much worse than when it was told
    quality, (note,), fresh = drift_of(nothing, much_dearer, told, options, nothing)
    assert (quality, fresh) == ({"base": 0.9, "drift": 0.3}, None)
    assert note.startswith("The overlay costs 30.0% more than a new design would.")  # it is told again


def test_new_design__that_is_refused_is_a_note(monkeypatch):
    """What was refreshed is written all the same."""

    def refused(*_, **__):
        raise GuardError("It is too large.")

    monkeypatch.setattr(guards, "design", refused)
    options = Options(refresh=RefreshOptions(most_drift=0.1))
    quality, (note,), fresh = drift_of(None, replace(CALM, cost=120.0), HEAD, options, lambda _: None)
    assert (quality, fresh) == ({"base": 1.0, "drift": 0.0}, None)
    assert note == ("The overlay may have become 20.0% dearer than a new design, which was refused: It is too large.")
