from types import SimpleNamespace

import pytest

from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.cli.verify import print_verdict
from tests.cli.tables import csv_problem


def test_print_verdict__names_every_fault(capsys):
    print_verdict(SimpleNamespace(stale=(), ok=False, faults=("One link costs less.", "Topic 'x' is in 2 pieces.")))
    assert capsys.readouterr().out.splitlines() == [
        "The overlay is refuted:",
        "- One link costs less.",
        "- Topic 'x' is in 2 pieces.",
    ]
    print_verdict(SimpleNamespace(stale=(), ok=True, faults=(), method="graphframes"))
    assert "of use (components: graphframes)." in capsys.readouterr().out


@pytest.mark.spark
def test_verify__proves_and_refutes(spark, tmp_path, capsys):
    given, out = csv_problem(tmp_path), str(tmp_path / "out")
    assert main(["design", *given, "--output", out]) == DONE
    assert main(["verify", *given, "--overlay", out]) == DONE
    assert "The overlay is right" in capsys.readouterr().out
    assert main(["verify", *csv_problem(tmp_path, cost="1.5"), "--overlay", out]) == REFUSED
    assert "another cost than the costs given (first: src='a', dst='b')" in capsys.readouterr().out
