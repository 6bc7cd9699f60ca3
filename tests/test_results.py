"""What calls give back: the gap, and rows that are kept until a result is closed."""

from __future__ import annotations

import gc
import warnings
from dataclasses import FrozenInstanceError

import pytest

from overlay_spark.results import Overlay, Verification
from tests.cli.results import NOTHING_MEASURED, facts, metrics


class Workspace:
    """Counts how often it is closed."""

    def __init__(self):
        self.closed = 0

    def close(self):
        self.closed += 1


def overlay(workspace=None, **changed):
    told = {
        "links": None,
        "topics": None,
        "nodes": None,
        "metrics": metrics(cost=1500.0),
        "facts": facts(),
        "algorithm": "greedy",
        "engine": "one",
        "workspace": workspace or Workspace(),
    }
    return Overlay(**{**told, **changed})


def verification(workspace):
    return Verification(ok=True, broken_topics=None, faults=(), method="grouped", workspace=workspace)


@pytest.mark.parametrize(
    "bound, cost, expected",
    [(1200.0, 1500.0, 0.25), (1500.0, 1500.0, 0.0), (500.0, 1500.0, 2.0), (0.1, 0.30000000000000004, 2.0)],
)
def test_gap__is_how_far_the_cost_lies_above_the_bound_as_a_share(bound, cost, expected):
    assert overlay(metrics=metrics(cost=cost), lower_bound=bound, bound="a bound").gap == pytest.approx(expected)


def test_gap__is_nothing_without_a_bound_and_over_a_bound_of_nothing():
    assert overlay().gap is None
    assert overlay(metrics=metrics(cost=0.0, links=0), lower_bound=0.0, bound="a bound").gap is None


@pytest.mark.parametrize("result", [overlay, verification])
def test_result__is_closed_once_by_its_block_and_not_before(result):
    workspace = Workspace()
    given = result(workspace)
    with given as entered:
        assert entered is given
        assert workspace.closed == 0
    assert workspace.closed == 1


@pytest.mark.parametrize("result", [overlay, verification])
def test_result__is_closed_by_an_error_which_goes_on(result):
    workspace = Workspace()
    with pytest.raises(ValueError, match="not mine"), result(workspace):
        raise ValueError("not mine")
    assert workspace.closed == 1


@pytest.mark.parametrize("result", [overlay, verification])
def test_result__can_be_closed_by_hand(result):
    workspace = Workspace()
    result(workspace).close()
    assert workspace.closed == 1


@pytest.mark.parametrize("result", [overlay, verification])
def test_result__that_is_forgotten_neither_warns_nor_lets_go_what_others_may_read(result):
    workspace = Workspace()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result(workspace)
        gc.collect()
    assert workspace.closed == 0


def test_overlay__cannot_be_changed_and_shows_no_insides():
    given = overlay(metrics=metrics(**NOTHING_MEASURED))
    with pytest.raises(FrozenInstanceError):
        given.lower_bound = 1.0
    assert "workspace" not in repr(given)
    assert "average_diameter=None" in repr(given)
