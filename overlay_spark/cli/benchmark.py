"""``overlay-spark benchmark``: our speed on this machine, beside plain C++ programs or one another."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlay_spark.cli.parsing import (
    DONE,
    EXIT_CODES,
    add_command,
    add_points_flag,
    options_of,
    with_workload_flags,
)
from overlay_spark.cli.printing import counted, print_rows
from overlay_spark.cli.session import spark_session
from overlay_spark.engines import require_known
from overlay_spark.jobs.progress import Steps
from overlay_spark.lab.benchmark import BENCHMARKS, Benchmark, Case, Comparison, figures_of, run_benchmark
from overlay_spark.lab.events import Shuffled, event_log
from overlay_spark.lab.measure import degrees_of
from overlay_spark.lab.plan import GROWS, plan_workload
from overlay_spark.tables.references import Destination

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from overlay_spark.lab.figures import Figure
    from overlay_spark.lab.parts import InParts
    from overlay_spark.lab.profile import Profile
    from overlay_spark.lab.refreshing import Refreshing
    from overlay_spark.lab.rounds import InRounds
    from overlay_spark.options import Options

EXAMPLES = """\
examples:
  overlay-spark benchmark greedy --file coords.csv.gz   our greedy kernel beside a C++ program
  overlay-spark benchmark degrees                       overlays of low degrees beside that of fewest links
  overlay-spark benchmark design                        where the time of a whole design job goes
  overlay-spark benchmark rounds                        greedy as DataFrame operations, beside the kernel
  overlay-spark benchmark parts                         divide and conquer, beside the kernel
  overlay-spark benchmark refresh                       refreshes after churn, beside whole design jobs
  overlay-spark benchmark growth --large                design jobs of ten thousand to a million brokers
The C++ programs are in tests/yardsticks: run this in a clone of the source tree, with g++ installed.
"""


def add(commands: Any) -> None:
    summary = "measure our speed on this machine, beside plain C++ programs"
    parser = add_command(commands, "benchmark", run, summary, f"{EXAMPLES}\n{EXIT_CODES}")
    parser.add_argument(
        "what",
        choices=[*BENCHMARKS, "design", "growth", "rounds", "parts", "refresh"],
        help="a kernel, the steps of a design job, of one that grows, greedy in rounds, parts and joins, or refreshes",
    )
    add_points_flag(parser)
    parser.add_argument("--nodes", metavar="N", type=int, help="one workload with this many brokers instead of several")
    parser.add_argument("--topics", metavar="N", type=int, help="one workload with this many topics instead of several")
    parser.add_argument("--large", action="store_true", help="also cases that take minutes")
    parser.add_argument("--seed", metavar="N", type=int, help="another seed, another workload (default 0)")
    parser.add_argument("--output", metavar="WHERE", help="also add the figures to the table experiments there")


def run(given: argparse.Namespace) -> int:
    flags = {name: getattr(given, name) for name in ("file", "nodes", "topics", "seed")}
    if given.what == "growth":
        given.set = [*GROWS, *(given.set or ())]
    options = with_workload_flags(options_of(given), **flags)
    require_known(options)
    output = Destination.parse(given.output) if given.output else None
    one_size = given.nodes is not None or given.topics is not None
    if given.what in ("design", "growth"):
        sizes = ((options.workload.nodes, options.workload.topics),) if one_size else None
        return _design(options, sizes, given.what == "growth", given.large, output)
    made = options.workload
    one_case = (Case(made.nodes, made.topics, made.law),) if one_size else None
    if given.what == "rounds":
        return _rounds(options, one_case, given.large, output)
    if given.what == "refresh":
        return _refreshes(options, ((made.nodes, made.topics),) if one_size else None, given.large, output)
    if given.what == "parts":
        return _parts(options, one_case, given.large, output)
    benchmark = BENCHMARKS[given.what]
    if one_size:
        one = replace(benchmark.cases[0], nodes=made.nodes, topics=made.topics, law=made.law)
        benchmark = replace(benchmark, cases=(one,), large=())
    return _kernel(given.what, benchmark, options, given.large, output)


def _kernel(name: str, benchmark: Benchmark, options: Options, large: bool, output: Destination | None) -> int:
    points = plan_workload(options).points
    with Steps() as steps:
        found = run_benchmark(benchmark, points, options, steps, large)
    print_comparisons(found)
    if output is not None:
        with spark_session(options, steps) as spark:
            _add_figures(spark, figures_of(name, found, options.workload.seed), output, options)
    return DONE


def _add_figures(spark: SparkSession, figures: list[Figure], output: Destination | None, options: Options) -> None:
    """Add figures to the table experiments, where an output is given."""
    from overlay_spark.jobs.runs import Run
    from overlay_spark.lab.figures import record_figures

    if output is not None:
        record_figures(spark, figures, output, Run(job="benchmark", options=options, seed=options.workload.seed))


def _design(
    options: Options, sizes: Sequence[tuple[int, int]] | None, growing: bool, large: bool, output: Destination | None
) -> int:
    plan_workload(options)  # refuses before Spark starts
    with Steps() as steps, spark_session(options, steps) as spark:
        from overlay_spark.lab.profile import GROWING, GROWING_LARGE, SIZES, growth, profile_design

        sizes = sizes or ((GROWING_LARGE if large else GROWING) if growing else SIZES)
        profiles = profile_design(spark, options, output, steps, sizes)
    print_profiles(profiles)
    if growing and len({profile.nodes for profile in profiles}) > 1:
        print(f"\nThe whole job grows with the number of nodes to the power of {growth(profiles[1:]):.2f}.")
    return DONE


def _parts(options: Options, cases: Sequence[Case] | None, large: bool, output: Destination | None) -> int:
    points = plan_workload(options).points
    with Steps() as steps, spark_session(options, steps) as spark:
        from overlay_spark.lab.parts import CASES, LARGE, figures_of, measure_parts

        found = []
        for one in measure_parts(spark, cases or (LARGE if large else CASES), points, options, steps):
            found.append(one)
            print_parts(one)
        _add_figures(spark, figures_of(found, options.workload.seed), output, options)
    return DONE


def _refreshes(
    options: Options, sizes: Sequence[tuple[int, int]] | None, large: bool, output: Destination | None
) -> int:
    plan_workload(options)  # refuses before Spark starts
    with Steps() as steps, spark_session(options, steps) as spark:
        from overlay_spark.lab.refreshing import LARGE, SIZES, figures_of, measure_refreshes

        found = []
        for one in measure_refreshes(spark, options, sizes or (LARGE if large else SIZES), steps):
            found.append(one)
            print_refreshing(one)
        _add_figures(spark, figures_of(found, options.workload.seed), output, options)
    return DONE


def print_refreshing(one: Refreshing) -> None:
    m = one.metrics
    print(f"\n{counted(one.nodes, 'node')}, {counted(one.topics, 'topic')}, {one.share:.1%} of the nodes came or went")
    steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in one.steps.items())
    print_rows(
        [
            ("refresh", f"{one.seconds:.1f} s", f"{one.ratio:.2f} x the whole design's {one.design_seconds:.1f} s"),
            ("of which", f"{m.solve_seconds:.2f} s", f"the algorithm; {steps}"),
            ("links", f"+{m.added:,} -{m.removed:,}", f"of {m.links_before:,}"),
            ("cost of the links", f"{one.drift:+.1%}", "beside a new design's"),
        ]
    )


def print_parts(one: InParts) -> None:
    print(f"\n{one.case.name}: {counted(one.parts, 'part')}, links {', '.join(one.levels)}")
    print_rows(
        [
            ("solved in parts", f"{one.seconds:.1f} s", f"{one.ratio:.2f} x the kernel's {one.kernel_seconds:.1f} s"),
            ("links", f"{one.links:,}", f"{one.kernel_links:,} by the kernel"),
            ("cost of the links", f"{one.dearer:+.1%}", "beside the kernel's"),
            ("peak memory", f"{one.task_bytes / 2**30:.2f} GiB", "of any task in parts"),
        ]
    )


def _rounds(options: Options, cases: Sequence[Case] | None, large: bool, output: Destination | None) -> int:
    points = plan_workload(options).points
    with (
        tempfile.TemporaryDirectory(prefix="overlay-spark-") as folder,
        Steps() as steps,
        spark_session(options, steps, event_log(folder)) as spark,
    ):
        from overlay_spark.lab.rounds import CASES, LARGE, figures_of, measure_rounds

        logged = Path(folder) if any(Path(folder).iterdir()) else None  # a session that was running logs elsewhere
        found = []
        for one in measure_rounds(spark, cases or (LARGE if large else CASES), points, options, steps, logged):
            found.append(one)
            print_rounds(one)
        _add_figures(spark, figures_of(found, options.workload.seed), output, options)
    return DONE


def print_rounds(one: InRounds) -> None:
    """A line a round, and what all of them took."""
    shuffled = one.shuffled
    print(f"\n{one.case.name}: {counted(one.links, 'link')}, the same as the kernel's")
    print(f"  {'round':>5} {'candidates':>12} {'left':>12} {'links':>8} {'apart':>10} {'seconds':>8}  shuffled")
    for i, r in enumerate(one.rounds):
        moved = "" if shuffled is None else _moved(shuffled[i])
        print(f"  {r.number:>5} {r.band:>12,} {r.left:>12,} {r.links:>8,} {r.apart:>10,} {r.seconds:>8.1f}  {moved}")
    if shuffled is not None:
        print(f"  {'links in order':>60}  {_moved(shuffled[-1])}")
    n, kernel = len(one.rounds), f"{one.kernel_seconds:.1f} s by the kernel alone"
    rows = [
        ("rounds", str(n), "each with links"),
        ("candidates read", f"{one.read_per_candidate:.1f}", "times each"),
        ("seconds", f"{one.seconds:.1f}", f"{one.seconds / max(1, n):.1f} a round; {kernel}"),
        ("finished by the kernel", f"{one.finished_seconds:.1f}", "seconds"),
        ("peak memory", f"{one.peak_bytes / 2**30:.2f} GiB", "of this process, its Spark and its tasks, so far"),
    ]
    if shuffled is not None:
        total = Shuffled(sum(s.rows for s in shuffled), sum(s.n_bytes for s in shuffled))
        share = total.rows / max(1, one.topic_pairs)
        rows.append(("shuffled", _moved(total), f"{share:.2f} x the {one.topic_pairs:,} candidate-topic rows"))
    print_rows(rows)


def _moved(shuffled: Shuffled) -> str:
    return f"{shuffled.rows:,} rows, {shuffled.n_bytes / 2**20:.1f} MiB"


def print_comparisons(found: Sequence[Comparison]) -> None:
    for comparison in found:
        print(f"\n{comparison.case.name}")
        ours, rows = comparison.ours[0], []
        for p in comparison.programs:
            most, average = degrees_of(p.links, comparison.case.nodes)
            took = f"{p.seconds / ours.seconds:.2f} x {ours.program}; peak {p.peak_bytes / 2**30:.2f} GiB"
            rows.append((p.program, f"{p.seconds:.2f} s", f"{took}; degree {most:,} at most, {average:.2f} on average"))
        print_rows(rows)
        if comparison.ratio is not None:
            n = comparison.differing
            alike = f"{counted(n, 'link')} {'differs' if n == 1 else 'differ'}" if n else "the same links"
            print(f"  ratio {comparison.ratio:.2f} to the yardstick; {alike}")


def print_profiles(profiles: Sequence[Profile]) -> None:
    for profile in profiles:
        size = f"{counted(profile.nodes, 'node')}, {counted(profile.topics, 'topic')}"
        wants = f"{counted(profile.subscriptions, 'subscription')}, {counted(profile.links, 'link')}"
        print(f"\n{size}, {wants}, engine {profile.engine}: {profile.total:.1f} s")
        rows = [(step, f"{seconds:.2f} s", "") for step, seconds in profile.seconds.items()]
        share = f"the whole job takes {profile.total / profile.algorithm_seconds:.1f} times as long"
        rows.append(("the algorithm alone", f"{profile.algorithm_seconds:.2f} s", share))
        tasks = f"of all processes so far; {profile.task_bytes / 2**30:.2f} GiB of any task"
        print_rows([*rows, ("peak memory", f"{profile.peak_bytes / 2**30:.2f} GiB", tasks)])
