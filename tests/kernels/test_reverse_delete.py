import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.kernels.reverse_delete import needed_links
from tests import checks, naive
from tests.strategies import overlays


def kept(instance, pairs, fixed=0):
    src, dst = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    needed = needed_links(instance.offsets, instance.topics, src, dst, fixed)
    return [pair for pair, stays in zip(pairs, needed.tolist(), strict=True) if stays]


@given(overlays(any_pair=True), st.data())
def test_needed_links__are_those_the_slow_twin_keeps(overlay, data):
    instance, pairs = overlay
    fixed = data.draw(st.integers(0, len(pairs)))
    expected = naive.reverse_delete(instance, pairs[fixed:], pairs[:fixed])
    assert kept(instance, pairs, fixed) == [*pairs[:fixed], *expected]


def test_needed_links__go_from_the_last_to_the_first():
    instance = checks.instance_of([[0]] * 3, 1)
    ring = [(0, 1), (1, 2), (0, 2)]
    assert kept(instance, ring) == ring[:2]
    assert kept(instance, ring[::-1]) == ring[::-1][:2]
    assert kept(instance, ring, fixed=2) == ring[:2]
    assert kept(instance, ring, fixed=3) == ring
