import io

import pytest

from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.profile import PEAKS, Profile, growth, profile_design
from overlay_spark.options import Options
from overlay_spark.tables.references import Destination
from tests import plain_delta

STEPS = ("look at the output", "read", "check and index", "solve", "verify", "write")


@pytest.mark.slow
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
    rows = plain_delta.read(Destination.parse(str(tmp_path)).table("experiments"))
    assert {(row["figure"], row["series"], row["x"]) for row in rows} == {
        ("design, run 1 of the session", "T=110", 40.0),
        ("design, run 2 of the session", "T=120", 50.0),
    }
    assert {row["metric"] for row in rows} - set(PEAKS) == {
        f"seconds, {step}" for step in (*profiles[0].seconds, "algorithm")
    }
    for profile in profiles:
        assert 20 * profile.nodes <= profile.subscriptions <= 100 * profile.nodes
        assert profile.links > profile.nodes / 2
        assert 0 < profile.task_bytes < profile.peak_bytes
        assert profile.engine == "kernel"


@pytest.mark.parametrize("seconds, power", [((2.0, 20.0, 2.0), 1.0), ((2.0, 200.0, 9.0), 2.0), ((2.0, 2.0, 3.0), 0.0)])
def test_growth__is_from_the_smallest_to_the_largest(seconds, power):
    sizes = (1000, 10_000, 3000)
    profiles = [
        Profile(
            nodes=nodes,
            topics=1,
            subscriptions=1,
            engine="one",
            links=1,
            seconds={"a": total / 2, "b": total / 2},
            algorithm_seconds=0.0,
            peak_bytes=1,
            task_bytes=1,
        )
        for nodes, total in zip(sizes, seconds, strict=True)
    ]
    assert growth(profiles) == pytest.approx(power)
