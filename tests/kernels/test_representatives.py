"""Representatives: the greedy cover by its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels.representatives import cover
from tests import naive
from tests.strategies import SEEDS, instances


def cover_by_definition(instance, copies, weights):
    """The node with most topics still in need per unit of weight, the least of several, until none is in need."""
    wants, chosen = naive.interests(instance), []
    need = [min(copies, len(nodes)) for nodes in naive.members(instance)]
    while any(need):
        best = min(
            (v for v in range(len(wants)) if v not in chosen),
            key=lambda v: -sum(need[t] > 0 for t in wants[v]) / weights[v],
        )
        chosen.append(best)
        for t in wants[best]:
            need[t] = max(0, need[t] - 1)
    return chosen


@given(instances(max_nodes=14, max_topics=70), st.integers(1, 4), st.booleans(), SEEDS)
def test_cover__chooses_what_the_definition_says(instance, copies, alike, seed):
    weights = np.ones(instance.n_nodes) if alike else np.random.default_rng(seed).integers(1, 5, instance.n_nodes) * 1.0
    found = cover(instance.n_topics, instance.offsets, instance.topics.astype(np.int64), copies, weights).tolist()
    assert found == cover_by_definition(instance, copies, weights)
    for nodes in naive.members(instance):
        assert len(set(nodes) & set(found)) >= min(copies, len(nodes))
