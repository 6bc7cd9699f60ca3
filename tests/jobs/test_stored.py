"""What a refresh begins with: when it cannot know what changed, and whom it trusts to have packed an overlay.

What it reads is tested with the job (test_refresh.py, test_refresh_ends.py)."""

from __future__ import annotations

from dataclasses import replace

import pytest

import overlay_spark
from overlay_spark.errors import FeedError
from overlay_spark.jobs.generations import Head
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.stored import packed_by, stored_overlay
from overlay_spark.options import CostOptions, Options
from overlay_spark.tables.delta import Commit
from overlay_spark.tables.references import Destination, Reference

INPUTS = Inputs(Reference("delta", "in/subscriptions"))
HEAD = Head(
    generation=3, version=5, metadata={"inputs": {"subscriptions": 7}, "input_times": {"subscriptions": 10_000}}
)


def begun(head, version, at=10_000):
    described = {"subscriptions": {"reference": "delta:in/subscriptions", "version": version, "at": at}}
    return stored_overlay(None, INPUTS, Destination.parse("out"), head, described, Options())


@pytest.mark.parametrize("head, version, at, why", [
    (replace(HEAD, undone=Commit(6, {}, "DELETE")), 7, 10_000, r"overlay_links was changed by another \(DELETE, version 6\)"),
    (HEAD, None, None, "was not computed from a version of a Delta table"),
    (replace(HEAD, metadata={}), 7, 10_000, "was not computed from a version of a Delta table"),
    (HEAD, 6, 10_000, "it was replaced"),
    (HEAD, 7, 90_000, "it was replaced"),
])  # fmt: skip
def test_refresh__cannot_begin_where_nobody_knows_what_changed(head, version, at, why):
    """Nothing is read for that."""
    with pytest.raises(FeedError, match=why):
        begun(head, version, at)


def test_packed_overlay__serves_the_same_version_of_this_package_with_the_same_unit_only(monkeypatch):
    ours = packed_by(Options())
    assert ours == packed_by(Options())
    assert ours != packed_by(replace(Options(), costs=CostOptions(unit=0.5)))
    monkeypatch.setattr(overlay_spark, "__version__", "another")
    assert ours != packed_by(Options())
