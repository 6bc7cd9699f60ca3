import pytest
from hypothesis import given

from overlay_spark.kernels.primal_dual import select_tight_links
from tests import checks, naive
from tests.strategies import COMPILED, instances, overlays


def raises(instance, found, start=()):
    """The raises of the dual variables, replayed link by link: (what each pair has paid, their value)."""
    paid = dict.fromkeys(naive.allowed(instance), 0.0)
    overlay = naive.Overlay(instance, start)
    value = clock = 0.0
    for (u, v), then in zip(found.rows[:, :2].tolist(), found.ranks.tolist(), strict=True):
        assert then >= clock
        for pair in paid:
            paid[pair] += len(overlay.joined(*pair)) * (then - clock)
        value += overlay.apart() * (then - clock)
        overlay.add(u, v)
        clock = then
    return paid, value, overlay


@given(overlays(max_nodes=9))
def test_select_tight_links__raises_no_dual_variable_too_far(overlay):
    instance, start = overlay
    found = select_tight_links(instance.growing(checks.overlay_of(start)), instance.costs, 0)
    paid, value, grown = raises(instance, found, start)
    assert all(paid[pair] <= cost * (1 + 1e-9) for pair, cost in naive.allowed(instance).items())
    assert not any(grown.joined(*pair) for pair in paid)
    if not grown.apart():  # else topics that cannot be connected pay on in the replay, as they do in the dual
        assert found.dual == pytest.approx(value, rel=1e-12)


@given(instances(max_nodes=9, max_topics=70))
def test_select_tight_links__picks_what_the_paper_s_algorithm_picks(instance):
    found = select_tight_links(instance.growing(), instance.costs, 0)
    overlay = naive.Overlay(instance)
    rows = [(u, v, naive.allowed(instance)[u, v], overlay.add(u, v)) for u, v, _ in naive.primal_dual(instance)[0]]
    assert found.rows.tolist() == [[u, v, cost, len(topics), topics[0]] for u, v, cost, topics in rows]
    assert found.evaluations >= len(found.rows)


@pytest.mark.parametrize("band", [1, 20, 0])
def test_select_tight_links__of_many_bands_equals_one_band(band):
    n = 90 if COMPILED else 25
    wants = [[t for t in range(12) if (v * 7 + t * t) % 5 < 2] for v in range(n)]
    costs = checks.matrix([(u, v, 1 + (u * 31 + v * 17) % 97) for u in range(n) for v in range(u + 1, n)])
    instance = checks.instance_of(wants, 12, costs)
    one = select_tight_links(instance.growing(), instance.costs, 10**9)
    found = select_tight_links(instance.growing(), instance.costs, band)
    assert found.rows.tolist() == one.rows.tolist()
    assert found.ranks == pytest.approx(one.ranks, rel=1e-12)
    assert (one.bands, found.bands > 1) == (1, band > 0)


def test_select_tight_links__lets_any_number_of_candidates_tie():
    instance = checks.instance_of([[0]] * 30, 1)  # 435 candidates run tight at time 1, 29 of them are picked
    found = select_tight_links(instance.growing(), instance.costs, 0)
    assert found.rows[:, :2].tolist() == [[0, v] for v in range(1, 30)]
    assert (set(found.ranks.tolist()), found.dual) == ({1.0}, 29.0)
