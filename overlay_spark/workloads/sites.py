"""Ten cities and the round trips between them, for the demonstration."""

from __future__ import annotations

import math

CITIES = {
    "amsterdam": (52.37, 4.90),
    "dublin": (53.35, -6.26),
    "johannesburg": (-26.20, 28.05),
    "mumbai": (19.08, 72.88),
    "oregon": (45.52, -122.68),
    "sao-paulo": (-23.55, -46.63),
    "singapore": (1.35, 103.82),
    "sydney": (-33.87, 151.21),
    "tokyo": (35.68, 139.69),
    "virginia": (38.95, -77.45),
}
EARTH_RADIUS_KM = 6371.0
FIBRE_KM_PER_MS = 200.0
DETOUR = 1.5
"""Fibre seldom runs straight."""
WITHIN_SITE_MS = 0.5


def round_trip_ms(a: str, b: str) -> float:
    """Milliseconds there and back along the great circle, with a detour, in fibre; to the microsecond."""
    if a == b:
        return WITHIN_SITE_MS
    (lat_a, lon_a), (lat_b, lon_b) = ((math.radians(x), math.radians(y)) for x, y in (CITIES[a], CITIES[b]))
    angle = math.acos(math.sin(lat_a) * math.sin(lat_b) + math.cos(lat_a) * math.cos(lat_b) * math.cos(lon_a - lon_b))
    return round(WITHIN_SITE_MS + 2 * DETOUR * EARTH_RADIUS_KM * angle / FIBRE_KM_PER_MS, 3)
