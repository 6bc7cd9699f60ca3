"""Nearest centres, beside numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark.kernels.nearest import nearest


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_nearest__is_the_centre_least_far_and_the_first_of_several(dimensions):
    rng = np.random.default_rng(dimensions)
    points = rng.integers(0, 6, (300, dimensions)) * 1.0  # many ties
    centres = rng.integers(0, 6, (20, dimensions)) * 1.0
    apart = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    assert nearest(points, centres).tolist() == apart.argmin(axis=1).tolist()


def test_nearest__of_no_points():
    assert len(nearest(np.empty((0, 2)), np.ones((1, 2)))) == 0
