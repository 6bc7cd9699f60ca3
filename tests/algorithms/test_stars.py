"""Stars: the papers' centres and links, and diameters of at most two."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given

from overlay_spark.algorithms.stars import dense_stars, weighted_stars, wide_stars
from tests import checks, naive
from tests.conftest import GOLDEN
from tests.strategies import instances

CASES = [json.loads(path.read_text()) for path in GOLDEN]
ALL = (wide_stars, weighted_stars, dense_stars)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_case__has_the_links_by_centre(case):
    instance = checks.instance_of([np.flatnonzero(row) for row in case["X"]], case["T"])
    for algorithm, name in zip(ALL, ("CDODA", "CDODA_I", "CDODA_II"), strict=True):
        assert [list(pair) for pair in algorithm(instance).pairs()] == case["expected"][name]["edges"]


@given(instances(listed=False))
def test_stars__leave_no_topic_with_a_diameter_above_two(instance):
    for algorithm in ALL:
        diameters = instance.topic_shapes(algorithm(instance))[:, 3]
        assert diameters.max(initial=0) <= 2


@given(instances(listed=True))
def test_stars__where_links_are_listed_connect_what_these_can(instance):
    for algorithm in ALL:
        links = algorithm(instance)
        assert checks.joins_all_that_can_be(instance, links)
        assert links.contribution.tolist() == naive.replay(instance, links.pairs())
