"""A standalone cluster on this machine: a master and workers as processes of their own, on loopback addresses only."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.sessions import SPARK_HOME

PATIENCE = 120
"""Seconds within which a process is to do what it was started for."""

T = TypeVar("T")


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without what would lead Spark, or a Python, to where the tests are."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "PYTHON"))}
    return {**kept, "SPARK_HOME": SPARK_HOME, "SPARK_LOCAL_IP": "127.0.0.1", **more}


def wait_for(what: str, look: Callable[[], T | None], patience: float = PATIENCE) -> T:
    """What ``look`` finds, as soon as it finds it."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise TimeoutError(f"{what}: not within {patience:.0f} s")


@dataclass
class Daemon:
    """A master or a worker; in a process group of its own, in which a worker's executors are too."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self, pattern: str) -> str:
        def look() -> str | None:
            assert self.process.poll() is None, self.log.read_text()[-4000:]
            found = re.search(pattern, self.log.read_text())
            return found and found[1]

        return wait_for(f"{self.log.name} to say {pattern!r}", look)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Stop it and the executors it started, and see it gone."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
        self.process.wait(PATIENCE)


class Cluster:
    """One master and two workers of a core each."""

    def __init__(self, folder: Path):
        self._folder, self._started = folder, 0
        self._master = self._start("master.Master", "--port", "0")
        self.url = self._master.said(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        self.workers: list[Daemon] = []
        self.fill()

    def fill(self) -> None:
        """Start workers in place of those that are gone."""
        self.workers = [worker for worker in self.workers if worker.process.poll() is None]
        started = []
        while len(self.workers) < 2:
            work = str(self._folder / f"work-{self._started}")
            one_core = ("--cores", "1", "--memory", "1g", "--work-dir", work)
            self.workers.append(self._start("worker.Worker", *one_core, self.url))
            started.append(self.workers[-1])
        for worker in started:
            worker.said("(Successfully registered) with master")

    def _start(self, kind: str, *arguments: str) -> Daemon:
        log = self._folder / f"{kind}-{self._started}.log"
        self._started += 1
        command = [f"{SPARK_HOME}/bin/spark-class", f"org.apache.spark.deploy.{kind}"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
                env=clean_environment(SPARK_DAEMON_MEMORY="256m"),
                cwd=self._folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Daemon(process, log)

    def stop(self) -> None:
        for daemon in (*self.workers, self._master):
            daemon.kill(signal.SIGTERM)


def _stat(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on; of one that is gone, nothing."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def descendants(pid: int) -> list[int]:
    """The processes a process started, and those they did."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        if told := _stat(int(process.name)):
            children.setdefault(int(told[1]), []).append(int(process.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def python_seconds(pid: int) -> float:
    """Processor time that the Pythons below a process have used, so far."""
    tails = [_stat(p) for p in descendants(pid) if b"pyspark.daemon" in command_line(p)]
    ticks = sum(int(ticks) for tail in tails for ticks in tail[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")
