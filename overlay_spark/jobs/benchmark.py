"""Speed shown: our kernels beside plain C++ programs, on the same arrays in the same run."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from overlay_spark.costs import cost_row, point_costs
from overlay_spark.errors import OverlayError, SetupError
from overlay_spark.instance import Instance
from overlay_spark.jobs.figures import Figure
from overlay_spark.jobs.kernel_run import store
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests, subscriptions
from overlay_spark.workloads.latencies import MeasuredPoints, random_points

YARDSTICKS = Path(__file__).parents[2] / "tests" / "yardsticks"
UNIT = 1e-3
SIDE = 200.0
"""Points in a square of this side where no measured coordinates are given."""
RUNS = 3

Say = Callable[[str], None]


@dataclass(frozen=True)
class Case:
    """One instance of a benchmark: its size and the popularity of its topics."""

    nodes: int
    topics: int
    law: str = "unif"

    @property
    def name(self) -> str:
        return f"V={self.nodes:,} T={self.topics:,} {self.law}"


@dataclass(frozen=True)
class Benchmark:
    """Algorithms of ours on some cases, the first of them beside a yardstick."""

    algorithms: tuple[str, ...]
    yardstick: str
    cases: tuple[Case, ...]
    same_links: bool
    """Whether the yardstick must find the same links; else its dual value must agree."""


BENCHMARKS = {
    "greedy": Benchmark(("greedy",), "grmaw", (Case(2000, 200), Case(10_000, 1000)), same_links=True),
    "primal_dual": Benchmark(
        ("primal_dual", "greedy", "primal_dual_reverse_delete"),
        "pdmaw",
        tuple(Case(nodes, 200, law) for nodes in (1000, 1740) for law in ("unif", "zipf")),
        same_links=False,
    ),
}


@dataclass(frozen=True)
class Measured:
    """One program on one case: seconds (median), peak memory, and what it found."""

    program: str
    seconds: float
    peak_bytes: int
    links: np.ndarray
    bound: float | None


@dataclass(frozen=True)
class Comparison:
    """All programs of a benchmark on one case; ``yardstick`` is None where there is no C++ compiler."""

    case: Case
    ours: tuple[Measured, ...]
    yardstick: Measured | None
    differing: int
    """How many links are in only one of the two overlays."""

    @property
    def programs(self) -> tuple[Measured, ...]:
        return self.ours if self.yardstick is None else (*self.ours, self.yardstick)

    @property
    def ratio(self) -> float | None:
        return None if self.yardstick is None else self.ours[0].seconds / self.yardstick.seconds


class BenchmarkError(OverlayError):
    """Raised when a benchmark's two programs disagree: then their times say nothing."""


def run_benchmark(
    benchmark: Benchmark, measured: MeasuredPoints | None, options: Options, say: Say
) -> list[Comparison]:
    """Run every case; the programs run one after the other, each with one thread."""
    with tempfile.TemporaryDirectory(prefix="overlay-spark-") as folder:
        yardstick = compile_yardstick(benchmark.yardstick, Path(folder), say)
        return [_compare(benchmark, case, measured, options, yardstick, Path(folder), say) for case in benchmark.cases]


def compile_yardstick(name: str, folder: Path, say: Say) -> Path | None:
    """The yardstick as a program; None, and a word on it, where there is no compiler or no source."""
    source = YARDSTICKS / f"{name}.cpp"
    compiler = shutil.which("g++")
    if compiler is None or not source.is_file():
        what = "g++ is not installed" if compiler is None else f"{source.name} is in the source tree only"
        say(f"No yardstick: {what}. Only our own times are shown.")
        return None
    program = folder / name
    say(f"compile {source.name}")
    command = [compiler, "-O3", "-march=native", str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"g++ could not compile {source}: {done.stderr.strip()[-500:]}")
    return program


def make_instance(case: Case, measured: MeasuredPoints | None, seed: int) -> Instance:
    """The arrays of a case; sizes of interests 20 to 100."""
    nodes = np.arange(case.nodes)
    who, what = subscriptions(Interests(topics=case.topics, least=20, most=100, law=case.law), nodes, seed)
    if measured is None:
        points, heights = random_points(nodes, 2, SIDE, seed), np.zeros(case.nodes)
    else:
        points, heights = measured.place(nodes, seed)
    return Instance.from_pairs(case.nodes, case.topics, who, what, point_costs(points, heights, UNIT))


def _compare(
    benchmark: Benchmark,
    case: Case,
    measured: MeasuredPoints | None,
    options: Options,
    yardstick: Path | None,
    folder: Path,
    say: Say,
) -> Comparison:
    say(f"{case.name}: make instance")
    instance = make_instance(case, measured, options.design.seed)
    stored = folder / "instance.npz"
    store(instance, str(stored))
    ours = []
    for algorithm in benchmark.algorithms:
        say(f"{case.name}: {algorithm}")
        ours.append(_run_ours(stored, algorithm, options, folder))
    theirs = None
    differing = 0
    if yardstick is not None:
        say(f"{case.name}: {yardstick.name}.cpp")
        theirs = _run_yardstick(instance, yardstick, folder)
        differing = _differing(ours[0].links, theirs.links)
        _require_agreement(benchmark, case, ours[0], theirs)
    return Comparison(case, tuple(ours), theirs, differing)


def _run_ours(stored: Path, algorithm: str, options: Options, folder: Path) -> Measured:
    out = folder / "links.npy"
    arguments = [str(stored), algorithm, json.dumps(options.to_mapping()), str(RUNS), str(out)]
    told = json.loads(_run([sys.executable, "-m", "overlay_spark.jobs.kernel_run", *arguments]))
    links = np.load(out, allow_pickle=False)
    return Measured(algorithm, statistics.median(told["seconds"]), told["peak_bytes"], links, told["bound"])


def _run_yardstick(instance: Instance, program: Path, folder: Path) -> Measured:
    given, out = folder / "instance.bin", folder / "links.bin"
    _write_dense(instance, given)
    # A shell between: the peak that a program tells of itself starts at that of the process it comes from.
    command = ["sh", "-c", '"$@"; exit $?', "sh", str(program), str(given), str(out)]
    told = [_run(command) for _ in range(RUNS)]
    given.unlink()
    links = np.fromfile(out, np.int32).reshape(-1, 2)
    peaks = [int(_figure(text, "peak_mb")) << 20 for text in told]
    seconds = statistics.median(_figure(text, "total") for text in told)
    bound = _figure(told[0], "dual") if " dual " in told[0] else None
    return Measured(f"{program.name}.cpp", seconds, max(peaks), links, bound)


def _write_dense(instance: Instance, path: Path) -> None:
    """The form the yardsticks read: interests as bytes, then costs as a full matrix of 32-bit numbers."""
    n = instance.n_nodes
    wants = np.zeros((n, instance.n_topics), np.uint8)
    wants[instance.nodes, instance.topics] = 1
    with path.open("wb") as file:
        np.array([n, instance.n_topics], np.int32).tofile(file)
        wants.tofile(file)
        for u in range(n):
            row = cost_row(instance.costs, u)
            if row.max() >= 2**31:
                raise BenchmarkError("The yardstick takes costs below 2^31 units only.")
            row.astype(np.int32).tofile(file)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BenchmarkError(f"{Path(command[0]).name} stopped with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _figure(told: str, name: str) -> float:
    found = re.search(rf"\b{name} (\S+)", told)
    if found is None:
        raise BenchmarkError(f"The yardstick does not tell its {name}: {told.strip()[:200]}")
    return float(found[1])


def _differing(ours: np.ndarray, theirs: np.ndarray) -> int:
    return len({tuple(link) for link in ours.tolist()} ^ {tuple(link) for link in theirs.tolist()})


def _require_agreement(benchmark: Benchmark, case: Case, ours: Measured, theirs: Measured) -> None:
    if benchmark.same_links:
        if not np.array_equal(ours.links, theirs.links):
            raise BenchmarkError(f"{case.name}: {ours.program} and {theirs.program} pick different links.")
    elif ours.bound is None or theirs.bound is None or abs(ours.bound / theirs.bound - 1) > 1e-6:
        raise BenchmarkError(f"{case.name}: dual values differ: {ours.bound} and {theirs.bound}.")


def figures_of(name: str, found: Sequence[Comparison], seed: int) -> list[Figure]:
    """Rows for the table ``experiments``."""
    figures: list[Figure] = []
    for one in found:
        where = ("benchmark", f"{name} T={one.case.topics} {one.case.law}")
        for p in one.programs:
            for metric, value in (("seconds", p.seconds), ("peak_bytes", float(p.peak_bytes))):
                figures.append((*where, p.program, float(one.case.nodes), seed, metric, value, None))
    return figures
