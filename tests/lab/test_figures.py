"""The table of figures: added in one commit that names the run, or not at all."""

from __future__ import annotations

import pytest

from overlay_spark.jobs.runs import Run
from overlay_spark.lab.figures import record_figures
from overlay_spark.options import Options
from overlay_spark.tables import delta
from overlay_spark.tables.references import Destination
from tests import plain_delta

pytestmark = pytest.mark.spark

FIRST = [
    ("000", "fig4", "GrMAW", 100.0, 3, "cost", 12.5, None),
    ("000", "fig4", "GrMAW", None, -1, "cost", 12.5, 0.36),
]
SECOND = [("benchmark", "greedy", "grmaw.cpp", 60.0, 0, "seconds", 1e-9, None)]


@pytest.mark.slow
def test_figures__are_added_to_those_that_are_there_each_time_in_one_commit(spark, tmp_path):
    output = Destination.parse(str(tmp_path))
    place = output.table("experiments")
    record_figures(spark, FIRST, output, Run(job="experiment", options=Options(), run_id="one"))
    assert plain_delta.sorted_rows(place) == FIRST
    record_figures(spark, SECOND, output, Run(job="benchmark", options=Options(), run_id="two"))
    assert plain_delta.sorted_rows(place) == FIRST + SECOND
    assert delta.latest_version(spark, place) == 1
    assert delta.commits(spark, place, 1)[0].metadata == {
        "run_id": "two",
        "job": "benchmark",
        "generation": None,
        "inputs": {},
        "input_times": {},
    }
    with pytest.raises(Exception, match=r"non-nullable|null"):
        record_figures(
            spark, [(*SECOND[0][:6], None, None)], output, Run(job="benchmark", options=Options(), run_id="three")
        )
    assert delta.latest_version(spark, place) == 1
    runs = {row["run_id"]: row for row in plain_delta.read(output.table("runs"))}
    assert {name: (row["job"], row["status"]) for name, row in runs.items()} == {
        "one": ("experiment", "done"),
        "two": ("benchmark", "done"),
        "three": ("benchmark", "failed"),
    }
