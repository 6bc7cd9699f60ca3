import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.costs import cost_row, point_costs
from overlay_spark.kernels import bands as kernels
from overlay_spark.kernels.clock import advance
from overlay_spark.kernels.growing import contribution_bound
from overlay_spark.kernels.ranks import COST, COST_PER_TOPIC, TIGHT, new_run
from overlay_spark.kernels.waiting import bin_of
from tests import checks, naive
from tests.strategies import COMPILED, instances, overlays

RULES = st.sampled_from([COST, COST_PER_TOPIC, TIGHT])


def live_candidates(instance, state):
    """(bound of the contribution, src, dst, cost) of each allowed pair that may still contribute, in order."""
    rows = [(contribution_bound(state, u, v), u, v, cost) for (u, v), cost in naive.allowed(instance).items()]
    return [row for row in rows if row[0]]


def bins_of(instance, run):
    """The bin of each live candidate, by the definition of the rank where it has one without the clock's arrays."""
    found = []
    for bound, u, v, cost in live_candidates(instance, run.state):
        rank = {COST: float(cost), COST_PER_TOPIC: cost / bound}.get(run.rule)
        if rank is None:
            shared = len(set(instance.topics_of(u).tolist()) & set(instance.topics_of(v).tolist()))
            now = float(run.clock.now[0])
            rank = max(cost / shared, now + max(0.0, cost - shared * now) / bound)
        found.append((bin_of(rank) - run.first_bin, u, v))
    return found


def pair_of(instance, code):
    if len(instance.costs.src):
        return int(instance.costs.src[code]), int(instance.costs.dst[code])
    return divmod(int(code), instance.n_nodes)


def rows_of(instance, band):
    """(bin, src, dst) of what a band holds, in its order."""
    return [
        (b, *pair_of(instance, code))
        for b in range(band.start, band.end)
        for code in band.codes[band.places[b] : band.places[b + 1]]
    ]


@given(overlays(), RULES, st.floats(0, 3))
def test_sampled__by_every_node_counts_the_live_candidates_of_every_bin(overlay, rule, time):
    instance, pairs = overlay
    run = new_run(instance.growing(checks.overlay_of(pairs)), instance.costs, rule)
    if rule == TIGHT:
        advance(run.state, run.clock, time)
    members = kernels.new_members(run.state)
    most = kernels.look(run, members)
    counts = kernels.sampled(run, members, 0, 1)
    expected = np.zeros(run.n_bins, np.int64)
    np.add.at(expected, [b for b, _, _ in bins_of(instance, run)], 1)
    assert counts.tolist() == expected.tolist()
    assert counts.sum() <= most
    assert not members.count.any()


@given(instances(max_nodes=10), RULES, st.integers(1, 8))
def test_next_band__holds_the_candidates_of_its_bins_and_in_the_first_those_from_below(instance, rule, room):
    run = new_run(instance.growing(), instance.costs, rule)
    members, expected = kernels.new_members(run.state), bins_of(instance, run)
    start = 0
    while start < run.n_bins:
        band = kernels.next_band(run, members, start, room)
        assert band.start == start < band.end
        assert sorted(rows_of(instance, band)) == sorted((max(start, b), u, v) for b, u, v in expected if b < band.end)
        start = band.end


@given(overlays(), RULES, st.integers(1, 8))
def test_next_band__of_an_overlay_that_grew_holds_what_is_still_live(overlay, rule, room):
    instance, pairs = overlay
    run = new_run(instance.growing(checks.overlay_of(pairs)), instance.costs, rule)
    band = kernels.next_band(run, kernels.new_members(run.state), 0, room)
    assert sorted(rows_of(instance, band)) == sorted(row for row in bins_of(instance, run) if row[0] < band.end)


def test_next_band__takes_candidates_ranked_below_it_into_its_first_bin():
    costs = checks.matrix([(0, 1, 1), (0, 2, 1000), (1, 2, 1000)])
    instance = checks.instance_of([[0], [0], [0]], 1, costs)
    run = new_run(instance.growing(), instance.costs, COST)
    start = bin_of(1000.0) - run.first_bin
    band = kernels.next_band(run, kernels.new_members(run.state), start, 0)
    assert band.codes[band.places[start] : band.places[start + 1]].tolist() == [1, 2, 5]


def crowd(n_nodes, listed=False, n_topics=6):
    """Every node wants some of few topics; costs by place in a plane."""
    rng = np.random.default_rng(5)
    wants = [np.flatnonzero(rng.random(n_topics) < 0.4) for _ in range(n_nodes)]
    costs = point_costs(rng.random((n_nodes, 2)) * 1000, np.zeros(n_nodes), 1.0)
    if listed:
        costs = checks.fully_listed(np.array([cost_row(costs, u) for u in range(n_nodes)]))
    return checks.instance_of(wants, n_topics, costs)


@pytest.mark.parametrize("every", [2, 3])
def test_sampled__by_some_nodes_tells_about_how_many_there_are(every):
    instance = crowd(600 if COMPILED else 200)
    run = new_run(instance.growing(), instance.costs, COST_PER_TOPIC)
    members = kernels.new_members(run.state)
    kernels.look(run, members)
    exact = kernels.sampled(run, members, 0, 1)
    kernels.look(run, members)
    about = kernels.sampled(run, members, 0, every)
    assert 0.7 < about.sum() / exact.sum() < 1.4
    assert (about != exact).any()


@pytest.mark.parametrize("listed", [False, True])
def test_next_band__that_was_told_too_little_holds_fewer_bins_or_grows(monkeypatch, listed):
    instance = crowd(60, listed)
    run = new_run(instance.growing(), instance.costs, COST_PER_TOPIC)
    expected, told, rooms = bins_of(instance, run), [], []

    def too_little(*given):
        told.append(given)
        counts = np.zeros(run.n_bins, np.int64)
        counts[0] = 1  # one candidate in all
        return counts

    with_room = kernels.with_room

    def watched(catch, row):
        larger = with_room(catch, row)
        rooms.append((len(catch.codes), len(larger.codes)))
        return larger

    monkeypatch.setattr(kernels, "sampled", too_little)
    monkeypatch.setattr(kernels, "with_room", watched)
    members, start, bands = kernels.new_members(run.state), 0, 0
    while start < run.n_bins:
        band = kernels.next_band(run, members, start, 20)
        assert sorted(rows_of(instance, band)) == sorted((max(start, b), u, v) for b, u, v in expected if b < band.end)
        start, bands = band.end, bands + 1
    assert told
    assert bands > 1
    assert any(before == after for before, after in rooms)  # bins were left to the next band
    assert listed or any(before < after for before, after in rooms)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 20), st.data())
def test_band_end__fills_a_band_from_its_first_bin_on(counts, room, data):
    start = data.draw(st.integers(0, len(counts) - 1))
    end = kernels.band_end(np.array(counts), start, room)
    assert end > start
    assert sum(counts[start + 1 : end]) <= room
    assert end == len(counts) or sum(counts[start + 1 : end + 1]) > room


def test_in_bins__sorts_by_bin_and_keeps_the_order_within():
    codes, bins = np.array([7, 5, 9, 6, 8]), np.array([2, 0, 2, 2, 0], np.int32)
    assert kernels.in_bins(np.array([0, 2, 2]), codes, bins).tolist() == [5, 8, 7, 9, 6]
