import sys

import pytest

from overlay_spark.cli import DONE, FAILED, USAGE, main
from overlay_spark.cli.experiment import print_beside_the_paper
from overlay_spark.tables.references import Destination
from tests import plain_delta


def test_print_beside_the_paper__has_a_row_for_each_figure_stated(capsys):
    print_beside_the_paper(
        [("4", "unif", "w_Gr at 1000", 17.9321, "18.76"), ("5", "unif", "most a/b", 1.91, "at most 1.8")]
    )
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "ours the paper's",
        "figure 4, unif: w_Gr at 1000 17.9 18.76",
        "figure 5, unif: most a/b 1.91 at most 1.8",
    ]


def test_experiment__without_matplotlib_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["experiment", "000", "--plots", "plots"]) == FAILED
    assert "pip install 'overlay-spark[report]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flags, message",
    [
        (["000", "--seeds", "0"], "--seeds must be at least 1, got 0"),
        (["001", "--figure", "6"], "Paper 001 has no figure '6' here. Known: 1, 2, 3, 4, 5."),
        (["000", "--figure", "3"], "Paper 000 has no figure '3' here. Known: 4, 5, 6, 7, 8, 9."),
        (["999"], "invalid choice: '999'"),
    ],
)
def test_experiment__nobody_knows_is_refused_before_spark_starts(flags, message, capsys):
    assert main(["experiment", *flags]) == USAGE
    assert message in capsys.readouterr().err


@pytest.mark.spark
def test_experiment__prints_writes_and_draws(spark, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out, plots = tmp_path / "out", tmp_path / "plots"
    command = ["experiment", "000", "--quick", "--figure", "8", "--output", str(out), "--plots", str(plots)]
    assert main(command) == DONE
    told = capsys.readouterr().out
    assert "figure 8, unif: mean w_Gr/w_GM" in told
    assert f"Drawn: {plots}/000-figure-8.png" in told
    assert [path.name for path in plots.iterdir()] == ["000-figure-8.png"]
    rows = plain_delta.read(Destination.parse(str(out)).table("experiments"))
    measured = {(row["figure"], row["series"], row["x"], row["seed"]) for row in rows if row["x"] is not None}
    assert measured == {("8", "unif", 100.0, 0), ("8", "unif", 1000.0, 0)}
    stated = {row["metric"]: row["paper_value"] for row in rows if row["paper_value"] is not None}
    assert stated["mean w_Gr/w_GM"] == 0.4


@pytest.mark.spark
def test_experiment__compares_bounds_as_bounds(spark, tmp_path, capsys):
    command = ["experiment", "001", "--quick", "--figure", "3", "--figure", "5", "--output", str(tmp_path)]
    assert main(command) == DONE
    told = " ".join(capsys.readouterr().out.split())
    rows = plain_delta.read(Destination.parse(str(tmp_path)).table("experiments"))
    found = {(row["figure"], row["metric"]): (row["value"], row["paper_value"]) for row in rows if row["x"] is None}
    ours, stated = found["5", "most d_CD/d_GM"]
    assert stated == 2.3
    assert f"figure 5, unif: most d_CD/d_GM {ours:.3g} at most 2.3" in told
    assert "figure 3, zipf: most step of D_Low" in told
    assert {row["figure"] for row in rows} == {"3", "5"}
