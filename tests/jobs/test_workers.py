"""Workers that cannot run tasks: one message each, with the remedy."""

from __future__ import annotations

import logging
import re

import pytest

import overlay_spark
from overlay_spark.errors import SetupError
from overlay_spark.jobs import session, workers
from overlay_spark.jobs.packing import python_line

FOUND = dict.fromkeys(workers.NEEDED, "1.0") | {"overlay_spark": overlay_spark.__version__}
ZIP = rf"Run overlay-spark pack FOLDER and add --py-files FOLDER/overlay_spark-{overlay_spark.__version__}\.zip"


def told(missing=(), **found):
    return {"python": "python3", "found": {**FOUND, **found}, "missing": {name: f"no {name}" for name in missing}}


@pytest.mark.parametrize(
    "answer, message",
    [
        (told(missing=["overlay_spark"]), rf"\(python3\) cannot import overlay_spark: no overlay_spark\. {ZIP} to spark-submit\.$"),
        (told(missing=["overlay_spark", "numba"]), r"cannot import overlay_spark, numba: no numba\. Install numba there, or ship all of it: overlay-spark pack FOLDER --with-dependencies makes the FILE for --archives FOLDER/FILE#\w+ --conf spark\.executorEnv\.PYTHONPATH=\w+ of spark-submit\.$"),
        (told(overlay_spark="0.0.9"), rf"The workers have overlay_spark 0\.0\.9, but the driver has .*\. {ZIP}"),
    ],
)  # fmt: skip
def test_check__refuses_what_is_missing_or_another(answer, message):
    with pytest.raises(SetupError, match=message):
        workers.check(answer)


@pytest.mark.parametrize(
    "message, says",
    [
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11", rf"workers run Python 3\.9, but the driver runs {python_line()};.*Set PYSPARK_PYTHON"),
        ('java.io.IOException: Cannot run program "/x/python": error=2', r"have no Python at /x/python\. Set PYSPARK_PYTHON"),
        ("Something\n  else " + "word " * 100, r"Python does not run on the workers\. Spark says: Something else word"),
    ],
)  # fmt: skip
def test_python_that_does_not_run__is_told(message, says):
    assert re.search(says, workers.why_python_fails(message))


@pytest.mark.spark
def test_require_workers__asks_a_worker(spark, monkeypatch, caplog):
    with caplog.at_level(logging.INFO, "overlay_spark"):
        workers.require_workers(spark)
    assert f"Workers: overlay_spark {overlay_spark.__version__}, numpy " in caplog.text
    monkeypatch.setattr(workers, "NEEDED", ("overlay_spark", "no_such_module"))
    with pytest.raises(SetupError, match=r"cannot import no_such_module: No module named 'no_such_module'"):
        workers.require_workers(spark)


@pytest.mark.spark
def test_open_session__asks_workers_that_may_run_another_python(spark, monkeypatch):
    asked = []
    monkeypatch.setattr(session, "require_workers", asked.append)
    session.open_session()
    assert asked == []
    monkeypatch.setattr(session.sys, "executable", "/another/python")
    session.open_session()
    assert asked == [spark]
