"""Instances made, stored and timed."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.registry import find
from overlay_spark.costs import cost_row
from overlay_spark.lab.measure import (
    SIDE,
    UNIT,
    MeasureError,
    degrees_of,
    load,
    make_instance,
    part_of,
    peak_below,
    peak_bytes,
    peak_of_tasks,
    run_program,
    store,
    timed,
    timed_apart,
)
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests, subscriptions
from overlay_spark.workloads.latencies import MeasuredPoints

INTERESTS = Interests(topics=30, least=2, most=9)


def test_make_instance__has_the_interests_drawn_and_costs_of_the_square():
    instance = make_instance(40, INTERESTS, None, 3)
    nodes, topics = subscriptions(INTERESTS, np.arange(40), 3)
    pairs = set(zip(nodes.tolist(), topics.tolist(), strict=True))
    assert set(zip(instance.nodes.tolist(), instance.topics.tolist(), strict=True)) == pairs
    costs = np.array([cost_row(instance.costs, u) for u in range(40)]) * UNIT
    assert SIDE < costs.max() < SIDE * 2**0.5
    assert make_instance(40, INTERESTS, None, 4).costs.points.tolist() != instance.costs.points.tolist()


def test_make_instance__stands_on_measured_points():
    measured = MeasuredPoints(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0.0, 1.0]))
    instance = make_instance(2, INTERESTS, measured, 0)
    assert cost_row(instance.costs, 0)[1] == 6 / UNIT


@pytest.mark.parametrize(
    "links, expected", [([[0, 1], [1, 2], [1, 4]], (3, 1.2)), ([[3, 4]], (1, 0.4)), (np.empty((0, 2), int), (0, 0.0))]
)
def test_degrees__are_the_greatest_and_the_average(links, expected):
    ends = np.array(links)
    assert degrees_of(ends, 5) == degrees_of(ends.T, 5) == expected


def test_part_of__is_the_first_nodes():
    instance = make_instance(40, INTERESTS, None, 3)
    part = part_of(instance, 5)
    assert part.n_nodes == 5
    assert part.topics.tolist() == instance.topics[: instance.offsets[5]].tolist()
    assert part_of(instance, 50).n_nodes == 40


def test_stored_instance__comes_back_as_it_was(tmp_path):
    instance = make_instance(40, INTERESTS, None, 3)
    store(instance, tmp_path / "i.npz")
    again = load(tmp_path / "i.npz")
    assert (again.costs.kind, again.costs.unit, again.n_topics) == (instance.costs.kind, UNIT, 30)
    assert greedy(again).pairs() == greedy(instance).pairs()


def test_timed__runs_on_a_part_first_and_times_the_rest():
    instance, sizes = make_instance(40, INTERESTS, None, 3), []

    def algorithm(given, options):
        sizes.append(given.n_nodes)
        return greedy(given)

    seconds, links = timed(algorithm, instance, Options(), runs=2)
    assert sizes == [20, 40, 40]
    assert len(seconds) == 2
    assert min(seconds) > 0
    assert links.pairs() == greedy(instance).pairs()


def test_timed_apart__gives_the_same_links_and_bound(tmp_path):
    instance = make_instance(40, INTERESTS, None, 3)
    store(instance, tmp_path / "i.npz")
    found = timed_apart(tmp_path / "i.npz", "primal_dual", Options(), 1)
    links = find("primal_dual")(instance, Options())
    assert found.links.tolist() == [list(pair) for pair in links.pairs()]
    assert found.bound == links.lower_bound
    assert found.seconds > 0


def test_peak_bytes__is_that_of_the_process_alone():
    held = np.ones(40 << 20)  # 320 MB, which no small process has
    code = "import json; from overlay_spark.lab.measure import peak_bytes; print(json.dumps(peak_bytes()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 1 << 20 < json.loads(done.stdout) < held.nbytes < peak_bytes()


def test_run_program__that_fails_says_how():
    with pytest.raises(MeasureError, match="stopped with 7: no room"):
        run_program(["/bin/sh", "-c", "echo no room >&2; exit 7"])


def test_peak_below__adds_the_processes_below():
    program = "import sys; held = bytearray(200 << 20); sys.stdin.read()"
    before = peak_below()
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE)
    try:
        found = before
        until = time.monotonic() + 30
        while found < before + (200 << 20) and time.monotonic() < until:
            found = peak_below()
        assert found >= before + (200 << 20)
    finally:
        child.communicate()
    assert peak_below() < before + (200 << 20)


def test_peak_of_tasks__is_that_of_the_largest_python_of_spark_below():
    before = peak_of_tasks()  # of the session that other tests use
    more = before + (100 << 20)
    code = f"import sys; held = bytearray({more}); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "pyspark.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        try:
            assert worker.stdout.readline() == b"held\n"
            found = peak_of_tasks()
        finally:
            worker.kill()
    assert found > more
