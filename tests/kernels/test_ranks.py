from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels import ranks as kernels
from overlay_spark.kernels.clock import advance, tight_at
from overlay_spark.kernels.growing import contribution, contribution_bound
from overlay_spark.kernels.waiting import bin_of
from tests import checks, naive
from tests.strategies import overlays


@given(overlays(), st.sampled_from([kernels.COST, kernels.COST_PER_TOPIC, kernels.TIGHT]), st.floats(0, 3))
def test_least_rank__is_never_above_the_rank(overlay, rule, time):
    instance, pairs = overlay
    run = kernels.new_run(instance.growing(checks.overlay_of(pairs)), instance.costs, rule)
    if rule == kernels.TIGHT:
        advance(run.state, run.clock, time)
    for (u, v), cost in naive.allowed(instance).items():
        bound, joins = contribution_bound(run.state, u, v), contribution(run.state, u, v)
        if not joins:
            continue
        least = kernels.least_rank(run, u, v, cost, bound)
        rank = {kernels.COST: cost, kernels.COST_PER_TOPIC: cost / joins}.get(rule)
        if rank is None:
            rank = max(tight_at(run.state, run.clock, u, v, cost), run.clock.now[0])
        assert least <= rank * (1 + 1e-12)
        assert 0 <= kernels.bin_in(run, least) == bin_of(least) - run.first_bin < run.n_bins


def test_new_run__has_as_many_nodes_as_the_problem():
    instance = checks.instance_of([[0], [0, 1], []], 2)
    assert kernels.nodes_of(kernels.new_run(instance.growing(), instance.costs, kernels.COST)) == 3
