"""An overlay is proved and measured alike by one task and by frames, and refused in the words of these."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark.errors import InputError, VerificationError
from overlay_spark.frames import proving
from overlay_spark.frames.components import GROUPED
from overlay_spark.options import MetricsOptions, Options
from overlay_spark.tables import catalog
from tests.frames.test_verification import by_model
from tests.problems import indexed, problem, silent, sorted_rows

pytestmark = pytest.mark.spark


def proved(spark, given, workspace, rows, **options):
    return proving.prove(given, catalog.LINKS.rows(spark, rows), None, GROUPED, Options(**options), workspace, silent)


@pytest.mark.parametrize("limit", [2000, 2])
def test_prove__finds_the_same_by_one_task_and_by_frames(spark, workspace, limit):
    metrics = MetricsOptions(diameter_max_nodes=limit)
    for model in ("listed", "sites", "points"):
        given = indexed(by_model(spark, model), workspace)
        rows = [("a", "b", 1.0), ("c", "a", 3.0)]
        one = proved(spark, given, workspace, rows, metrics=metrics)
        other = proved(spark, replace(given, packed=None), workspace, rows, metrics=metrics)
        assert one.metrics == other.metrics
        for ours, theirs in ((one.topics, other.topics), (one.nodes, other.nodes)):
            assert ours.dtypes == theirs.dtypes
            assert sorted_rows(ours) == sorted_rows(theirs)


def test_prove__asks_frames_only_where_something_is_wrong(spark, workspace, monkeypatch):
    asked = []
    verify = proving.verify_links
    monkeypatch.setattr(proving, "verify_links", lambda *given: asked.append(1) or verify(*given))
    given = indexed(by_model(spark, "listed"), workspace)
    proved(spark, given, workspace, [("a", "b", 1.0), ("c", "a", 3.0)])
    assert not asked
    with pytest.raises(VerificationError, match=r"leaves 2 topics in pieces .*topic 'x' is in 2 pieces"):
        proved(spark, given, workspace, [("a", "b", 1.0)])
    assert asked


def test_prove__of_listed_links_that_cannot_connect_a_topic_blames_the_input(spark, workspace):
    given = indexed(problem(spark, [("a", "x"), ("b", "x"), ("c", "x"), ("d", "x")], [("a", "b", 1.0), ("c", "d", 1.0)]), workspace)  # fmt: skip
    with pytest.raises(InputError, match="Table 'link_costs' leaves 1 topic in pieces"):
        proved(spark, given, workspace, [("a", "b", 1.0), ("c", "d", 1.0)])


def test_disprove__asks_frames_only_where_something_is_wrong(spark, workspace, monkeypatch):
    asked = []
    verify = proving.verify_links
    monkeypatch.setattr(proving, "verify_links", lambda *given, **more: asked.append(1) or verify(*given, **more))
    given = indexed(by_model(spark, "sites"), workspace)
    right, wrong = ([("a", "b", 1.0), ("c", "a", cost)] for cost in (3.0, 4.0))
    faults, broken = proving.disprove(given, catalog.LINKS.rows(spark, right), GROUPED, Options(), workspace)
    assert (faults, broken.count(), asked) == ((), 0, [])
    faults, sides = proving.disprove(given, catalog.LINKS.rows(spark, wrong), GROUPED, Options(), workspace)
    assert [fault for fault in faults if "another cost than the costs given" in fault] == list(faults) != []
    assert asked == [1]
    assert broken.dtypes == sides.dtypes
