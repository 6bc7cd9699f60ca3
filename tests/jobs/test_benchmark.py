"""Benchmarks: what they compare, and that they notice when two programs disagree."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.cli import DONE, USAGE, main
from overlay_spark.jobs import benchmark as module
from overlay_spark.jobs import profile
from overlay_spark.jobs.kernel_run import load, part_of, store
from overlay_spark.options import DesignOptions, Options
from overlay_spark.tables import delta
from overlay_spark.tables.references import Destination

SMALL = module.Case(60, 110)
SEED_3 = Options(design=DesignOptions(seed=3))
NEEDS_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def of(*cases):
    return module.Benchmark(("greedy",), "grmaw", cases, same_links=True)


@NEEDS_COMPILER
def test_benchmark__finds_the_yardstick_s_links():
    (found,) = module.run_benchmark(of(SMALL), None, SEED_3, print)
    assert found.ours[0].links.tolist() == found.yardstick.links.tolist()
    assert found.ours[0].links.tolist() == [list(pair) for pair in greedy(module.make_instance(SMALL, None, 3)).pairs()]
    assert (found.differing, len(found.programs)) == (0, 2)
    assert found.ratio == found.ours[0].seconds / found.yardstick.seconds
    assert all(program.peak_bytes > 1 << 20 for program in found.programs)


def test_benchmark__without_a_compiler_says_so_and_shows_ours(monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    said = []
    (found,) = module.run_benchmark(of(SMALL), None, SEED_3, said.append)
    assert any("g++ is not installed" in line for line in said)
    assert (found.yardstick, found.ratio) == (None, None)
    assert found.ours[0].seconds > 0


def test_benchmark__fails_where_the_yardstick_picks_other_links(tmp_path, monkeypatch):
    np.array([0, 1], np.int32).tofile(tmp_path / "other.bin")
    program = tmp_path / "grmaw"
    program.write_text(f"#!/bin/sh\ncp {tmp_path}/other.bin $2\necho 'links 1 total 0.5 peak_mb 9'\n")
    program.chmod(0o755)
    monkeypatch.setattr(module, "compile_yardstick", lambda *_: program)
    with pytest.raises(module.BenchmarkError, match=r"greedy and grmaw\.cpp pick different links"):
        module.run_benchmark(of(SMALL), None, SEED_3, print)


@pytest.mark.parametrize("command", [["benchmark", "greedy"], ["experiment", "000"]])
def test_benchmark__refuses_a_file_without_coordinates(tmp_path, capsys, command):
    (tmp_path / "regions.csv").write_text("r,a,b\na,0,7\nb,7,0\n")
    assert main([*command, "--file", str(tmp_path / "regions.csv")]) == USAGE
    assert "has costs between sites, and this needs coordinates" in capsys.readouterr().err


def test_stored_instance__comes_back_as_it_was(tmp_path):
    instance = module.make_instance(SMALL, None, 3)
    store(instance, str(tmp_path / "i.npz"))
    again = load(str(tmp_path / "i.npz"))
    assert again.costs.kind == instance.costs.kind
    assert again.costs.unit == instance.costs.unit
    assert greedy(again).pairs() == greedy(instance).pairs()
    assert part_of(instance, 5).n_nodes == 5
    assert part_of(instance, 5).topics.tolist() == instance.topics[: instance.offsets[5]].tolist()


@pytest.mark.spark
def test_benchmark__adds_its_figures_to_a_table(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(module.BENCHMARKS, "greedy", of(SMALL))
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert main(["benchmark", "greedy", "--output", str(tmp_path)]) == DONE
    assert "V=60 T=110 unif" in capsys.readouterr().out
    rows = delta.read(spark, Destination.parse(str(tmp_path)).table("experiments")).collect()
    assert {(row["figure"], row["series"], row["x"], row["metric"]) for row in rows} == {
        ("greedy T=110 unif", "greedy", 60.0, "seconds"),
        ("greedy T=110 unif", "greedy", 60.0, "peak_bytes"),
    }


@pytest.mark.spark
def test_profile__tells_every_step(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(profile, "SIZES", ((40, 110),))
    assert main(["benchmark", "design", "--output", str(tmp_path)]) == DONE
    told = capsys.readouterr().out
    steps = ("read", "check input", "index", "solve", "verify", "measure", "write")
    assert [line.split("  ")[1] for line in told.splitlines() if line.startswith("  ")][:-1] == list(steps)
    rows = delta.read(spark, Destination.parse(str(tmp_path)).table("experiments")).collect()
    assert {row["metric"] for row in rows} == {f"seconds, {step}" for step in (*steps, "algorithm")}
