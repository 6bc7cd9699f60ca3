"""Speed shown: our kernels beside plain C++ programs or one another, on the same arrays in the same run."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from overlay_spark.costs import cost_row
from overlay_spark.errors import SetupError
from overlay_spark.instance import Instance
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.measure import Measured, MeasureError, degrees_of, make_instance, run_program, store, timed_apart
from overlay_spark.lab.shapes import SHAPES, shape
from overlay_spark.options import Options
from overlay_spark.workloads.interests import Interests
from overlay_spark.workloads.latencies import MeasuredPoints

if TYPE_CHECKING:
    from overlay_spark.lab.figures import Figure

YARDSTICKS = Path("tests", "yardsticks")
RUNS = 3
MOST_DENSE = 20_000
SIZES = {"uniform": (20, 100), "power": (10, 90)}
"""The sizes of interests in papers 000 and 003."""


@dataclass(frozen=True)
class Case:
    """One instance of a benchmark: its size and the popularity of its topics, or the name of its shape."""

    nodes: int
    topics: int
    law: str = "unif"
    sizes: str = "uniform"
    """How sizes of interests are drawn: ``uniform`` from 20 to 100 topics, or by a ``power`` from 10 to 90."""

    @property
    def name(self) -> str:
        return f"V={self.nodes:,} T={self.topics:,} {self.law}"

    @property
    def interests(self) -> Interests:
        least, most = SIZES[self.sizes]
        return Interests(topics=self.topics, sizes=self.sizes, least=least, most=most, law=self.law)

    @property
    def has_yardstick(self) -> bool:
        """Whether the C++ programs can hold it: they keep whole matrices of interests and costs."""
        return self.law not in SHAPES and self.nodes <= MOST_DENSE

    def make(self, points: MeasuredPoints | None, seed: int) -> Instance:
        """The instance."""
        if self.law in SHAPES:
            return shape(self.law, seed=seed)
        return make_instance(self.nodes, self.interests, points, seed)


@dataclass(frozen=True)
class Benchmark:
    """Algorithms of ours on some cases, beside the first of them; and that beside a yardstick, where there is one."""

    algorithms: tuple[str, ...]
    yardstick: str | None
    cases: tuple[Case, ...]
    same_links: bool = False
    """Whether the yardstick must find the same links; else its dual value must agree."""
    large: tuple[Case, ...] = ()
    """Cases that take minutes, run on request."""


BENCHMARKS = {
    "greedy": Benchmark(
        ("greedy",),
        "grmaw",
        (Case(2000, 200), Case(10_000, 1000), Case(20_000, 100_000, "tiny_topics"), Case(5000, 20_000, "hub_node")),
        same_links=True,
        large=(Case(94_000, 30_000, "long_tail"), Case(100_000, 1000)),
    ),
    "primal_dual": Benchmark(
        ("primal_dual", "greedy", "primal_dual_reverse_delete"),
        "pdmaw",
        tuple(Case(nodes, 200, law) for nodes in (1000, 1740) for law in ("unif", "zipf")),
    ),
    "degrees": Benchmark(
        ("fewest_links", "low_degree", "min_max_degree"),
        None,
        tuple(Case(2000, 200, law, "power") for law in ("unif", "zipf", "expo")),
    ),
}


@dataclass(frozen=True)
class Comparison:
    """All programs of a benchmark on one case; ``yardstick`` is None where it could not be had."""

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


def run_benchmark(
    benchmark: Benchmark, points: MeasuredPoints | None, options: Options, steps: Steps, large: bool = False
) -> list[Comparison]:
    """Run every case, the large ones on request; the programs run one after the other, each with one thread."""
    cases = (*benchmark.cases, *benchmark.large) if large else benchmark.cases
    with tempfile.TemporaryDirectory(prefix="overlay-spark-") as folder:
        yardstick = None
        if benchmark.yardstick is not None:
            yardstick = compile_yardstick(benchmark.yardstick, Path(folder), steps)
        return [_compare(benchmark, case, points, options, yardstick, Path(folder), steps) for case in cases]


def find_source(name: str) -> Path | None:
    """A yardstick's source: in the clone this is run from, else beside a package that is run from its sources."""
    beside = Path(__file__).parents[2] / YARDSTICKS
    sources = [folder / f"{name}.cpp" for folder in (YARDSTICKS, beside)]
    return next((source for source in sources if source.is_file()), None)


def compile_yardstick(name: str, folder: Path, steps: Steps) -> Path | None:
    """The yardstick as a program; None, and a word on it, where there is no compiler or no source."""
    source, compiler = find_source(name), shutil.which("g++")
    if source is None or compiler is None:
        why = f"{YARDSTICKS / name}.cpp is in the source tree only; run this in a clone of it"
        steps.say(f"No yardstick: {why if source is None else 'g++ is not installed'}. Only our own times are shown.")
        return None
    program = folder / name
    steps.say(f"Compiling {source.name}")
    command = [compiler, "-O3", "-march=native", str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"g++ could not compile {source}: {done.stderr.strip()[-500:]}")
    return program


def _compare(
    benchmark: Benchmark,
    case: Case,
    points: MeasuredPoints | None,
    options: Options,
    yardstick: Path | None,
    folder: Path,
    steps: Steps,
) -> Comparison:
    steps(f"{case.name}: make instance")
    instance = case.make(points, options.workload.seed)
    stored = folder / "instance.npz"
    store(instance, stored)
    ours = []
    for algorithm in benchmark.algorithms:
        steps(f"{case.name}: {algorithm}")
        ours.append(timed_apart(stored, algorithm, options, 1 if case in benchmark.large else RUNS))
    theirs = None
    differing = 0
    if yardstick is not None and case.has_yardstick:
        steps(f"{case.name}: {yardstick.name}.cpp")
        theirs = _run_yardstick(instance, yardstick, folder)
        differing = _differing(ours[0].links, theirs.links)
        _require_agreement(benchmark, case, ours[0], theirs)
    steps.done()
    return Comparison(case, tuple(ours), theirs, differing)


def _run_yardstick(instance: Instance, program: Path, folder: Path) -> Measured:
    given, out = folder / "instance.bin", folder / "links.bin"
    _write_dense(instance, given)
    # A shell between: the peak that a program tells of itself starts at that of the process it comes from.
    command = ["sh", "-c", '"$@"; exit $?', "sh", str(program), str(given), str(out)]
    told = [run_program(command) for _ in range(RUNS)]
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
                raise MeasureError("The yardstick takes costs below 2^31 units only.")
            row.astype(np.int32).tofile(file)


def _figure(told: str, name: str) -> float:
    found = re.search(rf"\b{name} (\S+)", told)
    if found is None:
        raise MeasureError(f"The yardstick does not tell its {name}: {told.strip()[:200]}")
    return float(found[1])


def _differing(ours: NDArray[np.int32], theirs: NDArray[np.int32]) -> int:
    return len({tuple(link) for link in ours.tolist()} ^ {tuple(link) for link in theirs.tolist()})


def _require_agreement(benchmark: Benchmark, case: Case, ours: Measured, theirs: Measured) -> None:
    if benchmark.same_links:
        if not np.array_equal(ours.links, theirs.links):
            raise MeasureError(f"{case.name}: {ours.program} and {theirs.program} pick different links.")
    elif ours.bound is None or theirs.bound is None or abs(ours.bound / theirs.bound - 1) > 1e-6:
        raise MeasureError(f"{case.name}: dual values differ: {ours.bound} and {theirs.bound}.")


def figures_of(name: str, found: Sequence[Comparison], seed: int) -> list[Figure]:
    """Rows for the table ``experiments``."""
    figures: list[Figure] = []
    for one in found:
        where = ("benchmark", f"{name} T={one.case.topics} {one.case.law}")
        for p in one.programs:
            most, average = degrees_of(p.links, one.case.nodes)
            told = {
                "seconds": p.seconds,
                "peak_bytes": p.peak_bytes,
                "greatest_degree": most,
                "average_degree": average,
            }
            for metric, value in told.items():
                figures.append((*where, p.program, float(one.case.nodes), seed, metric, float(value), None))
    return figures
