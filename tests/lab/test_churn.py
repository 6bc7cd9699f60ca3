"""Churn as experiments have it: who comes and goes, and what is timed."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.shadows import LiveOverlay
from overlay_spark.lab.churn import JOINS, LEAVES, TimedOverlay, churn, make_workload, rounds_of
from overlay_spark.options import ChurnOptions, DegreeOptions, Options
from overlay_spark.workloads.interests import Interests
from tests import checks

INTERESTS = Interests(topics=12, sizes="power", least=2, most=8)
LOW = DegreeOptions(k=3.0)
OPTIONS = Options(degrees=LOW, churn=ChurnOptions(objective="degree", trim=False))


def test_churn__is_half_joins_of_new_nodes_and_half_leaves_of_any_that_is_there():
    nodes, joins = churn(1000, 4000, 5)
    assert abs(joins.mean() - 0.5) < 0.03
    assert nodes[joins].tolist() == list(range(1000, 1000 + joins.sum()))
    present = set(range(1000))
    places = []
    for node, comes in zip(nodes.tolist(), joins.tolist(), strict=True):
        if not comes:
            places.append(sorted(present).index(node) / len(present))
        present ^= {node}
    assert np.histogram(places, 4, (0, 1))[0] == pytest.approx([len(places) / 4] * 4, rel=0.15)


def test_churn__goes_on_where_nobody_is_left():
    nodes, joins = churn(0, 50, 1)
    assert joins[0]
    assert nodes[0] == 0
    there = np.cumsum(np.where(joins, 1, -1))
    assert there.min() >= 0


def test_churn__is_that_of_its_seed():
    first, again, other = (churn(20, 30, seed)[0].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_workload__knows_who_is_there_and_draws_joiners_like_the_others():
    workload = make_workload(INTERESTS, 30, 40, 3)
    longer = make_workload(INTERESTS, 40, 0, 3).everyone
    assert [workload.everyone.topics_of(v).tolist() for v in range(30, 40)] == [
        longer.topics_of(v).tolist() for v in range(30, 40)
    ]
    present = set(range(30))
    for rounds in range(41):
        assert workload.present(rounds).tolist() == sorted(present)
        if rounds < 40:
            node = int(workload.nodes[rounds])
            assert workload.kind(rounds + 1) == (LEAVES if node in present else JOINS)
            present ^= {node}


def test_rebuilt__is_low_oda_of_those_who_are_there():
    workload = make_workload(INTERESTS, 25, 30, 2)
    links, seconds = workload.rebuilt(30, LOW)
    there = workload.present(30)
    alone = low_degree(workload.everyone.among(there), LOW)
    assert links.pairs() == [(int(there[u]), int(there[v])) for u, v in alone.pairs()]
    assert links.pairs()
    assert seconds > 0


@pytest.mark.parametrize("shadows, trim", [(True, False), (False, False), (True, True)])
def test_rounds__keep_an_overlay_of_those_who_are_there(shadows, trim):
    workload = make_workload(INTERESTS, 25, 40, 4)
    options = replace(OPTIONS, churn=replace(OPTIONS.churn, trim=trim))
    first = workload.everyone.among(workload.present(0))
    live = TimedOverlay(first, workload.rebuilt(0, LOW)[0], options, 0, shadows)
    links = set(live.links.pairs())
    for happened in rounds_of(live, workload):
        there = workload.present(happened.number)
        assert np.flatnonzero(live.present).tolist() == there.tolist()
        assert happened.kind == workload.kind(happened.number)
        assert happened.links == len(links)
        after = set(live.links.pairs())
        assert happened.repair.changes == len(after ^ links)
        links = after
        assert checks.is_topic_connected(live.instance, live.links)
        assert happened.seconds > 0
        assert (happened.backup_seconds > 0) == shadows


def test_rounds__time_backups_apart(monkeypatch):
    workload = make_workload(INTERESTS, 25, 6, 4)
    live = TimedOverlay(workload.everyone.among(workload.present(0)), workload.rebuilt(0, LOW)[0], OPTIONS)
    for _ in rounds_of(live, workload):
        pass  # all kernels are loaded
    live = TimedOverlay(workload.everyone.among(workload.present(0)), workload.rebuilt(0, LOW)[0], OPTIONS)
    build = LiveOverlay.build_backups
    monkeypatch.setattr(LiveOverlay, "build_backups", lambda *of: (work(0.2), build(*of)))
    for happened in rounds_of(live, workload):
        assert happened.backup_seconds >= 0.2 > happened.seconds


def test_seconds__are_those_worked(monkeypatch):
    workload = make_workload(INTERESTS, 25, 3, 4)
    live = TimedOverlay(workload.everyone.among(workload.present(0)), workload.rebuilt(0, LOW)[0], OPTIONS)
    leave, join = LiveOverlay.leave, LiveOverlay.join
    monkeypatch.setattr(LiveOverlay, "leave", lambda *of: (time.sleep(0.5), leave(*of))[1])
    monkeypatch.setattr(LiveOverlay, "join", lambda *of: (time.sleep(0.5), join(*of))[1])
    assert all(happened.seconds < 0.5 for happened in rounds_of(live, workload))


def work(seconds):
    started = time.thread_time()
    while time.thread_time() - started < seconds:
        pass
