"""Centres by their definition, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from overlay_spark.kernels.stars import DENSITY, NEIGHBOURS, WEIGHTED, centres, star_links
from tests import naive
from tests.strategies import instances

VALUES = {
    NEIGHBOURS: lambda around, sums: Fraction(around),
    WEIGHTED: lambda around, sums: Fraction(sums),
    DENSITY: lambda around, sums: Fraction(sums, around),
}


@pytest.mark.parametrize("rule", VALUES)
@given(instance=instances(max_nodes=14))
def test_centres__are_those_by_definition_with_their_links(rule, instance):
    sparse = (instance.n_topics, instance.offsets, instance.topics)
    chosen = centres(*sparse, rule)
    expected, links = naive.stars(instance, VALUES[rule])
    assert chosen.tolist() == expected
    assert [tuple(link) for link in star_links(*sparse, chosen).tolist()] == links
