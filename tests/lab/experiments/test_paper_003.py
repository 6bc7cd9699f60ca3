"""Paper 003: that its settings are the paper's and its figures are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from overlay_spark.lab.churn import LEAVES, make_workload, rounds_of
from overlay_spark.lab.experiments import paper_003
from overlay_spark.lab.experiments.paper_003 import (
    BELOW_5,
    COVERAGES,
    EXPERIMENT,
    LAWS,
    LOW,
    NAIVE,
    PLANS,
    REBUILT_EVERY,
    SHADOW,
    TRIMMED,
    interests_of,
    measure,
    start,
    under_churn,
)
from overlay_spark.lab.experiments.shared import Setting, rows_of
from overlay_spark.options import ChurnOptions, DegreeOptions, Options

ROUNDS = 3 * REBUILT_EVERY
OTHERWISE = Options(degrees=DegreeOptions(k=7.0), churn=ChurnOptions(coverage=2, pick="lowest", exchange=5))
"""Options that the paper's settings replace, but for the last."""


@pytest.fixture(scope="module")
def workload():
    return make_workload(interests_of("zipf"), 60, ROUNDS, 1)


@pytest.fixture(scope="module")
def found(workload):
    return under_churn(workload, OTHERWISE, 1)


def ends_of(links, workload, rounds):
    ends = np.array(links.pairs()).ravel().tolist()
    degrees = [ends.count(v) for v in workload.present(rounds).tolist()]
    assert sum(degrees) == len(ends)
    return max(degrees), sum(degrees) / len(degrees)


def test_settings__are_the_paper_s():
    assert {(s.figure, s.series, s.x) for s in EXPERIMENT.settings(False, 1)} == {
        ("2", "unif", 2000.0),
        ("3", "unif", 2000.0),
        ("4", "unif", 1000.0),
        ("5", "unif", 1000.0),
        *(("6", law, 1000.0) for law in LAWS),
    }
    assert (paper_003.NODES, LOW.k, [*COVERAGES]) == (2000, 3.0, [1, 2, 3, 4])
    assert EXPERIMENT.settings(True, 1, ["7"]) == EXPERIMENT.settings(True, 1, ["6"])
    largest, *_ = sorted(EXPERIMENT.settings(False, 1), key=EXPERIMENT.size, reverse=True)
    assert largest.figure == "6"


@pytest.mark.parametrize("law", LAWS)
def test_interests__are_sizes_by_a_power_law(law):
    interests = interests_of(law)
    everyone = make_workload(interests, 4000, 0, 0).everyone
    sizes = np.diff(everyone.offsets)
    assert (everyone.n_topics, sizes.min(), sizes.max()) == (200, 10, 90)
    counts = np.bincount(sizes)
    assert counts[10] / counts[20] == pytest.approx(4, rel=0.2)
    assert interests.law == law


def test_start__is_as_the_paper_has_it_whatever_the_options_say(workload):
    live = start(workload, OTHERWISE, 1)
    assert live.options.degrees == LOW
    churn = live.options.churn
    assert (churn.objective, churn.coverage, churn.backups, churn.pick) == ("degree", 3, "primal_dual", "random")
    assert (churn.trim, churn.exchange) == (False, 5)
    assert start(workload, OTHERWISE, 1, TRIMMED).options.churn.trim
    assert not start(workload, OTHERWISE, 1, NAIVE).shadows
    other = start(workload, OTHERWISE, 1, backups="greedy", coverage=4).options.churn
    assert (other.backups, other.coverage) == ("greedy", 4)


@pytest.mark.parametrize("figure, backups", [("2", "greedy"), ("3", "primal_dual")])
def test_backups__are_told_of_each_node(figure, backups):
    setting = Setting(figure, "unif", 50.0, 2)
    rows = rows_of(EXPERIMENT, setting, None, Options())
    told = {
        metric: {x: value for _, _, x, _, name, value in rows if name == metric} for metric in PLANS[figure].metrics
    }
    live = start(make_workload(interests_of("unif"), 50, 0, 2), Options(), 2, backups=backups)
    assert told["topics"] == {v: live.instance.topics_of(v).size for v in range(50)}
    assert told["backups/V"] == {v: pytest.approx(len(live.backups[v]) / 50) for v in range(50)}
    chosen = np.concatenate([live.backups[v] for v in range(50)]).tolist()
    assert told["primaries"] == {v: chosen.count(v) for v in range(50)}


def test_below_5__is_a_share():
    assert BELOW_5.over([[1, 4.9, 5], [7]]) == 0.5
    assert BELOW_5.called("primaries") == "share below 5 of primaries"


@pytest.mark.parametrize(
    "figure, names", [("4", ("greedy", "primal-dual")), ("5", tuple(f"coverage {c}" for c in COVERAGES))]
)
def test_degrees__are_those_after_the_rounds(figure, names, monkeypatch):
    monkeypatch.setattr(paper_003, "NODES", 60)
    found = measure(Setting(figure, "unif", 25.0, 3), None, Options())
    assert found.keys() == {f"{letter}_{name}" for letter in "Dd" for name in names} == set(PLANS[figure].metrics)
    workload = make_workload(interests_of("unif"), 60, 25, 3)
    for name in names:
        given = {"coverage": int(name[-1])} if figure == "5" else {"backups": name.replace("-", "_")}
        live = start(workload, Options(), 3, **given)
        seen = {0: ends_of(live.links, workload, 0)}
        for happened in rounds_of(live, workload):
            seen[happened.number] = ends_of(live.links, workload, happened.number)
        for letter, i in (("D", 0), ("d", 1)):
            expected = {x: pytest.approx(seen[x][i]) for x in (0, 1, 10, 20)}
            assert found[f"{letter}_{name}"] == expected


def test_under_churn__gives_every_metric_of_the_panels(monkeypatch):
    monkeypatch.setattr(paper_003, "NODES", 60)
    rows = rows_of(EXPERIMENT, Setting("6", "expo", float(ROUNDS), 1), None, Options())
    for figure in ("6", "7", "8"):
        assert {metric for name, *_, metric, _ in rows if name == figure} == set(PLANS[figure].metrics)
    assert {x for figure, _, x, _, metric, _ in rows if metric == "D_trimmed - D_Low"} == {20.0, 40.0, 60.0}
    assert {x for _, _, x, _, metric, _ in rows if metric == "D_Shadow"} == {0.0, 1.0, *range(10, ROUNDS + 1, 10)}


@pytest.mark.parametrize("variant", [SHADOW, TRIMMED])
def test_under_churn__tells_what_a_repair_changed_and_who_were_shadow_nodes(variant, workload, found):
    live = start(workload, OTHERWISE, 1, variant)
    links, name = set(live.links.pairs()), variant.name
    for happened in rounds_of(live, workload):
        x, kind, after = happened.number, happened.kind, set(live.links.pairs())
        assert found[f"changed_{name} of {kind}"][x] == len(links ^ after)
        assert found[f"changed_{name}/links of {kind}"][x] == pytest.approx(len(links ^ after) / len(links))
        if variant == SHADOW:
            assert found["S"][x] == len(set(happened.repair.shadow.tolist()))
            assert found["S/V"][x] == pytest.approx(found["S"][x] / len(workload.present(x)))
            assert found["topics"][x] == workload.everyone.topics_of(int(workload.nodes[x - 1])).size
        links = after
    assert found[f"D_{name}"][ROUNDS] == ends_of(live.links, workload, ROUNDS)[0]


def test_under_churn__sets_low_oda_of_consecutive_rounds_side_by_side(workload, found):
    for rounds in range(REBUILT_EVERY, ROUNDS + 1, REBUILT_EVERY):
        old, new = (workload.rebuilt(at, LOW)[0] for at in (rounds - 1, rounds))
        changed = len(set(old.pairs()) ^ set(new.pairs()))
        assert found["changed_Low"][rounds] == changed
        assert found["changed_Low/links"][rounds] == pytest.approx(changed / len(old))
        assert found[f"changed_Low of {workload.kind(rounds)}"][rounds] == changed
        degrees = ends_of(new, workload, rounds)
        assert (found["D_Low"][rounds], found["d_Low"][rounds]) == (degrees[0], pytest.approx(degrees[1]))
    by_kind = [found[f"changed_Low of {kind}"] for kind in ("joins", "leaves")]
    assert by_kind[0] | by_kind[1] == found["changed_Low"]


def test_under_churn__times_each_round_by_its_kind(workload, found):
    for name in ("Shadow", "Naive", "trimmed", "Shadow with backups"):
        by_kind = {kind: found[f"T_{name}/T_Low of {kind}"] for kind in ("joins", "leaves")}
        assert by_kind["joins"].keys() | by_kind["leaves"].keys() == set(range(1, ROUNDS + 1))
        assert all(workload.kind(x) == LEAVES for x in by_kind["leaves"])
        assert all(ratio > 0 for ratio in [*by_kind["joins"].values(), *by_kind["leaves"].values()])
    for kind in ("joins", "leaves"):
        alone, whole = (found[f"T_Shadow{what}/T_Low of {kind}"] for what in ("", " with backups"))
        assert all(alone[x] < whole[x] for x in alone)
