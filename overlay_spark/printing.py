"""What the command line prints, for people: short tables and what to try next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from overlay_spark.options import Options

if TYPE_CHECKING:
    from overlay_spark.algorithms.registry import Algorithm
    from overlay_spark.jobs.benchmark import Comparison
    from overlay_spark.jobs.demo import DemoResult
    from overlay_spark.jobs.inputs import Inputs
    from overlay_spark.jobs.profile import Profile
    from overlay_spark.jobs.workload import Workload
    from overlay_spark.results import Estimate, Overlay, Verification
    from overlay_spark.tables.references import Destination


def print_overlay(overlay: Overlay) -> None:
    m = overlay.metrics
    _print_rows(
        [
            ("links", f"{m['links']:,}", f"for {m['nodes']:,} nodes and {m['topics']:,} topics"),
            ("cost", f"{m['cost']:,.6g}", f"{overlay.algorithm}, {overlay.engine} engine"),
            *_trees_rows(overlay),
            *_bound_rows(overlay),
            ("links a node", f"{m['average_degree']:.2f}", f"at most {m['max_degree']:,}"),
            ("hops across a topic", *_diameter(m)),
            ("verified", "yes", f"every topic connected, by {overlay.facts['components']} components"),
        ]
    )


def _trees_rows(overlay: Overlay) -> list[tuple[str, str, str]]:
    apart = overlay.facts.get("sum_of_trees")
    return [] if apart is None else [("sum of trees", f"{apart:,.6g}", "if each topic paid for its own tree")]


def _bound_rows(overlay: Overlay) -> list[tuple[str, str, str]]:
    if overlay.lower_bound is None or overlay.gap is None:
        return []
    return [
        ("no overlay costs less", f"{overlay.lower_bound:,.6g}", f"{overlay.bound}; cost is {overlay.gap:.0%} above")
    ]


def _diameter(m: Any) -> tuple[str, str]:
    if not m["topics_measured"]:
        return "not measured", "every topic has more nodes than metrics.diameter_max_nodes"
    return f"{m['average_diameter']:.2f}", f"at most {m['largest_diameter']:,}, over {m['topics_measured']:,} topics"


def print_estimate(found: Estimate, options: Options) -> None:
    limit = f"design.task_memory allows {options.design.task_memory}"
    _print_rows(
        [
            ("nodes", f"{found.nodes:,}", ""),
            ("topics", f"{found.topics:,}", ""),
            ("subscriptions", f"{found.subscriptions:,}", ""),
            ("candidate links", f"{found.candidates:,}", "counted" if found.is_exact else "at most"),
            ("memory of the solving task", f"{found.task_bytes / 2**30:.2f} GiB", f"about; {limit}"),
            ("time to solve", found.time_class, "on one core"),
            (f"{found.engine} engine", "fits" if found.fits else "does not fit", ""),
        ]
    )


def print_profiles(profiles: Sequence[Profile]) -> None:
    for profile in profiles:
        print(f"\n{profile.nodes:,} nodes, {profile.topics:,} topics: {profile.total:.1f} s")
        rows = [(step, f"{seconds:.2f} s", "") for step, seconds in profile.seconds.items()]
        times = f"all is {profile.total / profile.algorithm_seconds:.1f} times it"
        _print_rows([*rows, ("the algorithm itself", f"{profile.algorithm_seconds:.2f} s", times)])


def print_comparisons(found: Sequence[Comparison]) -> None:
    for comparison in found:
        print(f"\n{comparison.case.name}")
        first = comparison.ours[0].seconds
        _print_rows(
            [
                (
                    p.program,
                    f"{p.seconds:.2f} s",
                    f"peak {p.peak_bytes / 2**30:.2f} GiB; {p.seconds / first:.2f} x {comparison.ours[0].program}",
                )
                for p in comparison.programs
            ]
        )
        if comparison.ratio is not None:
            alike = "the same links" if not comparison.differing else f"{comparison.differing} links differ"
            print(f"  ratio {comparison.ratio:.2f} to the yardstick; {alike}")


def print_verdict(found: Verification) -> None:
    if found.ok:
        print(f"The overlay is right: every topic is connected, every link is allowed and of use ({found.components}).")
        return
    print("The overlay is refuted:")
    for fault in found.faults:
        print(f"- {fault}")


def print_demo(result: DemoResult, output: Destination) -> None:
    m, trees = result.overlay.metrics, result.overlay.facts["compared"]
    saved = 1 - m["cost"] / trees["cost"]
    print(f"\n{m['nodes']} brokers in 10 cities, {m['topics']} topics; costs are milliseconds of round trip.\n")
    _print_rows(
        [
            ("", "this overlay", "one spanning tree per topic"),
            ("links", f"{m['links']:,}", f"{trees['links']:,}"),
            ("cost of all links", f"{m['cost']:,.0f} ms", f"{trees['cost']:,.0f} ms"),
            ("links a broker, average", f"{m['average_degree']:.1f}", f"{trees['average_degree']:.1f}"),
            ("links a broker, most", f"{m['max_degree']}", f"{trees['max_degree']}"),
            ("hops across a topic, average", _figure(m["average_diameter"], ".1f"), ""),
            ("hops across a topic, most", _figure(m["largest_diameter"], "d"), ""),
            ("milliseconds across a topic", _figure(m["average_weighted_diameter"], ".0f"), ""),
        ]
    )
    verdict = "yes" if result.verification.ok else "NO: " + " ".join(result.verification.faults)
    print(f"\nCost saved: {saved:.0%}. Verified from the stored tables: {verdict}. Time: {result.seconds:.0f} s.")
    flags = _problem_flags(result.inputs)
    place, another = shlex.quote(str(output)), shlex.quote(f"{output}-fewest")
    print(f"Tables: {output} (overlay_links is the overlay; runs says what was done)\n\nTry next:")
    print(f"  overlay-spark verify {flags} --overlay {place}")
    print(f"  overlay-spark design {flags} --algorithm fewest_links --output {another}")


def _figure(value: float | None, form: str) -> str:
    return "not measured" if value is None else format(value, form)


def _print_rows(rows: Sequence[tuple[str, str, str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    for label, value, note in rows:
        print(f"  {label:{widths[0]}}  {value:>{widths[1]}}  {note}".rstrip())


def _problem_flags(inputs: Inputs) -> str:
    """The flags that name these inputs, ready for a shell."""
    places = {table.name: str(place) for table, place in inputs.by_table().items()}
    flags = [f"--{name.replace('_', '-')} {shlex.quote(place)}" for name, place in places.items()]
    return " ".join(flags if {"link_costs", "site_costs"} & places.keys() else [*flags, "--coordinates"])


def print_beside_the_paper(told: Sequence[tuple[str, str, str, float, float]]) -> None:
    rows = [(f"figure {f}, {law}: {what}", f"{ours:.3g}", f"{stated:g}") for f, law, what, ours, stated in told]
    _print_rows([("", "ours", "the paper's"), *rows])


def print_workload(workload: Workload, inputs: Inputs, output: Destination) -> None:
    print(f"{workload.options.nodes:,} nodes, {workload.options.topics:,} topics: written to {output}")
    designed = shlex.quote(f"{output}-overlay")
    print(f"Try next:\n  overlay-spark design {_problem_flags(inputs)} --output {designed}")


def print_algorithms(algorithms: Iterable[Algorithm]) -> None:
    for algorithm in algorithms:
        print(f"{algorithm.name}, in the papers {algorithm.paper_name}")
        for told in ("minimises", "guarantee", "options"):
            print(f"  {told:9}  {getattr(algorithm, told)}")
