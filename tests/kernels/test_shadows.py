"""Backups: those the slow twin chooses, and the covers the paper promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.shadows import wants_of
from overlay_spark.kernels.shadows import Backups, build_backups
from tests import checks, naive, naive_churn
from tests.strategies import SEEDS, instances

NO_DRAWS = np.empty(0, np.uint64)


def backups_before(rows):
    starts = np.cumsum([0, *map(len, rows)])
    nodes = np.array([u for row in rows for u in row], np.int32)
    return Backups(starts.astype(np.int64), nodes, np.zeros(len(nodes), np.int32))


def layers_of(found, coverage):
    """By node asked for: its backups layer by layer."""
    rows = []
    for first, end in zip(found.starts, found.starts[1:], strict=False):
        nodes, layers = found.nodes[first:end], found.layers[first:end]
        assert (np.diff(layers) >= 0).all()
        rows.append([nodes[layers == layer].tolist() for layer in range(coverage)])
    return rows


def flat(layers):
    return [u for layer in layers for u in layer]


def build(instance, asked, coverage=1, greedy=False, weights=None, draws=NO_DRAWS):
    """Backups of these nodes that had none before."""
    weights = np.ones(instance.n_nodes, np.int64) if weights is None else np.array(weights)
    none = backups_before([[]] * len(asked))
    found = build_backups(wants_of(instance), np.array(asked, np.int32), none, weights, coverage, greedy, draws)
    return layers_of(found, coverage)


@given(instances(), st.integers(1, 4), st.booleans(), st.none() | st.integers(0, 2**63 - 1), SEEDS)
def test_backups__are_those_the_slow_twin_chooses(instance, coverage, greedy, draw_from, seed):
    rng, wants = np.random.default_rng(seed), naive.interests(instance)
    asked = rng.permutation(instance.n_nodes)[:4].astype(np.int32)
    old = [np.flatnonzero(rng.random(instance.n_nodes) < 0.2).tolist() for _ in asked]
    weights = rng.integers(0, 5, instance.n_nodes)
    np.add.at(weights, [u for row in old for u in row], 1)
    expected_weights = weights.tolist()
    draws = NO_DRAWS if draw_from is None else np.array([draw_from], np.uint64)
    found = build_backups(wants_of(instance), asked, backups_before(old), weights, coverage, greedy, draws)
    generator = None if draw_from is None else naive_churn.SplitMix64(draw_from)
    for v, before, layers in zip(asked.tolist(), old, layers_of(found, coverage), strict=True):
        for u in before:
            expected_weights[u] -= 1
        others = {u: wanted for u, wanted in enumerate(wants) if u != v}
        weight = dict(enumerate(expected_weights))
        assert layers == naive_churn.backups(wants[v], others, weight, coverage, greedy, generator)
        for u in flat(layers):
            expected_weights[u] += 1
    assert weights.tolist() == expected_weights


@given(instances(), st.integers(1, 4), st.booleans(), st.booleans())
def test_backups__are_disjoint_covers_of_what_others_want_of_the_nodes_topics(instance, coverage, greedy, is_random):
    members, draws = naive.members(instance), np.full(int(is_random), 7, np.uint64)
    for v, layers in enumerate(build(instance, range(instance.n_nodes), coverage, greedy, draws=draws)):
        chosen = flat(layers)
        assert v not in chosen
        assert len(set(chosen)) == len(chosen)
        for t in instance.topics_of(v).tolist():
            left = set(members[t]) - {v}
            assert len(left & set(chosen)) >= min(coverage, len(left))
            for layer in layers:
                assert left & set(layer) or not left
                left -= set(layer)
        assert all(naive.interests(instance)[u] & naive.interests(instance)[v] for u in chosen)


@given(instances(), st.integers(1, 3), st.booleans())
def test_backups_of_one_who_is_not_there__are_chosen_among_all_who_are(instance, coverage, greedy):
    """Its row follows the others', and it is nobody's member: so a node's backups are told after it left."""
    wants = wants_of(instance)
    row = np.unique(instance.topics)[::2]
    wants = wants._replace(
        offsets=np.append(wants.offsets, len(wants.topics) + len(row)), topics=np.concatenate([wants.topics, row])
    )
    weights = np.arange(instance.n_nodes + 1) % 3
    asked, others = np.array([instance.n_nodes], np.int32), dict(enumerate(naive.interests(instance)))
    expected = naive_churn.backups(row.tolist(), others, dict(enumerate(weights.tolist())), coverage, greedy)
    found = build_backups(wants, asked, backups_before([[]]), weights, coverage, greedy, NO_DRAWS)
    assert layers_of(found, coverage) == [expected]


def test_primal_dual__takes_a_node_of_no_weight_only_where_all_others_have_none():
    """Alg. 12 asks for a weight above 0 and would find nobody for the first who joins."""
    instance = checks.instance_of([[0], [0], [0]], 1)
    assert build(instance, [2], weights=[0, 5, 0]) == [[[1]]]
    assert build(instance, [2], weights=[0, 0, 0]) == [[[0]]]
    assert build(instance, [2], coverage=2, weights=[0, 5, 0]) == [[[1], [0]]]


def test_primal_dual__counts_down_the_weights_of_those_passed_over():
    instance = checks.instance_of([[0, 1], [0], [0, 1], [1]], 2)
    assert build(instance, [0], weights=[0, 4, 5, 2]) == [[[1, 2]]]  # what is left of node 2 is 1, less than 2
    assert build(instance, [0], weights=[0, 1, 5, 2]) == [[[1, 3]]]


def test_greedy__weighs_a_node_by_how_many_topics_it_covers():
    instance = checks.instance_of([[0, 1], [0], [0, 1], [1]], 2)
    assert build(instance, [0], greedy=True, weights=[0, 3, 5, 3]) == [[[2]]]
    assert build(instance, [0], greedy=True, weights=[0, 3, 6, 3]) == [[[1, 3]]]  # a tie: the lowest node


def test_topic_nobody_else_wants__stays_without_backups():
    instance = checks.instance_of([[0, 1], [1]], 2)
    for greedy in (False, True):
        assert build(instance, [0, 1], coverage=2, greedy=greedy) == [[[1], []], [[0], []]]


def test_slow_twin__draws_the_published_numbers():
    generator = naive_churn.SplitMix64(1234567)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [generator.next() for _ in published] == published


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_random_pick__goes_on_with_the_same_numbers_from_call_to_call(seed):
    rng = np.random.default_rng(5)
    instance = checks.instance_of([np.flatnonzero(rng.random(30) < 0.5) for _ in range(12)], 30)
    draws = np.array([seed], np.uint64)
    one_by_one = [build(instance, [v], coverage=3, draws=draws)[0] for v in range(12)]
    generator = naive_churn.SplitMix64(seed)
    for v, layers in enumerate(one_by_one):
        others = {u: wanted for u, wanted in enumerate(naive.interests(instance)) if u != v}
        assert layers == naive_churn.backups(
            instance.topics_of(v).tolist(), others, dict.fromkeys(others, 1), 3, False, generator
        )
    assert int(draws[0]) == generator.state
