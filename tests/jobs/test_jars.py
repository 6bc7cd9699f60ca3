"""Jars: a folder of the user's first, then what is kept, then what Spark's resolver fetches; nothing half done stays.

The resolver is a script in a Spark of its own, so that no test asks a network.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlay_spark.errors import SetupError
from overlay_spark.jobs import jars as module
from overlay_spark.jobs.jars import DELTA_VERSION, GRAPHFRAMES_VERSION, local_jars
from overlay_spark.options import SessionOptions

DELTA = f"io.delta:delta-spark_4.1_2.13:{DELTA_VERSION}"
GRAPHFRAMES = f"io.graphframes:graphframes-spark4_2.13:{GRAPHFRAMES_VERSION}"
DELTA_JARS = [f"io.delta_delta-spark_4.1_2.13-{DELTA_VERSION}.jar", "io.delta_delta-storage-4.4.0.jar"]
GRAPHFRAMES_JARS = [f"io.graphframes_graphframes-spark4_2.13-{GRAPHFRAMES_VERSION}.jar"]
OF_SPARK = "org.example_log4j-core-9.9.jar"

SUBMIT = """#!/bin/sh
for word; do
  case $word in
    io.*:*) coordinate=$word ;;
    spark.jars.ivy=*) jars=${word#*=}/jars ;;
  esac
done
echo "$coordinate" >> "$SPARK_HOME/asked"
name=$(echo "$coordinate" | cut -d: -f2)
mkdir "$jars"
if [ -f "$SPARK_HOME/slow" ]; then
  touch "$jars/half.jar" "$SPARK_HOME/started"
  exec sleep 60
fi
[ -f "$SPARK_HOME/$name" ] || { cat "$SPARK_HOME/says" >&2; exit 1; }
while read -r jar; do touch "$jars/$jar"; done < "$SPARK_HOME/$name"
[ -f "$SPARK_HOME/rival" ] && . "$SPARK_HOME/rival"
true
"""
"""Knows the coordinates that have a file of their jars; hangs where it is to be slow."""


class Spark:
    """A folder that looks like Spark's to whom asks it for jars."""

    def __init__(self, home: Path):
        self.home = home
        (home / "bin").mkdir(parents=True)
        (home / "jars").mkdir()
        (home / "jars" / "log4j-core-2.1.jar").touch()
        submit = home / "bin" / "spark-submit"
        submit.write_text(SUBMIT)
        submit.chmod(0o755)
        self.says("")

    def has(self, coordinate: str, jars: list[str]) -> None:
        (self.home / coordinate.split(":")[1]).write_text("".join(f"{jar}\n" for jar in [*jars, OF_SPARK]))

    def says(self, text: str) -> None:
        (self.home / "says").write_text(text)

    def asked(self) -> list[str]:
        log = self.home / "asked"
        return log.read_text().split() if log.exists() else []


@pytest.fixture
def spark_home(tmp_path, monkeypatch):
    spark = Spark(tmp_path / "spark")
    monkeypatch.setenv("SPARK_HOME", str(spark.home))
    monkeypatch.delenv("OVERLAY_SPARK_JARS", raising=False)
    spark.has(DELTA, DELTA_JARS)
    return spark


@pytest.fixture
def options(tmp_path):
    return SessionOptions(cache=str(tmp_path / "cache"))


def names(jars):
    return [jar.name for jar in jars]


def test_jars__are_fetched_once_and_without_those_spark_has(spark_home, options, tmp_path):
    spark_home.has(GRAPHFRAMES, GRAPHFRAMES_JARS)
    said, again = [], []
    found = local_jars(options, "4.1", said.append)
    assert names(found) == DELTA_JARS + GRAPHFRAMES_JARS
    assert all(jar.is_file() for jar in found)
    kept = f"(once; kept in {tmp_path}/cache/spark-4.1)"
    assert said == [f"Fetching {DELTA} {kept}", f"Fetching {GRAPHFRAMES} {kept}"]
    assert local_jars(options, "4.1", again.append) == found
    assert (spark_home.asked(), again) == ([DELTA, GRAPHFRAMES], [])
    assert {path.name for path in (tmp_path / "cache" / "spark-4.1").iterdir()} == {
        coordinate.replace(":", "_") for coordinate in (DELTA, GRAPHFRAMES)
    }


def test_jars__of_each_spark_are_kept_apart(spark_home, options):
    spark_home.has(DELTA.replace("4.1", "4.0"), ["io.delta_delta-spark_4.0_2.13-4.4.0.jar"])
    assert names(local_jars(options, "4.1", print)) == DELTA_JARS
    assert names(local_jars(options, "4.0", print)) == ["io.delta_delta-spark_4.0_2.13-4.4.0.jar"]


def test_graphframes__that_cannot_be_had_is_told_each_time_and_asked_for_once_a_week(spark_home, options, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    spark_home.says(f":: {GRAPHFRAMES.replace(':', '#', 1)}: not found")
    missing = (
        f"Starting without GraphFrames ({GRAPHFRAMES}: {GRAPHFRAMES.replace(':', '#', 1)}: not found); "
        "grouped tasks find components instead."
    )
    for later, asked in ((0.0, 1), (1.0, 1), (module.ASK_AGAIN_AFTER - 2.0, 1), (1.0, 2), (1.0, 2)):
        now[0] += later
        said = []
        assert names(local_jars(options, "4.1", said.append)) == DELTA_JARS
        assert said[-1] == missing
        assert spark_home.asked().count(GRAPHFRAMES) == asked
    spark_home.has(GRAPHFRAMES, GRAPHFRAMES_JARS)
    now[0] += module.ASK_AGAIN_AFTER
    assert names(local_jars(options, "4.1", print)) == DELTA_JARS + GRAPHFRAMES_JARS


def test_delta__that_cannot_be_had_is_refused_and_asked_for_each_time(spark_home, options, tmp_path):
    (spark_home.home / "delta-spark_4.1_2.13").unlink()
    spark_home.says("Host repo.example not found\nmore")
    for asked in (1, 2):
        with pytest.raises(SetupError) as refusal:
            local_jars(options, "4.1", print)
        assert str(refusal.value) == (
            f"The jar of Delta Lake ({DELTA}) could not be fetched: Host repo.example not found. Connect this machine "
            "to a Maven repository (Spark's settings spark.jars.repositories and spark.jars.ivySettings are "
            "honoured), or put the jar and its dependencies into a folder and set OVERLAY_SPARK_JARS to it."
        )
        assert spark_home.asked() == [DELTA] * asked
    assert list((tmp_path / "cache" / "spark-4.1").iterdir()) == []


@pytest.mark.parametrize(
    "output, reason",
    [
        ("resolving\n\t:: io.x#y;1.0: not found\n:: USE VERBOSE\n", "io.x#y;1.0: not found"),
        ("Host repo.example not found. url=x", "Host repo.example not found"),
        ('at x\nException in thread "main" java.net.UnknownHostException: repo\n\tat y', "java.net.UnknownHostException: repo"),
        ("one\nlast line\n\n", "last line"),
        ("", "the resolver said nothing"),
    ],
)  # fmt: skip
def test_reason__is_the_line_that_says_why(spark_home, options, output, reason):
    (spark_home.home / "delta-spark_4.1_2.13").unlink()
    spark_home.says(output)
    with pytest.raises(SetupError) as refusal:
        local_jars(options, "4.1", print)
    assert f"could not be fetched: {reason}. Connect" in str(refusal.value)


def test_resolver__that_does_not_answer_is_given_up(spark_home, options, monkeypatch, tmp_path):
    (spark_home.home / "slow").touch()
    monkeypatch.setattr(module, "RESOLVE_TIMEOUT", 0.3)
    with pytest.raises(SetupError, match=r"could not be fetched: no answer within 0\.3 s\. Connect"):
        local_jars(options, "4.1", print)
    assert list((tmp_path / "cache" / "spark-4.1").iterdir()) == []


def test_killed_fetch__leaves_nothing_that_is_taken_for_jars(spark_home, options, tmp_path):
    (spark_home.home / "slow").touch()
    code = (
        "from overlay_spark.jobs.jars import local_jars; from overlay_spark.options import SessionOptions; "
        f"local_jars(SessionOptions(cache={options.cache!r}), '4.1', print)"
    )
    fetching = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        until = time.monotonic() + 60
        while not (spark_home.home / "started").exists():
            assert time.monotonic() < until
            assert fetching.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(fetching.pid, signal.SIGKILL)
        fetching.wait()
    assert not (tmp_path / "cache" / "spark-4.1" / DELTA.replace(":", "_")).exists()
    (spark_home.home / "slow").unlink()
    assert names(local_jars(options, "4.1", print)) == DELTA_JARS


@pytest.mark.parametrize("step", ["shutil.move", "pathlib.Path.rename"])
def test_interrupted_fetch__leaves_nothing_at_all(spark_home, options, tmp_path, monkeypatch, step):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        local_jars(options, "4.1", print)
    assert list((tmp_path / "cache" / "spark-4.1").iterdir()) == []


def test_note__of_a_missing_jar_that_was_not_written_whole_is_not_there(spark_home, options, tmp_path, monkeypatch):
    write = Path.write_text

    def half(path, text):
        write(path, text[: len(text) // 2])
        if "asked" in text:
            raise KeyboardInterrupt
        return len(text)

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(KeyboardInterrupt):
        local_jars(options, "4.1", print)
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "cache" / "spark-4.1").iterdir()] == [DELTA.replace(":", "_")]


def test_fetch__that_another_run_finished_first_takes_what_is_there(spark_home, options, tmp_path):
    folder = tmp_path / "cache" / "spark-4.1" / DELTA.replace(":", "_")
    (spark_home.home / "rival").write_text(f"mkdir '{folder}'; touch '{folder}/theirs.jar'\n")
    assert names(local_jars(options, "4.1", print))[:1] == ["theirs.jar"]
    assert names(folder.iterdir()) == ["theirs.jar"]


@pytest.fixture
def mine(tmp_path):
    """A folder of the user's jars."""

    def of(*jars, name="mine"):
        folder = tmp_path / name
        folder.mkdir()
        for jar in (*jars, "notes.txt"):
            (folder / jar).touch()
        return str(folder)

    return of


def test_given_folder__is_all_that_is_asked(spark_home, options, mine, monkeypatch):
    named = ["delta-spark_4.1_2.13-4.4.0.jar", "graphframes-spark4_2.13-0.12.3.jar", "other.jar"]
    monkeypatch.setenv("OVERLAY_SPARK_JARS", mine(*named))
    said = []
    assert names(local_jars(options, "4.1", said.append)) == named
    assert (spark_home.asked(), said) == ([], [])
    own = SessionOptions(jars=mine(*DELTA_JARS, *GRAPHFRAMES_JARS, name="named by the option"), cache=options.cache)
    assert names(local_jars(own, "4.1", print)) == DELTA_JARS + GRAPHFRAMES_JARS
    assert spark_home.asked() == []


def test_given_folder__without_graphframes_does_without_and_says_so(spark_home, options, mine, monkeypatch):
    monkeypatch.setenv("OVERLAY_SPARK_JARS", mine(*DELTA_JARS))
    said = []
    assert names(local_jars(options, "4.1", said.append)) == DELTA_JARS
    assert said == [
        "Starting without GraphFrames: its jar is not in the folder given; grouped tasks find components instead."
    ]
    assert spark_home.asked() == []


def test_given_folder__without_delta_has_it_fetched(spark_home, options, mine, monkeypatch):
    monkeypatch.setenv("OVERLAY_SPARK_JARS", mine("my-delta-spark_tools.jar", *GRAPHFRAMES_JARS))
    assert names(local_jars(options, "4.1", print)) == [*GRAPHFRAMES_JARS, "my-delta-spark_tools.jar", *DELTA_JARS]
    assert spark_home.asked() == [DELTA]


def test_given_folder__without_jars_is_refused(spark_home, options, mine, monkeypatch):
    folder = mine()
    monkeypatch.setenv("OVERLAY_SPARK_JARS", folder)
    with pytest.raises(SetupError) as refusal:
        local_jars(options, "4.1", print)
    assert str(refusal.value) == (
        f"{folder}: there are no jars in this folder. Correct session.jars or OVERLAY_SPARK_JARS."
    )


def test_cache__is_where_the_machine_keeps_caches_and_one_that_cannot_be_made_is_told(
    spark_home, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert local_jars(SessionOptions(), "4.1", print)[0].is_relative_to(tmp_path / "caches" / "overlay-spark")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert local_jars(SessionOptions(), "4.1", print)[0].is_relative_to(tmp_path / "home" / ".cache" / "overlay-spark")
    assert local_jars(SessionOptions(cache="~/jars"), "4.1", print)[0].is_relative_to(tmp_path / "home" / "jars")
    (tmp_path / "file").touch()
    with pytest.raises(SetupError) as refusal:
        local_jars(SessionOptions(cache=str(tmp_path / "file")), "4.1", print)
    assert str(refusal.value) == (
        f"{tmp_path}/file/spark-4.1: jars cannot be kept here (Not a directory). Set session.cache to a folder."
    )
