import pytest

from overlay_spark.cli.printing import counted, figure, print_rows, problem_flags
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.tables.references import Reference


@pytest.mark.parametrize("n, told", [(0, "0 topics"), (1, "1 topic"), (2, "2 topics"), (1234, "1,234 topics")])
def test_counted__says_one_and_many(n, told):
    assert counted(n, "topic") == told


def test_print_rows__stand_in_columns(capsys):
    print_rows([("a", "1", ""), ("label", "2,345", "a note")])
    assert capsys.readouterr().out == "  a          1\n  label  2,345  a note\n"


def test_figure__that_is_not_there_is_not_zero():
    assert (figure(None, ".1f"), figure(0.0, ".1f"), figure(3, "d")) == ("not measured", "0.0", "3")


@pytest.mark.parametrize(
    "tables, flags",
    [
        (
            {"subscriptions": Reference("csv", "my table.csv"), "link_costs": Reference("delta", "c")},
            "--subscriptions 'csv:my table.csv' --link-costs delta:c",
        ),
        (
            {"subscriptions": Reference("csv", "s"), "nodes": Reference("csv", "n")},
            "--subscriptions csv:s --nodes csv:n --coordinates",
        ),
    ],
)
def test_problem_flags__can_be_given_to_a_shell(tables, flags):
    assert problem_flags(Inputs(**tables)) == flags
