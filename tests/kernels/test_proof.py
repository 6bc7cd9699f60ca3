"""The proof of an overlay: how many nodes of each topic a walk over the overlay misses, and which links it uses."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from overlay_spark.kernels.proof import walked
from tests import checks, naive
from tests.strategies import overlays


def walk(instance, pairs):
    src, dst = np.array(list(pairs), np.int32).reshape(-1, 2).T.copy()
    unreached, used = walked(instance.n_topics, instance.offsets, instance.topics, src, dst)
    return unreached.tolist(), used.tolist()


def left_by(instance, pairs):
    return walk(instance, pairs)[0]


@given(overlays(any_pair=True))
def test_unreached__are_the_nodes_that_are_not_in_the_component_of_the_first(overlay):
    instance, pairs = overlay
    components = naive.topic_components(instance, pairs)
    expected = [sum(name != min(label) for name in label.values()) for label in components]
    assert left_by(instance, pairs) == expected
    assert left_by(instance, [*pairs, *pairs]) == expected
    assert left_by(instance, pairs[::-1]) == expected


@given(overlays(any_pair=True))
def test_used__are_links_between_nodes_of_a_topic_whether_or_not_its_first_node_is_near(overlay):
    instance, pairs = overlay
    wanted = [set(instance.topics_of(v).tolist()) for v in range(instance.n_nodes)]
    assert walk(instance, pairs)[1] == [bool(wanted[u] & wanted[v]) for u, v in pairs]


def test_walk__does_not_pass_nodes_that_do_not_want_the_topic():
    """Nodes 0 and 2 are linked by way of 1 only, which wants the other topic."""
    instance = checks.instance_of([[0, 1], [1], [0, 1]], 3)
    assert left_by(instance, [(0, 1), (1, 2)]) == [1, 0, 0]
    assert left_by(instance, []) == [1, 2, 0]
