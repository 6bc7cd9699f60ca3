"""Worlds with an overlay, to be refreshed."""

from __future__ import annotations

import pytest

from overlay_spark.jobs.design import run_design
from overlay_spark.options import Options
from tests.jobs.drawn import drawn
from tests.jobs.refreshing import LISTED


@pytest.fixture(scope="session")
def designed(_session, tmp_path_factory):
    """A world of each form with its overlay, designed once."""
    made = {}

    def world(form=LISTED):
        if form not in made:
            made[form] = drawn(tmp_path_factory.mktemp(form), form)
            late = {(node, topic) for node, topic in made[form].wants if topic == "t0"}
            made[form].wants -= late
            made[form].write(_session)
            made[form].wants |= late
            made[form].write(_session)  # so that the overlay is of no first version
            run_design(_session, made[form].inputs, made[form].out, Options()).close()
        return made[form]

    return world


@pytest.fixture
def world(designed, tmp_path):
    """A copy of the world of listed costs."""
    return designed().copy(tmp_path / "world")
