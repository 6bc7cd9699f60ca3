"""Sessions and jars: one clear message for each thing that may be missing."""

from __future__ import annotations

import json
import os

import pytest

from overlay_spark.errors import SetupError
from overlay_spark.jobs import jars, session
from overlay_spark.options import SessionOptions


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


@pytest.fixture
def resolver(monkeypatch, tmp_path):
    """Stands in for Maven: ``known`` coordinates have one jar of their own and one that Spark has too."""
    asked = []
    known = {"delta"}

    def resolve(coordinate, work):
        asked.append(coordinate)
        if not any(part in coordinate for part in known):
            raise jars._NotFetched(f"{coordinate}: not found")
        (work / "jars").mkdir()
        name = coordinate.split(":")[1]
        for jar in (f"io.x_{name}-1.0.jar", "com.example_log4j-core-9.9.jar"):
            (work / "jars" / jar).write_text("")

    monkeypatch.setattr(jars, "_resolve", resolve)
    monkeypatch.delenv("OVERLAY_SPARK_JARS", raising=False)
    resolve.asked, resolve.known = asked, known
    return resolve


def test_jars__are_fetched_once_and_without_spark_s_own(resolver, tmp_path):
    options, said = SessionOptions(cache=str(tmp_path / "cache")), []
    first = jars.local_jars(options, "4.1", said.append)
    assert [jar.name for jar in first] == ["io.x_delta-spark_4.1_2.13-1.0.jar"]
    assert resolver.asked == [
        f"io.delta:delta-spark_4.1_2.13:{jars.DELTA_VERSION}",
        f"io.graphframes:graphframes-spark4_2.13:{jars.GRAPHFRAMES_VERSION}",
    ]
    assert sum("Starting without GraphFrames" in line for line in said) == 1
    again = []
    assert jars.local_jars(options, "4.1", again.append) == first
    assert len(resolver.asked) == 2, "a second session asks nobody"
    assert sum("Starting without GraphFrames" in line for line in again) == 1


def test_jars__that_could_not_be_had_are_asked_for_again_after_a_while(resolver, tmp_path):
    options = SessionOptions(cache=str(tmp_path / "cache"))
    jars.local_jars(options, "4.1", print)
    note = next((tmp_path / "cache").rglob("*.missing.json"))
    note.write_text(json.dumps({"asked": 0, "why": "long ago"}))
    resolver.known.add("graphframes")
    found = jars.local_jars(options, "4.1", print)
    assert [jar.name for jar in found][1:] == ["io.x_graphframes-spark4_2.13-1.0.jar"]


def test_jars__of_delta_that_cannot_be_had_are_told(resolver, tmp_path):
    resolver.known.clear()
    with pytest.raises(
        SetupError, match=r"The jar of Delta Lake \(io\.delta.*could not be fetched.*OVERLAY_SPARK_JARS"
    ):
        jars.local_jars(SessionOptions(cache=str(tmp_path)), "4.1", print)


def test_jars__of_a_folder_come_first(resolver, tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.setenv("OVERLAY_SPARK_JARS", str(folder))
    with pytest.raises(SetupError, match="there are no jars in this folder"):
        jars.local_jars(SessionOptions(cache=str(tmp_path)), "4.1", print)
    for name in ("delta-spark_4.1_2.13-4.4.0.jar", "graphframes-spark4_2.13-0.12.3.jar"):
        (folder / name).write_text("")
    assert len(jars.local_jars(SessionOptions(cache=str(tmp_path)), "4.1", print)) == 2
    assert resolver.asked == []


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
