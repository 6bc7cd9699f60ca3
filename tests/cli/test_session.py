import io

import pytest

from overlay_spark.cli.session import spark_session
from overlay_spark.errors import SetupError
from overlay_spark.jobs.progress import Steps
from overlay_spark.options import Options


@pytest.mark.spark
def test_spark_session__that_was_running_is_left_alone(spark):
    steps = Steps(io.StringIO())
    with spark_session(Options(), steps, {"spark.eventLog.enabled": "true"}) as found:
        assert found is spark
        assert found.conf.get("spark.eventLog.enabled", "false") == "false"
        steps("count")
    assert list(steps.seconds) == ["start Spark", "count"]
    assert spark.range(3).count() == 3


def test_spark_session__of_a_spark_nobody_knows_is_refused(monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    steps = Steps(io.StringIO())
    with pytest.raises(SetupError, match=r"pyspark 3\.5\.1 is installed"), spark_session(Options(), steps):
        raise AssertionError
    assert list(steps.seconds) == ["start Spark"]
