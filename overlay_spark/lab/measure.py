"""Time algorithms on arrays: here, or on a stored instance in a process of its own.

``python -m overlay_spark.lab.measure INSTANCE ALGORITHM OPTIONS RUNS LINKS`` is that process; its peak memory is the
run's alone. Compiling, or loading compiled kernels, is done before the clock starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.registry import find
from overlay_spark.costs import Costs, point_costs
from overlay_spark.errors import OverlayError
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests, subscriptions
from overlay_spark.workloads.latencies import MeasuredPoints, random_points

UNIT = 1e-3
SIDE = 200.0
"""Nodes are points of a square with this side where no measured coordinates are given."""
WARM_NODES = 20


class MeasureError(OverlayError):
    """Raised when a measured program stops early, or two of them disagree: then their times say nothing."""


@dataclass(frozen=True)
class Measured:
    """One program on one instance: seconds (median), peak memory, and what it found."""

    program: str
    seconds: float
    peak_bytes: int
    links: NDArray[np.int32]
    bound: float | None


def make_instance(n_nodes: int, interests: Interests, points: MeasuredPoints | None, seed: int) -> Instance:
    """The arrays of a seeded workload; nodes stand on the measured points, else on random ones of a square."""
    nodes = np.arange(n_nodes)
    who, what = subscriptions(interests, nodes, seed)
    if points is None:
        places, heights = random_points(nodes, 2, SIDE, seed), np.zeros(n_nodes)
    else:
        places, heights = points.place(nodes, seed)
    return Instance.from_pairs(n_nodes, interests.topics, who, what, point_costs(places, heights, UNIT))


def part_of(instance: Instance, n_nodes: int) -> Instance:
    """The first nodes of an instance, in arrays of the same types, so that the same code is compiled for it."""
    n = min(n_nodes, instance.n_nodes)
    end = instance.offsets[n]
    return Instance(instance.n_topics, instance.offsets[: n + 1].copy(), instance.topics[:end], instance.costs)


def timed(
    algorithm: Callable[[Instance, Options], Links], instance: Instance, options: Options, runs: int = 1
) -> tuple[list[float], Links]:
    """Seconds of each run, after one on a small part that loads the compiled kernels; and the links."""
    links = algorithm(part_of(instance, WARM_NODES), options)
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        links = algorithm(instance, options)
        seconds.append(time.perf_counter() - started)
    return seconds, links


def degrees_of(ends: NDArray[Any], n_nodes: int) -> tuple[int, float]:
    """The greatest degree and the average one, of links given by the nodes at their ends."""
    return int(np.bincount(ends.ravel(), minlength=1).max()), ends.size / n_nodes


def timed_apart(stored: Path, algorithm: str, options: Options, runs: int) -> Measured:
    """An algorithm on a stored instance, in a process of its own."""
    out = stored.with_name("links.npy")
    arguments = [str(stored), algorithm, json.dumps(options.to_mapping()), str(runs), str(out)]
    told = json.loads(run_program([sys.executable, "-m", "overlay_spark.lab.measure", *arguments]))
    links = np.load(out, allow_pickle=False)
    return Measured(algorithm, statistics.median(told["seconds"]), told["peak_bytes"], links, told["bound"])


def run_program(command: list[str]) -> str:
    """What a program prints; refused if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise MeasureError(f"{Path(command[0]).name} stopped with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def store(instance: Instance, path: Path) -> None:
    """An instance as an ``.npz`` file of plain arrays."""
    arrays: dict[str, Any] = {f"costs_{name}": value for name, value in instance.costs._asdict().items()}
    np.savez(path, n_topics=instance.n_topics, offsets=instance.offsets, topics=instance.topics, **arrays)


def load(path: Path) -> Instance:
    """A stored instance."""
    with np.load(path, allow_pickle=False) as stored:
        costs = {name: stored[f"costs_{name}"] for name in Costs._fields}
        costs["kind"], costs["unit"] = int(costs["kind"]), float(costs["unit"])
        return Instance(int(stored["n_topics"]), stored["offsets"], stored["topics"], Costs(**costs))


def peak_bytes() -> int:
    """The most memory this process has held. ``ru_maxrss``, the fallback, starts at the parent's peak."""
    try:
        told = Path("/proc/self/status").read_text()
        return int(told.split("VmHWM:")[1].split()[0]) << 10
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def peak_below() -> int:
    """The most memory this process and those below it have held, each at its own time; of this one alone where the
    system does not tell."""
    return peak_bytes() + sum(peak for _, _, peak in _below())


def peak_of_tasks() -> int:
    """The most memory that any Python of Spark's tasks has held; 0 where the system does not tell, or there is none."""
    return max((peak for _, command, peak in _below() if "pyspark" in command and "java" not in command), default=0)


def forget_peaks() -> None:
    """Let the processes below begin anew to note the most they hold, where the system can."""
    for process, _, _ in _below():
        with contextlib.suppress(OSError):
            Path(f"/proc/{process}/clear_refs").write_text("5")


def _below() -> Iterator[tuple[int, str, int]]:
    """The number, the command and the peak of each process below this one."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(") ")[2].split()[1])
    mine = {os.getpid()}
    while found := {child for child, parent in parents.items() if parent in mine and child not in mine}:
        mine |= found
        for child in found:
            with contextlib.suppress(OSError, IndexError):
                peak = int(Path(f"/proc/{child}/status").read_text().split("VmHWM:")[1].split()[0]) << 10
                yield child, Path(f"/proc/{child}/cmdline").read_text().replace("\0", " "), peak


def main(path: str, algorithm: str, sections: str, runs: str, out: str) -> None:
    """Print seconds, peak memory and lower bound as JSON; write the links' ends, in pick order."""
    options = Options.from_mapping(json.loads(sections))
    seconds, links = timed(find(algorithm), load(Path(path)), options, int(runs))
    np.save(out, np.column_stack([links.src, links.dst]), allow_pickle=False)
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes(), "bound": links.lower_bound}))


if __name__ == "__main__":
    main(*sys.argv[1:])
