"""Drivers in processes of their own, for tests that kill them and let them race."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TRIALS = int(os.environ.get("OVERLAY_SPARK_TESTS_TRIALS", "20"))
"""How many pairs of runs race in a test, at how many instants one is killed; half as many histories are gone through."""

PROGRAM = """
import contextlib, io, itertools, json, os, signal, sys, time
from pathlib import Path
from typing import NamedTuple
from overlay_spark.cli import main as overlay_spark
from overlay_spark.jobs import session as sessions
from overlay_spark.options import SessionOptions
from overlay_spark.tables import delta
from tests.sessions import quick_java

meeting, turns, command, fatal = json.loads(sys.argv[1])
numbers, tried, parent = itertools.count(1), delta.tried, os.getppid()

def counted(commit):
    number = next(numbers)
    if fatal == [number, "before"]:
        os.killpg(0, signal.SIGKILL)
    tried(commit)
    if fatal == [number, "after"]:
        os.killpg(0, signal.SIGKILL)

def meet(turn):
    Path(f"{meeting}/{turn}.{os.getpid()}").touch()
    while len(list(Path(meeting).glob(f"{turn}.*"))) < 2:
        time.sleep(0.002)
        if os.getppid() != parent:
            os.killpg(0, signal.SIGKILL)

def main():
    delta.tried = counted
    sessions.BRIEF_JAVA = quick_java(minutes=len(turns) > 1)
    sessions.open_session(SessionOptions(cores="2", brief=True, driver_memory="1g")).range(1).count()
    for turn, (out, pause) in enumerate(turns):
        meet(turn)
        time.sleep(pause)
        said, told, began = io.StringIO(), io.StringIO(), time.monotonic()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            code = overlay_spark([*command, "--output", out])
        seconds = time.monotonic() - began
        print("answer", json.dumps([turn, code, seconds, said.getvalue(), told.getvalue()]), flush=True)

if __name__ == "__main__":
    main()
"""


class Answer(NamedTuple):
    """How one command of a process ended."""

    turn: int
    code: int
    seconds: float
    said: str
    told: str


class Process:
    """A driver of its own, Java with it, that gives a command for one place after the other; no longer than a ``with``
    block.

    ``turns`` are places, and how long it pauses before each, where it meets another process, or whoever calls
    :meth:`go`. ``fatal`` is (the number of the commit, from 1, that it kills itself at, "before" or "after").
    """

    def __init__(self, command, meeting, turns, fatal=None):
        self._meeting = Path(meeting)
        self._meeting.mkdir(exist_ok=True)
        asked = [str(meeting), [[str(out), pause] for out, pause in turns], command, fatal]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(asked)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self._process.communicate()

    @property
    def is_there(self):
        return self._process.poll() is None

    def go(self, turn=0):
        """Let it begin, once it is ready."""
        while not list(self._meeting.glob(f"{turn}.*")):
            assert self.is_there, self._process.communicate()[1]
            time.sleep(0.01)
        (self._meeting / f"{turn}.go").touch()

    def kill(self):
        """The whole group of processes, if it is still there."""
        if self.is_there:
            os.killpg(self._process.pid, signal.SIGKILL)

    def ended(self, timeout=600):
        """(whether it was killed, its answers, what it told)"""
        said, told = self._process.communicate(timeout=timeout)
        lines = [line.removeprefix("answer ") for line in said.splitlines() if line.startswith("answer ")]
        answers = [Answer(*json.loads(line)) for line in lines]  # Java may say something too
        return self._process.returncode == -signal.SIGKILL, answers, told


def started_ahead(start, trials):
    """(trial, its process), one after the other; the next one starts while one is looked at."""
    with ExitStack() as processes:
        ahead = None
        for trial in trials:
            ahead, now = (trial, processes.enter_context(start(trial))), ahead
            if now is not None:
                yield now
        if ahead is not None:
            yield ahead


def raced(command, folder, asked):
    """How two processes ended that had these turns."""
    with ExitStack() as processes:
        racers = [processes.enter_context(Process(command, folder / "meet", turns)) for turns in asked]
        return [racer.ended(timeout=1200) for racer in racers]
