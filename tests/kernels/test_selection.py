import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels import selection as kernels
from overlay_spark.kernels.clock import advance
from overlay_spark.kernels.growing import contribution_bound
from overlay_spark.kernels.waiting import bin_of
from tests import checks, naive
from tests.strategies import instances, overlays

RULES = st.sampled_from([kernels.COST, kernels.COST_PER_TOPIC, kernels.TIGHT])


def live_candidates(instance, state):
    """(bound of the contribution, src, dst, cost) of each allowed pair that may still contribute, in order."""
    rows = [(contribution_bound(state, u, v), u, v, cost) for (u, v), cost in naive.allowed(instance).items()]
    return [row for row in rows if row[0]]


def bins_of(instance, run):
    """The bin of each live candidate, by the definition of the rank where it has one without the clock's arrays."""
    found = []
    for bound, u, v, cost in live_candidates(instance, run.state):
        rank = {kernels.COST: float(cost), kernels.COST_PER_TOPIC: cost / bound}.get(run.rule)
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


@given(overlays(), RULES, st.floats(0, 3))
def test_scan__counts_the_live_candidates_of_every_bin(overlay, rule, time):
    instance, pairs = overlay
    run = kernels.new_run(instance.growing(checks.overlay_of(pairs)), instance.costs, rule)
    if rule == kernels.TIGHT:
        advance(run.state, run.clock, time)
    counts = np.zeros(run.n_bins, np.int64)
    kernels.scan(run, 0, run.n_bins, counts, np.empty(0, np.int64))
    expected = np.zeros(run.n_bins, np.int64)
    np.add.at(expected, [b for b, _, _ in bins_of(instance, run)], 1)
    assert counts.tolist() == expected.tolist()


@given(instances(max_nodes=10), RULES, st.integers(1, 8))
def test_next_band__holds_the_candidates_of_its_bins_and_in_the_first_those_from_below(instance, rule, room):
    run = kernels.new_run(instance.growing(), instance.costs, rule)
    picks, expected = kernels.new_picks(run.state), sorted(bins_of(instance, run))
    start, bands = 0, 0
    while start < run.n_bins:
        band = kernels.next_band(run, picks, start, room)
        assert band.start == start < band.end
        found = [
            (b, *pair_of(instance, code))
            for b in range(start, band.end)
            for code in band.codes[band.places[b] : band.places[b + 1]]
        ]
        assert found == sorted((max(start, b), u, v) for b, u, v in expected if b < band.end)
        start = band.end
        bands += 1
    assert picks.numbers.tolist() == [0, 0, len(expected), bands]


def test_next_band__takes_candidates_ranked_below_it_into_its_first_bin():
    costs = checks.matrix([(0, 1, 1), (0, 2, 1000), (1, 2, 1000)])
    instance = checks.instance_of([[0], [0], [0]], 1, costs)
    run = kernels.new_run(instance.growing(), instance.costs, kernels.COST)
    start = bin_of(1000.0) - run.first_bin
    band = kernels.next_band(run, kernels.new_picks(run.state), start, 0)
    assert band.codes[band.places[start] : band.places[start + 1]].tolist() == [1, 2, 5]


def test_queue__opens_bins_moves_heads_and_takes_candidates_back():
    costs = checks.matrix([(0, 1, 4), (0, 2, 4), (1, 2, 64)])
    instance = checks.instance_of([[0], [0], [0]], 1, costs)
    run = kernels.new_run(instance.growing(), instance.costs, kernels.COST)
    band = kernels.next_band(run, kernels.new_picks(run.state), 0, 100)
    queue = kernels.new_queue(band)
    four, eight, last = (bin_of(rank) - run.first_bin for rank in (4.0, 8.0, 64.0))

    def heap():
        return [(queue.ranks[i], queue.codes[i]) for i in range(queue.size[0])]

    kernels.open_bin(run, band, four, queue)
    assert heap() == [(4.0, 1), (4.0, 2)]
    kernels.lower_head(run, band, four + 1, queue, 4.001)  # risen within the bin
    assert heap() == [(4.0, 2), (4.001, 1)]
    kernels.lower_head(run, band, four + 1, queue, 8.0)  # risen beyond it
    assert heap() == [(4.001, 1)]
    kernels.drop_head(queue)
    kernels.put_back(run, band, four + 1, queue, 4.0, 1)
    assert heap() == [(4.0, 1)]
    kernels.drop_head(queue)
    kernels.put_back(run, band, four + 1, queue, 64.0, 1)
    kernels.open_bin(run, band, eight, queue)
    assert heap() == [(4.0, 2)]  # its rank is found anew when its bin is opened
    kernels.open_bin(run, band, last, queue)
    assert heap()[0] == (4.0, 1)
    assert sorted(heap()) == [(4.0, 1), (4.0, 2), (64.0, 5)]
