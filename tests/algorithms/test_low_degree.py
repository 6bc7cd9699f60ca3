"""Overlays of low degree: link by link what looking at all links gives."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.algorithms.greedy import fewest_links
from overlay_spark.algorithms.low_degree import low_degree, min_max_degree
from overlay_spark.options import DegreeOptions
from tests import checks, naive
from tests.conftest import GOLDEN
from tests.strategies import instances, overlays

CASES = [json.loads(path.read_text()) for path in GOLDEN]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_case__has_the_links_of_each_k(case):
    instance = checks.instance_of([np.flatnonzero(row) for row in case["X"]], case["T"])
    assert [list(pair) for pair in min_max_degree(instance).pairs()] == case["expected"]["MinMaxODA"]["edges"]
    for k in (1, 3, 8):
        found = low_degree(instance, DegreeOptions(k=k)).pairs()
        assert [list(pair) for pair in found] == case["expected"][f"LowODA_k{k}"]["edges"]


@given(overlays(max_nodes=9, any_pair=True), st.sampled_from([1.0, 1.5, 3.0, math.inf]), st.booleans())
def test_low_degree__picks_what_looking_at_all_links_gives(overlay, k, weighted):
    instance, start = overlay
    options, there = DegreeOptions(k=k, weighted=weighted), checks.overlay_of(start)
    assert checks.picks(low_degree(instance, options, there)) == naive.low_degree(instance, k, weighted, start)
    if k == math.inf:
        assert checks.picks(min_max_degree(instance, options, there)) == naive.low_degree(instance, k, weighted, start)


@given(instances())
def test_k_of_1__is_fewest_links_but_for_ties(instance):
    """With k = 1 a link is taken for the degree only where none joins more."""
    joins = low_degree(instance, DegreeOptions(k=1)).contribution
    assert joins.sum() == fewest_links(instance).contribution.sum()
    assert (np.diff(joins) <= 0).all()


def test_lower_k__means_fewer_links_and_a_higher_one_lower_degrees():
    rng = np.random.default_rng(0)
    instance = checks.instance_of([rng.choice(40, size, replace=False) for size in rng.integers(3, 40, 150)], 40)

    def degrees(links):
        return np.bincount(np.concatenate([links.src, links.dst]), minlength=150)

    found = [degrees(low_degree(instance, DegreeOptions(k=k))) for k in (1, 3, 8)]
    found.append(degrees(min_max_degree(instance)))
    assert found[0].sum() < found[-1].sum()
    assert found[0].max() > found[-1].max()
    assert [d.max() for d in found] == sorted((d.max() for d in found), reverse=True)
