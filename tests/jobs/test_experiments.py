"""Experiments of the papers: that figures are what they say, and that all of them are drawn."""

from __future__ import annotations

import sys
from itertools import combinations

import pytest

from overlay_spark.algorithms.registry import find
from overlay_spark.cli import DONE, USAGE, main
from overlay_spark.jobs import experiments as module
from overlay_spark.options import Options
from overlay_spark.tables import delta
from overlay_spark.tables.references import Destination
from tests import naive


def test_settings__cover_every_figure_law_and_value():
    full, quick = module.settings(False, 3), module.settings(True, 3)
    assert len(set(full)) == len(full)
    assert len(full) == 3 * (3 * (10 + 10 + 5) + 10 + 10)
    assert {s.seed for s in quick} == {0}
    assert {(s.figure, s.law) for s in quick} == {(s.figure, s.law) for s in full}


def test_settings__are_the_paper_s():
    assert module.Setting("4", "unif", 300, 0).nodes == 300
    assert (
        module.Setting("4", "unif", 300, 0).interests.least,
        module.Setting("4", "unif", 300, 0).interests.most,
    ) == (20, 100)
    assert (module.Setting("5", "zipf", 300, 0).nodes, module.Setting("5", "zipf", 300, 0).interests.topics) == (
        800,
        300,
    )
    wide = module.Setting("6", "expo", 150, 0).interests
    assert ((wide.least + wide.most) / 2, wide.topics) == (150, 200)


@pytest.mark.parametrize("figure", ["4", "7", "8"])
def test_measure__gives_every_metric_of_the_panels(figure):
    setting = module.Setting(figure, module.PLANS[figure].laws[0], 60, 1)
    found = {metric: value for *_, metric, value in module.measure(setting, None, Options())}
    assert {metric for _, metrics in module.PLANS[figure].panels for metric in metrics} <= found.keys()
    instance, mean_cost = module.make_instance(setting, None)
    pairs = naive.allowed(instance)
    all_costs = [naive.cost_between(instance.costs, u, v) for u, v in combinations(range(60), 2)]
    assert mean_cost == pytest.approx(sum(all_costs) / len(all_costs))
    for name in module.PLANS[figure].algorithms:
        links, short = find(name)(instance, Options()), module.SHORT[name]
        assert found[f"d_{short}"] == 2 * len(links) / 60
        assert found[f"w_{short}"] == pytest.approx(2 * links.total_cost / mean_cost / 60)
        assert found[f"T_{short}"] > 0
    if figure == "4":
        assert found["w_Tr/w_Gr"] == found["w_Tr"] / found["w_Gr"]
        assert found["w_Pd - w_Gr"] == found["w_Pd"] - found["w_Gr"]
        tree_costs = sum(pairs[pair] * n for pair, n in _trees_by_link(instance).items())
        assert found["w_sum of trees"] == pytest.approx(2 * tree_costs / mean_cost / 60)


def _trees_by_link(instance):
    """How many topics' trees use each link: each topic's own Kruskal."""
    used = {}
    for topic in range(instance.n_topics):
        members = naive.members(instance)[topic]
        label = {v: v for v in members}
        for (u, v), _ in sorted(naive.allowed(instance).items(), key=lambda item: (item[1], item[0])):
            if u in label and v in label and label[u] != label[v]:
                used[u, v] = used.get((u, v), 0) + 1
                kept, gone = label[u], label[v]
                label = {node: kept if at == gone else at for node, at in label.items()}
    return used


def test_means__stand_beside_what_the_paper_states():
    rows = [
        ("4", law, x, 0, "T_Gr/T_Pd", value)
        for law, x, value in [("unif", 100.0, 0.2), ("unif", 200.0, 0.4), ("zipf", 100.0, 0.9)]
    ]
    rows.append(("4", "unif", 1000.0, 0, "w_Gr", 2.5))
    told = module.beside_the_paper(module.with_means(rows))
    assert ("4", "unif", "mean T_Gr/T_Pd", pytest.approx(0.3), 0.157) in told
    assert ("4", "zipf", "mean T_Gr/T_Pd", 0.9, 0.266) in told
    assert ("4", "unif", "w_Gr at 1000", 2.5, 18.76) in told
    assert len(told) == 3


@pytest.mark.spark
def test_experiment__prints_writes_and_draws(spark, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    small = [
        module.Setting(f, law, x, 0)
        for f, plan in module.PLANS.items()
        for law in plan.laws
        for x in ((110, 120) if f != "6" else (60, 70))
    ]
    monkeypatch.setattr(module, "settings", lambda quick, seeds: small)
    assert (
        main(["experiment", "000", "--quick", "--output", str(tmp_path / "out"), "--plots", str(tmp_path / "plots")])
        == DONE
    )
    told = capsys.readouterr().out
    assert "figure 7, zipf: mean T_Pdrd/T_Pd" in told
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [f"000-figure-{f}.png" for f in "45678"]
    assert all(path.stat().st_size > 10_000 for path in (tmp_path / "plots").iterdir())
    rows = delta.read(spark, Destination.parse(str(tmp_path / "out")).table("experiments")).collect()
    assert {(row["figure"], row["series"], row["x"]) for row in rows if row["x"] is not None} == {
        (s.figure, s.law, float(s.x)) for s in small
    }
    stated = [row for row in rows if row["paper_value"] is not None]
    assert {(row["figure"], row["metric"]) for row in stated} >= {("4", "mean w_Tr/w_Gr"), ("8", "mean w_Gr/w_GM")}


def test_experiment__without_matplotlib_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["experiment", "000", "--plots", "plots"]) == 3
    assert "pip install 'overlay-spark[report]'" in capsys.readouterr().err
    assert main(["experiment", "000", "--seeds", "0"]) == USAGE
