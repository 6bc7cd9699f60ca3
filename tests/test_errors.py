"""Errors: what the command line returns for each, and several faults in one message."""

from __future__ import annotations

import pickle

import pytest

from overlay_spark import errors
from overlay_spark.cli import FAILED, REFUSED, USAGE
from overlay_spark.errors import InputError, OverlayError

CODES = {
    "OptionError": USAGE,
    "InputError": REFUSED,
    "GuardError": REFUSED,
    "TooLarge": REFUSED,
    "FeedError": REFUSED,
    "VerificationError": FAILED,
    "SetupError": FAILED,
}


def test_every_error__has_the_exit_code_the_help_promises():
    declared = {
        name: found for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, Exception)
    }
    assert {name: error.exit_code for name, error in declared.items()} == {"OverlayError": FAILED, **CODES}
    assert all(issubclass(error, OverlayError) for error in declared.values())


@pytest.mark.parametrize("name", [name for name in CODES if name != "InputError"])
def test_error__says_what_it_was_given_and_nothing_else(name):
    assert str(getattr(errors, name)("what is wrong, and what to do")) == "what is wrong, and what to do"


def test_input_error__of_one_fault_is_its_sentence():
    error = InputError(["Table 'nodes' is empty."])
    assert (str(error), error.faults) == ("Table 'nodes' is empty.", ("Table 'nodes' is empty.",))


def test_input_error__of_several_faults_lists_each_on_a_line_of_its_own():
    given = ["Table 'nodes' is empty.", "Column 'cost' has 1 row that are NaN.", "Topic 'x' is in 2 pieces."]
    error = InputError(given)
    assert str(error) == (
        "The input has 3 faults:\n"
        "- Table 'nodes' is empty.\n"
        "- Column 'cost' has 1 row that are NaN.\n"
        "- Topic 'x' is in 2 pieces."
    )
    assert error.faults == tuple(given)
    given.clear()
    assert len(error.faults) == 3


def test_input_error__comes_whole_from_another_process():
    error = InputError(["one", "two"])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.faults) == (str(error), error.faults)
