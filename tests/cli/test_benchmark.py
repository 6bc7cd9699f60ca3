import re

import numpy as np
import pytest

from overlay_spark.algorithms.registry import find
from overlay_spark.cli import DONE, USAGE, main
from overlay_spark.cli.benchmark import print_comparisons, print_parts, print_profiles, print_rounds
from overlay_spark.costs import matrix_costs
from overlay_spark.engines.frames import Round
from overlay_spark.instance import Instance
from overlay_spark.lab import profile
from overlay_spark.lab.benchmark import Case, Comparison
from overlay_spark.lab.events import Shuffled
from overlay_spark.lab.measure import Measured, degrees_of
from overlay_spark.lab.parts import InParts
from overlay_spark.lab.profile import PEAKS, Profile
from overlay_spark.lab.rounds import InRounds
from overlay_spark.options import Options
from overlay_spark.tables.references import Destination
from overlay_spark.workloads.interests import Interests, subscriptions
from tests import plain_delta

ONE_SIZE = ["--nodes", "40", "--topics", "110"]


def measured(program, seconds):
    return Measured(program, seconds, 3 << 29, np.array([[0, 1], [1, 2], [0, 3]], np.int32), None)


@pytest.mark.parametrize("differing, alike", [(0, "the same links"), (1, "1 link differs"), (2, "2 links differ")])
def test_print_comparisons__tells_times_and_what_differs(differing, alike, capsys):
    found = Comparison(Case(4, 200), (measured("greedy", 3.0),), measured("grmaw.cpp", 2.0), differing)
    print_comparisons([found])
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "",
        "V=4 T=200 unif",
        "greedy 3.00 s 1.00 x greedy; peak 1.50 GiB; degree 2 at most, 1.50 on average",
        "grmaw.cpp 2.00 s 0.67 x greedy; peak 1.50 GiB; degree 2 at most, 1.50 on average",
        f"ratio 1.50 to the yardstick; {alike}",
    ]


def test_print_comparisons__without_a_yardstick_has_no_ratio(capsys):
    print_comparisons([Comparison(Case(60, 110), (measured("greedy", 3.0),), None, 0)])
    assert "ratio" not in capsys.readouterr().out


def test_print_profiles__adds_the_steps_up(capsys):
    seconds = {"read": 1.0, "solve": 3.0}
    print_profiles([Profile(1000, 1, 9000, "one", 700, seconds, 2.0, 3 << 29, 1 << 29)])
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "",
        "1,000 nodes, 1 topic, 9,000 subscriptions, 700 links, engine one: 4.0 s",
        "read 1.00 s",
        "solve 3.00 s",
        "the algorithm alone 2.00 s the whole job takes 2.0 times as long",
        "peak memory 1.50 GiB of all processes so far; 0.50 GiB of any task",
    ]


def test_print_parts__sets_time_and_cost_beside_the_kernels(capsys):
    levels = ("inner", "level-1", "driver")
    print_parts(InParts(Case(60, 110), 9, levels, 1.0, 4.0, 110, 100, 70, 60, 1 << 29))
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "",
        "V=60 T=110 unif: 9 parts, links inner, level-1, driver",
        "solved in parts 1.0 s 0.25 x the kernel's 4.0 s",
        "links 70 60 by the kernel",
        "cost of the links +10.0% beside the kernel's",
        "peak memory 0.50 GiB of any task in parts",
    ]


@pytest.mark.parametrize(
    "flags, message",
    [
        (["greedy", "--topics", "50"], "sizes must be 0 <= least <= most <= topics, got 20, 100, 50"),
        (["greedy", "--nodes", "0"], "workload.nodes must be at least 1"),
        (["design", "--topics", "50"], "sizes must be 0 <= least <= most <= topics, got 20, 100, 50"),
        (["design", "--set", "design.algorithm=gredy"], "Did you mean 'greedy'?"),
    ],
)
def test_benchmark__that_cannot_be_is_refused_before_it_starts(flags, message, capsys):
    assert main(["benchmark", *flags]) == USAGE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [["benchmark", "greedy"], ["experiment", "000"]])
def test_benchmark__refuses_a_file_without_coordinates(tmp_path, capsys, command):
    (tmp_path / "regions.csv").write_text("r,a,b\na,0,7\nb,7,0\n")
    assert main([*command, "--file", str(tmp_path / "regions.csv")]) == USAGE
    assert "has costs between sites, and this needs coordinates" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.spark
def test_benchmark__adds_its_figures_to_a_table(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")  # no compiler, no yardstick
    assert main(["benchmark", "greedy", *ONE_SIZE, "--seed", "3", "--output", str(tmp_path)]) == DONE
    assert "V=40 T=110 unif" in capsys.readouterr().out
    rows = plain_delta.read(Destination.parse(str(tmp_path)).table("experiments"))
    assert {(row["figure"], row["series"], row["x"], row["seed"], row["metric"]) for row in rows} == {
        ("greedy T=110 unif", "greedy", 40.0, 3, metric)
        for metric in ("seconds", "peak_bytes", "greatest_degree", "average_degree")
    }


def test_benchmark_degrees__of_one_size_sets_algorithms_beside_that_of_fewest_links(capsys):
    assert main(["benchmark", "degrees", *ONE_SIZE, "--seed", "3", "--set", "workload.law=expo"]) == DONE
    told = capsys.readouterr().out
    assert "V=40 T=110 expo" in told
    expected = subscriptions(Interests(topics=110, sizes="power", least=10, most=90, law="expo"), np.arange(40), 3)
    instance = Instance.from_pairs(40, 110, *expected, matrix_costs(np.ones((40, 40))))
    for name in ("fewest_links", "low_degree", "min_max_degree"):
        most, average = degrees_of(np.array(find(name)(instance, Options()).pairs()), 40)
        line = next(line for line in told.splitlines() if line.split()[:1] == [name])
        assert "x fewest_links" in line
        assert f"degree {most} at most, {average:.2f} on average" in line


@pytest.mark.slow
@pytest.mark.spark
def test_benchmark_design__tells_every_step(spark, tmp_path, capsys):
    assert main(["benchmark", "design", *ONE_SIZE, "--output", str(tmp_path)]) == DONE
    told = capsys.readouterr().out
    rows = plain_delta.read(Destination.parse(str(tmp_path)).table("experiments"))
    steps = [line.split("  ")[1] for line in told.splitlines() if line.startswith("  ")]
    assert "40 nodes, 110 topics" in told
    assert {"solve", "verify", "write"} <= set(steps)
    assert {row["metric"] for row in rows} == {
        *(f"seconds, {step}" for step in (*steps[:-2], "algorithm")),
        *PEAKS,
    }


@pytest.mark.slow
@pytest.mark.spark
def test_benchmark_growth__tells_by_what_power_the_job_grows(spark, monkeypatch, capsys):
    monkeypatch.setattr(profile, "GROWING", ((60, 40), (60, 40), (120, 40)))
    small = ("--set", "divide.part_nodes=30", "--set", "divide.least_nodes=5")
    assert main(["benchmark", "growth", *small]) == DONE
    told = capsys.readouterr().out
    assert told.count("engine divide") == 3
    assert re.search(r"grows with the number of nodes to the power of -?\d\.\d\d\.", told)


@pytest.mark.slow
@pytest.mark.spark
def test_benchmark_parts__tells_what_parts_take_and_cost(spark, tmp_path, capsys):
    small = ("--set", "divide.part_nodes=30", "--set", "divide.least_nodes=5")
    assert main(["benchmark", "parts", "--nodes", "90", "--topics", "110", *small, "--output", str(tmp_path)]) == DONE
    told = " ".join(capsys.readouterr().out.split())
    assert "V=90 T=110 unif:" in told
    rows = plain_delta.read(Destination.parse(str(tmp_path)).table("experiments"))
    figures = {(row["series"], row["metric"]): row["value"] for row in rows}
    assert f"links {figures['divide', 'links']:,.0f} {figures['kernel', 'links']:,.0f} by the kernel" in told
    assert figures["divide", "cost"] > figures["kernel", "cost"] > 0
    assert figures["divide", "peak_bytes"] > 50 << 20


@pytest.mark.slow
@pytest.mark.spark
def test_benchmark_rounds__prints_every_pass_and_what_all_took(spark, tmp_path, capsys):
    all_at_once = ("--set", "frames.band_share=1.0")
    assert (
        main(["benchmark", "rounds", "--nodes", "16", "--topics", "110", *all_at_once, "--output", str(tmp_path)])
        == DONE
    )
    told = capsys.readouterr().out
    rows = plain_delta.read(Destination.parse(str(tmp_path)).table("experiments"))
    figures = {(row["series"], row["metric"]): row["value"] for row in rows}
    assert f"rounds {figures['frames', 'rounds']:.0f} each with links" in " ".join(told.split())
    assert "the same as the kernel's" in told
    printed = [line for line in told.splitlines() if line[:7].strip().isdigit()]
    assert len(printed) == figures["frames", "rounds"] > 0


def test_print_rounds__tells_what_was_shuffled_of_the_candidate_topic_rows(capsys):
    one = Round(number=1, threshold=2.0, read=90, band=30, left=80, links=4, apart=0, seconds=1.5)
    shuffled = (Shuffled(2000, 2 << 20), Shuffled(500, 1 << 20))
    print_rounds(InRounds(Case(60, 110), 1000, (one,), 3.0, 1.5, 0.5, 4, 3 << 29, shuffled))
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "",
        "V=60 T=110 unif: 4 links, the same as the kernel's",
        "round candidates left links apart seconds shuffled",
        "1 30 80 4 0 1.5 2,000 rows, 2.0 MiB",
        "links in order 500 rows, 1.0 MiB",
        "rounds 1 each with links",
        "candidates read 1.0 times each",
        "seconds 3.0 3.0 a round; 0.5 s by the kernel alone",
        "finished by the kernel 1.5 seconds",
        "peak memory 1.50 GiB of this process, its Spark and its tasks, so far",
        "shuffled 2,500 rows, 3.0 MiB 2.50 x the 1,000 candidate-topic rows",
    ]
