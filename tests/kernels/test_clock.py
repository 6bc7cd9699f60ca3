import numpy as np
import pytest
from hypothesis import given

from overlay_spark.kernels import clock as kernels
from overlay_spark.kernels.growing import contribution, contribution_bound
from tests import checks, naive
from tests.strategies import SEEDS, overlays


class Meetings:
    """When each two nodes met in each topic, by looking at all of them after every link."""

    def __init__(self, instance, start):
        self.overlay = naive.Overlay(instance, start)
        self.at = {}
        self.note(0.0)

    def note(self, time):
        for t, label in enumerate(self.overlay.labels):
            for u in label:
                for v in label:
                    if label[u] == label[v]:
                        self.at.setdefault((t, u, v), time)

    def add(self, u, v, time):
        self.overlay.add(u, v)
        self.note(time)

    def tight_at(self, u, v, cost):
        shared = self.overlay.wants[u] & self.overlay.wants[v]
        apart = len(self.overlay.joined(u, v))
        return (cost - sum(self.at.get((t, u, v), 0.0) for t in shared)) / apart if apart else -1.0


@given(overlays(max_nodes=7, max_topics=70), SEEDS)
def test_clock__knows_when_any_two_met_and_when_a_candidate_runs_tight(overlay, seed):
    instance, pairs = overlay
    start, pairs = pairs[: len(pairs) // 3], pairs[len(pairs) // 3 :]
    state, twin = instance.growing(checks.overlay_of(start)), Meetings(instance, start)
    clock, rng = kernels.new_clock(state), np.random.default_rng(seed)
    value = time = 0.0
    for u, v in pairs:
        value += twin.overlay.apart() * (raised := float(rng.integers(0, 3)))
        time += raised
        kernels.advance(state, clock, time)
        topics = twin.overlay.joined(u, v)
        assert kernels.join_now(state, clock, u, v) == (topics[0] if topics else -1)
        twin.add(u, v, time)
        for (a, b), cost in naive.allowed(instance).items():
            cost += 200 * 3 * len(pairs)  # dear enough that nothing has run tight yet
            expected = twin.tight_at(a, b, cost)
            assert kernels.tight_at(state, clock, a, b, cost) == pytest.approx(expected, rel=1e-12)
            if contribution(state, a, b):
                bound = contribution_bound(state, a, b)
                assert kernels.earliest(state, clock, a, b, cost, bound) <= expected * (1 + 1e-12)
    assert clock.now.tolist() == [time, value]
    assert state.apart[0] == twin.overlay.apart()


def test_advance__never_goes_back():
    instance = checks.instance_of([[0], [0], [0]], 1)
    state = instance.growing()
    clock = kernels.new_clock(state)
    for time in (2.0, 1.0):
        kernels.advance(state, clock, time)
        assert clock.now.tolist() == [2.0, 4.0]
