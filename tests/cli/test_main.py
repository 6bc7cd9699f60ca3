"""The command line as a whole: help, wrong usage, exit codes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from overlay_spark.cli import DONE, FAILED, INTERRUPTED, USAGE, main
from overlay_spark.options import Options

PROBLEM = ["--subscriptions", "csv:s", "--link-costs", "csv:c"]


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["design"],
        ["verify"],
        ["estimate"],
        ["workload"],
        ["benchmark"],
        ["experiment"],
        ["demo"],
        ["pack"],
        ["algorithms"],
    ],
)
def test_help__teaches(command, capsys):
    assert main([*command, "--help"]) == DONE
    assert capsys.readouterr().out.startswith(" ".join(["usage: overlay-spark", *command]))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "required: COMMAND"),
        (["desing"], "invalid choice: 'desing'"),
        (["design", "--output", "out"], "required: --subscriptions"),
        (["design", "--subscriptions", "csv:s", "--output", "o"], "one of the arguments --link-costs --site-costs --coordinates is required"),
        (["design", "--subscriptions", "s.csv", "--link-costs", "csv:c", "--output", "o"], "'s.csv' does not say where a table is"),
        (["design", "--subscriptions", "csv:s", "--site-costs", "csv:c", "--output", "o"], "--site-costs needs --nodes"),
        (["design", "--subscriptions", "csv:s", "--coordinates", "--output", "o"], "--coordinates needs --nodes"),
        (["design", *PROBLEM, "--output", "o", "--algorithm", "gredy"], "Did you mean 'greedy'?"),
        (["design", *PROBLEM, "--output", "o", "--then", "reverse-delete"], "Did you mean 'reverse_delete'?"),
        (["design", *PROBLEM, "--output", "o", "--engine", "kernle"], "Did you mean 'kernel'?"),
        (["design", *PROBLEM, "--output", "o", "--seed", "-1"], "design.seed must be from 0"),
        (["design", *PROBLEM, "--output", "o", "--set", "design.bound=dual"], "There is no bound 'dual'"),
        (["design", *PROBLEM, "--output", "o", "--set", "cost.unit=1"], "unknown section [cost]. Did you mean 'costs'?"),
        (["verify", "--subscriptions", "csv:s", "--coordinates", "--overlay", "o"], "--coordinates needs --nodes"),
        (["estimate", *PROBLEM, "--set", "design.algorithm=gredy"], "Did you mean 'greedy'?"),
        (["demo", "--config", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["demo", "--set", "costs.unit=-1"], "costs.unit must be a number from"),
    ],
)  # fmt: skip
def test_wrong_usage__is_told_before_spark_starts(arguments, message, capsys):
    assert main(arguments) == USAGE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "error, code, message",
    [(KeyboardInterrupt(), INTERRUPTED, "overlay-spark: interrupted"), (RuntimeError("unforeseen"), FAILED, "")],
)
def test_stops__have_exit_codes_of_their_own(error, code, message, monkeypatch, capsys):
    def stop(*_):
        raise error

    monkeypatch.setattr(Options, "load", stop)
    assert main(["demo"]) == code
    assert message in capsys.readouterr().err


def test_module__is_the_command():
    done = subprocess.run([sys.executable, "-m", "overlay_spark.cli", "algorithms"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.startswith("greedy, in the papers GrMAW")


@pytest.mark.parametrize("command", [["design", *PROBLEM, "--output", "o"], ["demo"], ["experiment", "000"]])
def test_commands__without_spark_say_what_to_install(command):
    code = f"import sys; sys.modules['pyspark'] = None; from overlay_spark.cli import main; sys.exit(main({command!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == FAILED
    assert "pip install 'overlay-spark[local]'" in done.stderr
    assert "Traceback" not in done.stderr
