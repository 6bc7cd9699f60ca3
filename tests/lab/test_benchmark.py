"""Benchmarks: what they compare, and that they notice when two programs disagree."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.registry import find
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab import benchmark as module
from overlay_spark.lab.benchmark import (
    BENCHMARKS,
    YARDSTICKS,
    Benchmark,
    Case,
    figures_of,
    find_source,
    run_benchmark,
)
from overlay_spark.lab.measure import MeasureError, degrees_of, make_instance
from overlay_spark.lab.shapes import SHAPES, shape
from overlay_spark.options import Options, WorkloadOptions

SMALL = Case(60, 110)
GREEDY = Benchmark(("greedy",), "grmaw", (SMALL,), same_links=True)
SEED_3 = Options(workload=WorkloadOptions(seed=3))
ROOT = Path(__file__).parents[2]
NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def steps():
    return Steps(Terminal())


def yardstick(folder, text):
    """A yardstick in a clone that the benchmark is run from."""
    (folder / YARDSTICKS).mkdir(parents=True)
    (folder / YARDSTICKS / "grmaw.cpp").write_text(text)


@NEEDS_COMPILER
def test_benchmark__finds_the_yardstick_s_links(steps, monkeypatch):
    monkeypatch.chdir(ROOT)
    (found,) = run_benchmark(GREEDY, None, SEED_3, steps)
    instance = make_instance(60, SMALL.interests, None, 3)
    assert found.ours[0].links.tolist() == found.yardstick.links.tolist()
    assert found.ours[0].links.tolist() == [list(pair) for pair in greedy(instance).pairs()]
    assert (found.differing, len(found.programs)) == (0, 2)
    assert found.ratio == found.ours[0].seconds / found.yardstick.seconds
    assert all(program.peak_bytes > 1 << 20 for program in found.programs)
    assert "Compiling grmaw.cpp" in steps.stream.getvalue()
    assert list(steps.seconds) == [f"{SMALL.name}: {step}" for step in ("make instance", "greedy", "grmaw.cpp")]
    figures = figures_of("greedy", [found], 3)
    assert [row[:6] for row in figures[::4]] == [
        ("benchmark", "greedy T=110 unif", program, 60.0, 3, "seconds") for program in ("greedy", "grmaw.cpp")
    ]
    most, average = degrees_of(found.ours[0].links, 60)
    assert [row[5:7] for row in figures[2:4]] == [("greatest_degree", most), ("average_degree", average)]


def test_benchmark__without_a_compiler_says_so_and_shows_ours(steps, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", "")
    (found,) = run_benchmark(GREEDY, None, SEED_3, steps)
    assert "No yardstick: g++ is not installed." in steps.stream.getvalue()
    assert list(steps.seconds) == [f"{SMALL.name}: {step}" for step in ("make instance", "greedy")]
    assert (found.yardstick, found.ratio) == (None, None)
    assert found.ours[0].seconds > 0


def test_benchmark__without_a_source_says_where_to_run_it(steps):
    (found,) = run_benchmark(Benchmark(("greedy",), "nothing", (SMALL,), same_links=True), None, SEED_3, steps)
    assert "tests/yardsticks/nothing.cpp is in the source tree only; run this in a clone" in steps.stream.getvalue()
    assert found.yardstick is None


def test_case__of_a_shape_or_of_very_many_nodes_has_no_yardstick(steps, monkeypatch):
    assert SMALL.has_yardstick
    assert not Case(100_000, 1000).has_yardstick
    shaped = Case(100, 500, "tiny_topics")
    assert not shaped.has_yardstick
    monkeypatch.setattr(module, "shape", lambda name, seed: shape(name, 0.005, seed))
    monkeypatch.chdir(ROOT)
    benchmark = Benchmark(("greedy",), "grmaw", (), same_links=True, large=(shaped,))
    assert run_benchmark(benchmark, None, SEED_3, steps) == []
    (found,) = run_benchmark(benchmark, None, SEED_3, steps, large=True)
    assert found.ours[0].links.tolist() == [list(p) for p in greedy(shape("tiny_topics", 0.005, 3)).pairs()]
    assert (found.yardstick, found.ratio) == (None, None)


def test_find_source__looks_where_it_is_run_and_then_beside_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / YARDSTICKS).mkdir(parents=True)
    (tmp_path / YARDSTICKS / "ours.cpp").write_text("int main() {}")
    assert find_source("ours").resolve() == tmp_path / YARDSTICKS / "ours.cpp"
    assert find_source("nothing") is None


@pytest.mark.parametrize("name", [name for name, benchmark in BENCHMARKS.items() if benchmark.yardstick is not None])
def test_every_yardstick__is_there_in_a_clone(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert find_source(BENCHMARKS[name].yardstick) is not None


def test_benchmark__without_a_yardstick_runs_all_programs_on_one_instance(steps):
    algorithms = BENCHMARKS["degrees"].algorithms
    case = Case(60, 110, "zipf", "power")
    (found,) = run_benchmark(Benchmark(algorithms, None, (case,)), None, SEED_3, steps)
    instance = make_instance(60, case.interests, None, 3)
    for program, name in zip(found.programs, algorithms, strict=True):
        links = find(name)(instance, Options())
        assert program.program == name
        assert program.links.tolist() == [list(pair) for pair in links.pairs()]
    assert (found.yardstick, found.ratio) == (None, None)
    assert "ardstick" not in steps.stream.getvalue()


def test_degrees__are_measured_on_the_base_instances_of_paper_003():
    assert BENCHMARKS["degrees"].algorithms[:2] == ("fewest_links", "low_degree")
    for case in BENCHMARKS["degrees"].cases:
        drawn = case.interests
        assert (case.nodes, drawn.topics, drawn.law) == (2000, 200, case.law)
        assert (drawn.sizes, drawn.least, drawn.most, drawn.exponent) == ("power", 10, 90, 2.0)


@NEEDS_COMPILER
def test_benchmark__fails_where_the_yardstick_picks_other_links(steps, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yardstick(
        tmp_path,
        """#include <cstdio>
        int main(int, char **a) {
            int link[2] = {0, 1};
            fwrite(link, 4, 2, fopen(a[2], "wb"));
            puts("links 1 total 0.5 peak_mb 9");
        }""",
    )
    with pytest.raises(MeasureError, match=r"greedy and grmaw\.cpp pick different links"):
        run_benchmark(GREEDY, None, SEED_3, steps)


@NEEDS_COMPILER
def test_benchmark__fails_where_dual_values_differ(steps, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yardstick(
        tmp_path,
        """#include <cstdio>
        int main(int, char **a) {
            fopen(a[2], "wb");
            puts("links 0 dual 12.5 total 0.5 peak_mb 9");
        }""",
    )
    with pytest.raises(MeasureError, match=r"dual values differ: \d+\.\d+ and 12\.5"):
        run_benchmark(Benchmark(("primal_dual",), "grmaw", (SMALL,), same_links=False), None, SEED_3, steps)


def test_shapes__have_no_law_s_name():
    """A case says by one word which of the two it is."""
    for law in ("unif", "zipf", "expo"):
        assert law not in SHAPES
        assert Case(60, 110, law).has_yardstick
        assert Case(60, 110, law).make(None, 3).n_nodes == 60
