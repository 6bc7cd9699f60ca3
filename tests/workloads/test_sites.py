from itertools import combinations, permutations

import pytest

from overlay_spark.workloads.sites import (
    CITIES,
    DETOUR,
    EARTH_RADIUS_KM,
    FIBRE_KM_PER_MS,
    WITHIN_SITE_MS,
    round_trip_ms,
)


def test_round_trip_ms__is_the_same_both_ways():
    assert all(round_trip_ms(a, b) == round_trip_ms(b, a) for a, b in combinations(CITIES, 2))


def test_round_trip_ms__within_a_site_is_the_least():
    assert {round_trip_ms(city, city) for city in CITIES} == {WITHIN_SITE_MS}
    assert min(round_trip_ms(a, b) for a, b in combinations(CITIES, 2)) > WITHIN_SITE_MS


def test_round_trip_ms__is_never_longer_than_around_half_the_earth():
    half_the_earth = 3.1416 * EARTH_RADIUS_KM
    limit = WITHIN_SITE_MS + 2 * DETOUR * half_the_earth / FIBRE_KM_PER_MS
    assert max(round_trip_ms(a, b) for a, b in combinations(CITIES, 2)) <= limit


def test_round_trip_ms__keeps_the_triangle_inequality():
    for a, b, via in permutations(CITIES, 3):
        assert round_trip_ms(a, b) <= round_trip_ms(a, via) + round_trip_ms(via, b) + 0.001  # rounded


@pytest.mark.parametrize(
    "a, b, km", [("amsterdam", "dublin", 757), ("tokyo", "oregon", 7800), ("singapore", "sydney", 6300)]
)
def test_round_trip_ms__follows_the_distance_on_the_globe(a, b, km):
    found = (round_trip_ms(a, b) - WITHIN_SITE_MS) * FIBRE_KM_PER_MS / (2 * DETOUR)
    assert found == pytest.approx(km, rel=0.03)


def test_round_trip_ms__is_whole_in_microseconds():
    for a, b in combinations(CITIES, 2):
        assert round_trip_ms(a, b) == round(round_trip_ms(a, b), 3)
