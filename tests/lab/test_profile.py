import io

import pytest

from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.profile import profile_design
from overlay_spark.options import Options
from overlay_spark.tables import delta
from overlay_spark.tables.references import Destination

STEPS = ("look at the output", "read", "check and index", "solve", "verify", "measure", "write")


@pytest.mark.spark
def test_profile__tells_every_step_of_each_job(spark, tmp_path):
    steps = Steps(io.StringIO())
    profiles = profile_design(spark, Options(), Destination.parse(str(tmp_path)), steps, sizes=((40, 110), (50, 120)))
    assert [(profile.nodes, profile.topics) for profile in profiles] == [(40, 110), (50, 120)]
    for profile in profiles:
        assert set(profile.seconds) >= set(STEPS)
        assert profile.total == sum(profile.seconds.values())
        assert 0 < profile.algorithm_seconds < profile.total
    assert not set(STEPS) & set(steps.seconds)
    rows = delta.read(spark, Destination.parse(str(tmp_path)).table("experiments")).collect()
    assert {(row["figure"], row["series"], row["x"]) for row in rows} == {
        ("design, run 1 of the session", "T=110", 40.0),
        ("design, run 2 of the session", "T=120", 50.0),
    }
    assert {row["metric"] for row in rows} == {f"seconds, {step}" for step in (*profiles[0].seconds, "algorithm")}
