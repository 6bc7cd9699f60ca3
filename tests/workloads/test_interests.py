import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.errors import OptionError
from overlay_spark.workloads import interests as module
from overlay_spark.workloads.draws import uniforms
from overlay_spark.workloads.interests import Interests, subscriptions
from tests.strategies import SEEDS

NODES = np.arange(3000)
laws = st.sampled_from(["unif", "zipf", "expo"])
kinds = st.sampled_from(["uniform", "power", "bernoulli"])


def wants_of(interests, nodes, seed):
    """Node -> its topics, in the order given."""
    found = {int(v): [] for v in nodes}
    for v, t in zip(*(column.tolist() for column in subscriptions(interests, nodes, seed)), strict=True):
        found[v].append(t)
    return found


def shares(interests, seed=1):
    """How large a part of the nodes wants each topic."""
    return np.bincount(subscriptions(interests, NODES, seed)[1], minlength=interests.topics) / len(NODES)


@given(SEEDS, laws, st.data())
def test_subscriptions__are_distinct_topics_within_the_sizes(seed, law, data):
    topics = data.draw(st.integers(0, 80))
    most = data.draw(st.integers(0, topics))
    interests = Interests(topics=topics, least=data.draw(st.integers(0, most)), most=most, law=law)
    for wanted in wants_of(interests, np.arange(10), seed).values():
        assert len(set(wanted)) == len(wanted)
        assert interests.least <= len(wanted) <= most
        assert all(0 <= t < topics for t in wanted)


@given(SEEDS, laws, st.data())
def test_subscriptions__of_sizes_by_a_power_are_within_them_and_those_of_uniform_sizes_cut_short(seed, law, data):
    topics = data.draw(st.integers(1, 80))
    most = data.draw(st.integers(1, topics))
    least = data.draw(st.integers(1, most))
    exponent = data.draw(st.sampled_from([0.0, 0.5, 2.0, 1e308]))
    by_power, longest = (
        wants_of(Interests(topics=topics, law=law, **sizes), np.arange(10), seed)
        for sizes in (
            {"sizes": "power", "least": least, "most": most, "exponent": exponent},
            {"least": most, "most": most},
        )
    )
    for node, wanted in by_power.items():
        assert least <= len(wanted) <= most
        assert wanted == longest[node][: len(wanted)]
        assert exponent < 3 or len(wanted) == least


@given(SEEDS, st.integers(0, 80), st.floats(0, 1))
def test_subscriptions__of_topics_each_drawn_by_itself_are_distinct_and_in_order(seed, topics, share):
    interests = Interests(topics=topics, sizes="bernoulli", mean=share * topics)
    for wanted in wants_of(interests, np.arange(10), seed).values():
        assert wanted == sorted(set(wanted))
        assert all(0 <= t < topics for t in wanted)


@given(SEEDS, kinds, laws, st.lists(st.integers(0, 10**9), unique=True, max_size=20), st.integers(0, 20))
def test_subscriptions__do_not_depend_on_how_nodes_are_split(seed, kind, law, nodes, cut):
    interests = Interests(topics=30, sizes=kind, least=2, most=9, mean=3.0, law=law, alpha=0.5)
    together = wants_of(interests, np.array(nodes, np.int64), seed)
    parts = [wants_of(interests, np.array(part, np.int64), seed) for part in (nodes[:cut], nodes[cut:][::-1])]
    assert together == parts[0] | parts[1]


@pytest.mark.parametrize(
    "interests, expected",
    [
        ({"law": "unif"}, [[15, 0, 8], [21, 29, 1, 12, 24], [10, 7, 11, 28, 19]]),
        ({"law": "zipf"}, [[6, 0, 3], [11, 28, 0, 6, 20], [2, 1, 4, 27, 11]]),
        ({"law": "expo"}, [[5, 0, 2], [8, 24, 0, 4, 14], [3, 1, 4, 22, 9]]),
        ({"law": "zipf", "sizes": "power"}, [[6, 0], [11, 28, 0, 6], [2, 1, 4, 27]]),
        ({"law": "zipf", "sizes": "bernoulli"}, [[0, 1, 5, 12], [2, 5, 23], [0, 1, 23]]),
    ],
)
def test_subscriptions__of_a_seed_stay_what_they_are(interests, expected):
    drawn = wants_of(Interests(topics=30, least=2, most=6, mean=3.0, alpha=0.8, **interests), np.array([0, 1, 7]), 3)
    assert list(drawn.values()) == expected


@pytest.mark.parametrize("kind, draws", [("uniform", 1 + 9), ("power", 1 + 9), ("bernoulli", 45)])
def test_subscriptions__hold_few_numbers_at_a_time_whatever_the_number_of_nodes(kind, draws, monkeypatch):
    held, interests = [], Interests(topics=45, sizes=kind, least=2, most=9, law="zipf", alpha=0.5)
    together = wants_of(interests, NODES[:100], 1)

    def counted(seed, stream, rows, n_columns):
        held.append(len(rows) * n_columns)
        return uniforms(seed, stream, rows, n_columns)

    monkeypatch.setattr(module, "uniforms", counted)
    monkeypatch.setattr(module, "MOST_DRAWS", 90)
    assert wants_of(interests, NODES[:100], 1) == together
    assert 90 - draws < max(held) <= 90 + draws
    assert sum(held) == 100 * draws


def test_subscriptions__change_with_the_seed():
    interests = Interests(topics=50, least=5, most=20)
    sizes, others = ([len(wanted) for wanted in wants_of(interests, NODES[:20], seed).values()] for seed in (1, 2))
    assert wants_of(interests, NODES[:20], 1) == wants_of(interests, NODES[:20], 1)
    assert sizes != others
    alike = Interests(topics=50, least=5, most=5)
    assert wants_of(alike, NODES[:20], 1) != wants_of(alike, NODES[:20], 2)


def test_subscriptions__have_sizes_that_say_nothing_of_their_topics():
    wanted = wants_of(Interests(topics=50, least=1, most=20), NODES, 1).values()
    assert abs(np.corrcoef([(len(topics), topics[0]) for topics in wanted], rowvar=False)[0, 1]) < 5 / len(NODES) ** 0.5


def test_subscriptions__have_every_size_equally_often():
    sizes = [len(wanted) for wanted in wants_of(Interests(topics=40, least=3, most=12), NODES, 1).values()]
    counts = np.bincount(sizes)
    assert np.flatnonzero(counts).tolist() == list(range(3, 13))
    assert (abs(counts[3:] - 300) < 6 * np.sqrt(300)).all()


@pytest.mark.parametrize("exponent", [0.0, 0.5, 2.0])
def test_subscriptions__have_sizes_by_a_power_as_often_as_it_says(exponent):
    interests = Interests(topics=40, sizes="power", least=4, most=12, exponent=exponent)
    counts = np.bincount([len(wanted) for wanted in wants_of(interests, NODES, 1).values()], minlength=13)
    expected = np.arange(4.0, 13) ** -exponent
    expected *= len(NODES) / expected.sum()
    assert counts.sum() == counts[4:].sum() == len(NODES)
    assert (abs(counts[4:] - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("law", ["unif", "zipf", "expo"])
def test_subscriptions__of_topics_each_drawn_by_itself_have_the_chances_and_say_nothing_of_each_other(law):
    interests = Interests(topics=25, sizes="bernoulli", mean=4.0, law=law, alpha=0.5)
    chances = interests.chances()
    assert chances.sum() == pytest.approx(4)
    assert chances / chances[0] == pytest.approx(interests.popularity())
    assert (abs(shares(interests) - chances) < 5 * np.sqrt(chances * (1 - chances) / len(NODES))).all()
    wants = np.zeros((len(NODES), 25))
    wants[subscriptions(interests, NODES, 1)] = 1
    assert abs(np.corrcoef(wants, rowvar=False) - np.eye(25)).max() < 5 / len(NODES) ** 0.5
    spread = (chances * (1 - chances)).sum()
    assert wants.sum(axis=1).var() == pytest.approx(spread, abs=6 * spread / len(NODES) ** 0.5)


def test_chances__of_paper_001_are_those_of_ten_of_a_hundred_topics():
    chances = Interests(topics=100, sizes="bernoulli", mean=10.0, law="zipf", alpha=0.5).chances()
    assert chances[[0, 3, 99]] == pytest.approx([0.5379, 0.2690, 0.0538], abs=1e-4)


def test_subscriptions__of_topics_each_drawn_by_itself_grow_with_the_mean():
    few, more, all_of_them = (
        wants_of(Interests(topics=40, sizes="bernoulli", mean=mean), NODES[:50], 1) for mean in (3.0, 20.0, 40.0)
    )
    assert all(set(wanted) <= set(more[node]) for node, wanted in few.items())
    assert sum(map(len, few.values())) < sum(map(len, more.values())) < 50 * 40
    assert all(wanted == list(range(40)) for wanted in all_of_them.values())


def test_subscriptions__of_all_topics_hold_each_once():
    assert sorted(wants_of(Interests(topics=9, least=9, most=9, law="zipf"), NODES[:1], 4)[0]) == list(range(9))


@pytest.mark.parametrize(
    "law, popularity",
    [
        ("unif", lambda i: np.ones(len(i))),
        ("zipf", lambda i: i**-2.0),
        ("expo", lambda i: np.exp(-4 * i / len(i))),
    ],
)
def test_subscriptions__of_one_topic_follow_the_law(law, popularity):
    expected = popularity(np.arange(1.0, 21))
    expected /= expected.sum()
    found = shares(Interests(topics=20, least=1, most=1, law=law))
    assert (abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / len(NODES)) + 1e-9).all()


def test_subscriptions__of_two_topics_are_drawn_one_after_the_other():
    # Probability that topic i is among two drawn without replacement with popularity q: q_i (1 + sum q_j / (1 - q_j)).
    q = np.array([1, 1 / 4, 1 / 9])
    q /= q.sum()
    odds = q / (1 - q)
    expected = q * (1 + odds.sum() - odds)
    assert expected.sum() == pytest.approx(2)
    assert shares(Interests(topics=3, least=2, most=2, law="zipf")) == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("law, popularity", [("unif", [1, 1, 1, 1]), ("zipf", [1, 1 / 4, 1 / 9, 1 / 16])])
def test_subscriptions__of_two_topics_come_in_every_order_as_often_as_its_chance(law, popularity):
    n, q = 20_000, np.array(popularity) / sum(popularity)
    topics = subscriptions(Interests(topics=4, least=2, most=2, law=law), np.arange(n), 1)[1].reshape(n, 2)
    distance = 0.0
    for first, second in permutations(range(4), 2):
        expected = n * q[first] * q[second] / (1 - q[first])
        distance += ((topics == [first, second]).all(axis=1).sum() - expected) ** 2 / expected
    assert distance < 40  # chi-square of 11 degrees of freedom: above once in 30 000 seeds


def test_subscriptions__of_more_topics_begin_with_those_of_fewer():
    sizes = [Interests(topics=60, least=most, most=most, law="zipf", alpha=0.8) for most in (5, 40)]
    few, more = (wants_of(interests, NODES[:20], 1) for interests in sizes)
    assert few == {v: wanted[:5] for v, wanted in more.items()}


@pytest.mark.parametrize("alpha", [50.0, 400.0, 1e308])
def test_subscriptions__by_extreme_laws_are_still_distinct(alpha):
    interests = Interests(topics=300, least=300, most=300, law="zipf", alpha=alpha)
    for wanted in wants_of(interests, NODES[:5], 1).values():
        assert sorted(wanted) == list(range(300))
        assert wanted[0] == 0
        assert alpha > 1000 or wanted[:3] == [0, 1, 2]


def test_subscriptions__beyond_what_doubles_can_hold_spread_alike():
    topics = subscriptions(Interests(topics=5, least=2, most=2, law="zipf", alpha=1e308), NODES, 1)[1].reshape(-1, 2)
    assert (topics[:, 0] == 0).all()
    assert (abs(np.bincount(topics[:, 1])[1:] / len(NODES) - 1 / 4) < 5 * np.sqrt(3 / 16 / len(NODES))).all()


def test_subscriptions__of_uniform_interest_spread_alike():
    found = shares(Interests(topics=25, least=5, most=5))
    assert (abs(found - 0.2) < 5 * np.sqrt(0.2 * 0.8 / len(NODES))).all()


def test_alpha__steepens_zipf():
    flat, steep = (shares(Interests(topics=20, least=2, most=2, law="zipf", alpha=alpha)) for alpha in (0.5, 3.0))
    assert steep[0] > flat[0]
    assert steep[-1] < flat[-1]


@pytest.mark.parametrize(
    "values, message",
    [
        ({"least": -1}, "interests: sizes must be 0 <= least <= most <= topics, got -1, 100, 200."),
        ({"least": 5, "most": 4}, "got 5, 4, 200."),
        ({"most": 201}, "got 20, 201, 200."),
        ({"sizes": "power", "least": 0}, "interests: sizes must be 1 <= least <= most <= topics, got 0, 100, 200."),
        ({"law": "pareto"}, "interests.law must be one of unif, zipf, expo, got 'pareto'."),
        ({"sizes": "fixed"}, "interests.sizes must be one of uniform, power, bernoulli, got 'fixed'."),
        ({"alpha": -1.0}, "interests.alpha must be a number of at least 0, got -1.0."),
        ({"sizes": "power", "exponent": float("inf")}, "interests.exponent must be a number of at least 0, got inf."),
        ({"sizes": "bernoulli", "mean": -1.0}, "interests.mean must be from 0 to 200, got -1.0."),
        ({"sizes": "bernoulli", "mean": 201.0}, "interests.mean must be from 0 to 200, got 201.0."),
        ({"sizes": "bernoulli", "topics": 0}, "interests.mean must be from 0 to 0, got 10.0."),
        (
            {"sizes": "bernoulli", "law": "zipf"},
            "interests: of 10 topics a node on average, the first would be wanted with a chance of 6.1; "
            "lower the mean, or take a law that falls less.",
        ),
    ],
)
def test_interests__refuse_what_cannot_be_drawn(values, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        Interests(**values)
