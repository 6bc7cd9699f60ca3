"""Time one algorithm on stored arrays in a process of its own: ``python -m overlay_spark.jobs.kernel_run ...``.

Its peak memory is then that of this run alone. Compiling, or loading compiled kernels, is done before the clock starts.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from overlay_spark.algorithms.registry import find
from overlay_spark.costs import Costs
from overlay_spark.instance import Instance
from overlay_spark.options import Options

FIELDS = Costs._fields


def store(instance: Instance, path: str) -> None:
    """An instance as an ``.npz`` file of plain arrays."""
    arrays: dict[str, Any] = {f"costs_{name}": value for name, value in instance.costs._asdict().items()}
    np.savez(path, n_topics=instance.n_topics, offsets=instance.offsets, topics=instance.topics, **arrays)


def load(path: str) -> Instance:
    with np.load(path, allow_pickle=False) as stored:
        costs = {name: stored[f"costs_{name}"] for name in FIELDS}
        costs["kind"], costs["unit"] = int(costs["kind"]), float(costs["unit"])
        return Instance(int(stored["n_topics"]), stored["offsets"], stored["topics"], Costs(**costs))


def part_of(instance: Instance, n_nodes: int) -> Instance:
    """The first nodes of an instance, with arrays of the same types: what compiles the same code."""
    end = instance.offsets[n_nodes]
    return Instance(instance.n_topics, instance.offsets[: n_nodes + 1].copy(), instance.topics[:end], instance.costs)


def peak_bytes() -> int:
    """The most memory this process has held. What the system tells otherwise starts at the parent's peak."""
    try:
        told = Path("/proc/self/status").read_text()
        return int(told.split("VmHWM:")[1].split()[0]) << 10
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(path: str, algorithm: str, sections: str, times: str, out: str) -> None:
    """Print seconds and peak memory as JSON; write the links' ends, in pick order."""
    instance, run, options = load(path), find(algorithm), Options.from_mapping(json.loads(sections))
    run(part_of(instance, min(instance.n_nodes, 20)), options)
    seconds = []
    for _ in range(int(times)):
        started = time.perf_counter()
        links = run(instance, options)
        seconds.append(time.perf_counter() - started)
    np.save(out, np.column_stack([links.src, links.dst]), allow_pickle=False)
    print(
        json.dumps(
            {"seconds": seconds, "peak_bytes": peak_bytes(), "cost": links.total_cost, "bound": links.lower_bound}
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
