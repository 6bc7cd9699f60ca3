"""Spark's extra jars for a local session: fetched once by Spark's own resolver, then kept in a folder.

Each coordinate is resolved by itself, because one that cannot be had would fail the others with it. Jars that Spark
itself brings along are not kept. A folder of the user's jars comes first and serves machines without Maven.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from overlay_spark.errors import SetupError
from overlay_spark.options import SessionOptions

DELTA_VERSION = "4.4.0"
GRAPHFRAMES_VERSION = "0.12.3"
ASK_AGAIN_AFTER = 7 * 24 * 3600
"""Seconds until a jar that could not be had is asked for again."""
RESOLVE_TIMEOUT = 600

Say = Callable[[str], None]


class _NotFetched(Exception):
    """Raised when a coordinate cannot be resolved; says why."""


def local_jars(options: SessionOptions, spark_line: str, say: Say) -> list[Path]:
    """The jars of Delta, and of GraphFrames where they can be had."""
    given = _given_jars(options)
    cache = _cache_folder(options) / f"spark-{spark_line}"
    jars = list(given)
    delta = f"io.delta:delta-spark_{spark_line}_2.13:{DELTA_VERSION}"
    if not _has(given, "delta-spark_"):
        try:
            jars += _cached_jars(delta, cache, say)
        except _NotFetched as error:
            raise SetupError(
                f"The jar of Delta Lake ({delta}) could not be fetched: {error}. Connect this machine to a Maven "
                "repository (Spark's settings spark.jars.repositories and spark.jars.ivySettings are honoured), or put "
                "the jar and its dependencies into a folder and set OVERLAY_SPARK_JARS to it."
            ) from error
    graphframes = f"io.graphframes:graphframes-spark4_2.13:{GRAPHFRAMES_VERSION}"
    if given and not _has(given, "graphframes-"):
        say("Starting without GraphFrames: its jar is not in the folder given; grouped tasks find components instead.")
    elif not given:
        try:
            jars += _cached_jars(graphframes, cache, say, may_be_missing=True)
        except _NotFetched as error:
            say(f"Starting without GraphFrames ({graphframes}: {error}); grouped tasks find components instead.")
    return jars


def _given_jars(options: SessionOptions) -> list[Path]:
    folder = options.jars or os.environ.get("OVERLAY_SPARK_JARS")
    if not folder:
        return []
    jars = sorted(Path(folder).glob("*.jar"))
    if not jars:
        raise SetupError(f"{folder}: there are no jars in this folder. Correct session.jars or OVERLAY_SPARK_JARS.")
    return jars


def _has(jars: list[Path], artifact: str) -> bool:
    return any(re.match(rf"(?:io\.\w+_)?{artifact}", jar.name) for jar in jars)


def _cache_folder(options: SessionOptions) -> Path:
    chosen = options.cache or os.environ.get("OVERLAY_SPARK_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "overlay-spark"


def _cached_jars(coordinate: str, cache: Path, say: Say, may_be_missing: bool = False) -> list[Path]:
    """The jars of one coordinate.

    Its folder, or the note that it cannot be had, is renamed into place whole: a killed run leaves nothing half done.
    """
    folder = cache / coordinate.replace(":", "_")
    if folder.is_dir():
        return sorted(folder.glob("*.jar"))
    refusal = folder.with_name(f"{folder.name}.missing.json")
    if may_be_missing and refusal.exists():
        note = json.loads(refusal.read_text())
        if time.time() - note["asked"] < ASK_AGAIN_AFTER:
            raise _NotFetched(note["why"])
    say(f"Fetching {coordinate} (once; kept in {cache})")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"{cache}: jars cannot be kept here ({error.strerror}). Set session.cache to a folder."
        ) from error
    with tempfile.TemporaryDirectory(dir=cache) as work:
        try:
            _resolve(coordinate, Path(work))
        except _NotFetched as error:
            if may_be_missing:
                note = Path(work) / "note.json"
                note.write_text(json.dumps({"asked": time.time(), "why": str(error)}))
                note.replace(refusal)
            raise
        chosen = Path(work) / "chosen"
        chosen.mkdir()
        known = {_artifact(jar.name) for jar in (_spark_home() / "jars").glob("*.jar")}
        for jar in (Path(work) / "jars").glob("*.jar"):
            if _artifact(jar.name.partition("_")[2]) not in known:
                shutil.move(jar, chosen / jar.name)
        try:
            chosen.rename(folder)
        except OSError:  # another run was quicker
            if not folder.is_dir():
                raise
    return sorted(folder.glob("*.jar"))


def _artifact(file_name: str) -> str:
    """A jar's name without its version."""
    return re.sub(r"-\d.*", "", file_name)


def _spark_home() -> Path:
    import pyspark

    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def _resolve(coordinate: str, work: Path) -> None:
    """Let Spark's resolver fetch a coordinate into ``work/jars``, by submitting a program that does nothing."""
    program = work / "nothing.py"
    program.write_text("")
    home = _spark_home()
    command = [str(home / "bin" / "spark-submit"), "--master", "local[1]", "--packages", coordinate]
    settings = ["--conf", f"spark.jars.ivy={work}", "--conf", "spark.ui.enabled=false"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    try:
        done = subprocess.run(
            [*command, *settings, str(program)],
            capture_output=True,
            text=True,
            timeout=RESOLVE_TIMEOUT,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise _NotFetched(f"no answer within {RESOLVE_TIMEOUT} s") from error
    if done.returncode != 0:
        raise _NotFetched(_reason(done.stdout + done.stderr))


def _reason(output: str) -> str:
    """The line of the resolver's output that says why."""
    for pattern in (r":: (\S+#\S+: not found)", r"(Host \S+ not found)", r"(?m)^Exception in thread \S+ (.*)$"):
        match = re.search(pattern, output)
        if match:
            return match[1]
    return (output.strip().splitlines() or ["the resolver said nothing"])[-1]
