"""The demonstration: what its tables hold, and what is designed, verified and compared. It runs whole in tests/cli."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from overlay_spark.api import silent
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.lab import demo as module
from overlay_spark.lab.demo import INTERESTS, NODES_PER_SITE, run_demo, write_workload
from overlay_spark.options import DesignOptions, Options, WorkloadOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from overlay_spark.workloads.interests import subscriptions
from overlay_spark.workloads.sites import round_trip_ms
from tests import plain_delta
from tests.problems import sorted_rows

OUTPUT = Destination.parse("demo")
INPUTS = Inputs(Reference("delta", "demo/subscriptions"))


@pytest.mark.spark
def test_workload__is_brokers_at_sites_the_ways_between_them_and_interests_of_the_seed(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CITIES", {"tokyo": None, "amsterdam": None})
    output, seed = Destination.parse(str(tmp_path)), 5
    inputs = write_workload(spark, output, Options(workload=WorkloadOptions(seed=seed)))
    given = {table.name: reference for table, reference in inputs.by_table().items()}
    assert given == {name: output.table(name) for name in ("subscriptions", "nodes", "site_costs")}
    ids = [f"{city}-{i:02d}" for city in ("amsterdam", "tokyo") for i in range(NODES_PER_SITE)]
    nodes = delta.read(spark, given["nodes"]).select("node_id", "site")
    assert sorted_rows(nodes) == [(name, name.split("-")[0]) for name in ids]
    assert plain_delta.sorted_rows(given["site_costs"]) == [
        ("amsterdam", "amsterdam", 0.5),
        ("amsterdam", "tokyo", round_trip_ms("amsterdam", "tokyo")),
        ("tokyo", "tokyo", 0.5),
    ]
    drawn = [column.tolist() for column in subscriptions(INTERESTS, np.arange(len(ids)), seed)]
    wanted = [(ids[v], f"topic-{t:03d}") for v, t in zip(*drawn, strict=True)]
    assert plain_delta.sorted_rows(given["subscriptions"]) == sorted(wanted)
    assert delta.commits(spark, given["nodes"], 1)[0].metadata["job"] == "demo"  # which the next one may replace


@pytest.mark.slow
@pytest.mark.spark
def test_workload__stays_where_it_is_as_an_earlier_demonstration_made_it(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CITIES", {"tokyo": None, "amsterdam": None})
    output, five, six = (
        Destination.parse(str(tmp_path)),
        *(Options(workload=WorkloadOptions(seed=seed)) for seed in (5, 6)),
    )

    def versions():
        return [plain_delta.n_commits(tmp_path / name) for name in ("subscriptions", "nodes", "site_costs")]

    assert write_workload(spark, output, five) == write_workload(spark, output, five)
    assert versions() == [1, 1, 1]
    write_workload(spark, output, six)  # is of another seed
    assert versions() == [2, 2, 2]
    wanted = output.table("subscriptions")
    delta.append(catalog.SUBSCRIPTIONS, delta.read(spark, wanted).limit(1), wanted, {"job": "demo"})
    write_workload(spark, output, six)  # is no more as it was
    assert versions() == [4, 3, 3]


class Kept:
    """A result that tells whether it was closed."""

    def __init__(self, **told):
        self.__dict__.update(told, closed=False)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True


def test_demo__designs_and_verifies_what_it_wrote_and_compares_trees_that_it_does_not_write(monkeypatch):
    asked, results, steps, warmed = [], [], [], []

    def job(name, result):
        def run(spark, inputs, output, options, dry_run=False, progress=silent):
            asked.append(SimpleNamespace(name=name, inputs=inputs, output=output, options=options, dry_run=dry_run))
            progress("read")
            results.append(result(options))
            return results[-1]

        return run

    class Warmed:
        def __init__(self, spark, options):
            self.options = options

        def wait(self):
            warmed.append(self.options)

    monkeypatch.setattr(module, "Warming", Warmed)
    monkeypatch.setattr(module, "write_workload", lambda *given: INPUTS)
    monkeypatch.setattr(
        module, "run_design", job("design", lambda asked: Kept(metrics=f"figures of {asked.design.algorithm}"))
    )
    monkeypatch.setattr(module, "run_verify", job("verify", lambda asked: Kept(faults=("one fault",))))
    options = Options(design=DesignOptions(algorithm="primal_dual", then=("reverse_delete",), bound="primal_dual"))
    found = run_demo(None, OUTPUT, options, steps.append)
    ours, trees, proof = asked[0], *sorted(asked[1:], key=lambda job: job.name)  # those are side by side
    assert [(job.name, job.dry_run) for job in (ours, trees, proof)] == [
        ("design", False),
        ("design", True),
        ("verify", False),
    ]
    assert all((job.inputs, job.output) == (INPUTS, OUTPUT) for job in asked)
    assert (ours.options, proof.options) == (options, options)
    assert trees.options == Options().designing("trees")  # by itself: no steps, no bound
    assert (found.inputs, found.overlay, found.trees) == (
        INPUTS,
        "figures of primal_dual",
        "figures of trees",
    )
    assert found.faults == ("one fault",)
    assert all(result.closed for result in results)
    assert steps == ["make workload", "read", "read"]
    assert warmed == [options]  # so that a design finds its kernels warm
    assert found.seconds > 0
