"""Kernels are compiled in a task beside, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark.algorithms.registry import ALGORITHMS, STEPS
from overlay_spark.engines import AUTO, PARTED
from overlay_spark.engines import warming as module
from overlay_spark.options import DesignOptions, Options


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_solve_tiny__runs_all_that_a_design_would_run(algorithm):
    steps = tuple(step.name for step in STEPS)
    chosen = DesignOptions(algorithm=algorithm.name, then=steps, bound="primal_dual")
    assert module.solve_tiny(Options(design=chosen)) == 1
    in_parts = Options(design=replace(chosen, engine=PARTED))
    assert module.solve_tiny(in_parts) == 2  # once as a part, once as what joins parts


@pytest.mark.spark
def test_warming__runs_once_for_the_same_names(spark, monkeypatch):
    monkeypatch.setattr(module, "_warm", set())
    first = module.Warming(spark, Options())
    first.wait()
    assert module._warm == {("greedy", "", AUTO)}
    again, other = module.Warming(spark, Options()), module.Warming(spark, Options().designing("trees"))
    assert not again._thread.is_alive()
    again.wait()
    other.wait()
    assert module._warm == {("greedy", "", AUTO), ("trees", "", AUTO)}


@pytest.mark.spark
def test_warming__that_fails_leaves_the_fault_to_the_design(spark, monkeypatch):
    monkeypatch.setattr(module, "_warm", set())
    warming = module.Warming(spark, Options(design=DesignOptions(algorithm="nobody's")))
    warming.wait()
    assert module._warm == set()
