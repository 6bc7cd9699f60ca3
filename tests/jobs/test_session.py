"""Sessions: one clear message for each thing that may be missing."""

from __future__ import annotations

import importlib.util
import os

import pytest

from overlay_spark.errors import SetupError
from overlay_spark.jobs import session
from overlay_spark.tables import delta


def fake_java(tmp_path, version):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)
    return str(tmp_path)


@pytest.mark.parametrize("version, seen", [("1.8.0_292", "1.8"), ("11.0.2", "11"), ("16", "16")])
def test_java__too_old_is_told(monkeypatch, tmp_path, version, seen):
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path, version))
    with pytest.raises(SetupError, match=rf"needs Java 17 or newer, but {tmp_path}/bin/java is {seen}.*set JAVA_HOME"):
        session.require_java()


@pytest.mark.parametrize("version, major", [("17", 17), ("17.0.15", 17), ("21.0.1", 21), ("25-ea", 25)])
def test_java__new_enough_is_taken(monkeypatch, tmp_path, version, major):
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path, version))
    assert session.require_java() == major


def test_java__missing_is_told(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"Spark needs Java, and none was found \(no java on the PATH\)"):
        session.require_java()


def test_spark__of_another_line_is_told(monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with pytest.raises(SetupError, match=r"pyspark 3\.5\.1 is installed, but overlay-spark works with Spark 4\.0"):
        session.spark_version()


@pytest.mark.spark
def test_open_session__takes_the_active_one(spark):
    assert session.open_session() is spark
    assert os.environ["PYSPARK_PYTHON"] == os.sys.executable
    assert spark.conf.get("spark.checkpoint.dir")


@pytest.mark.spark
def test_open_session__refuses_one_without_delta_s_extension(spark, monkeypatch):
    plain = spark.newSession()
    monkeypatch.setattr(session, "DELTA_EXTENSION", "io.delta.sql.AnotherExtension")
    with pytest.raises(SetupError, match=r"not its extension\. Start Spark with --packages io\.delta"):
        session.require_delta(plain)


@pytest.mark.spark
def test_require_delta__tells_of_a_session_without_its_jar(spark, monkeypatch):
    monkeypatch.setattr(delta, "read", lambda session, _: session.read.format("lake.that.is.not.there").load("/"))
    with pytest.raises(SetupError, match=r"no Delta Lake jar\. Start Spark with --packages io\.delta:delta-spark_4\."):
        session.require_delta(spark)


def test_spark_version__tells_of_missing_packages_before_anything_starts(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pandas" else find(name))
    with pytest.raises(SetupError, match=r"pandas is not installed in this Python.*Run: pip install pandas\."):
        session.spark_version()
