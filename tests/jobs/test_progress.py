"""Steps: what is shown, and how long each took."""

from __future__ import annotations

import io
import logging
import time

from overlay_spark.jobs.progress import Steps


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_steps__of_one_name_are_added_up():
    steps = Steps(io.StringIO())
    for step in ("solve", "write", "solve"):
        steps(step)
        time.sleep(0.02)
    steps.done()
    assert list(steps.seconds) == ["solve", "write"]
    assert steps.seconds["solve"] > steps.seconds["write"] >= 0.02
    before = dict(steps.seconds)
    steps.done()  # no step is under way
    assert steps.seconds == before


def test_steps__end_with_their_block_even_in_an_error():
    steps = Steps(io.StringIO())
    try:
        with steps:
            steps("solve")
            raise ValueError
    except ValueError:
        pass
    assert list(steps.seconds) == ["solve"]


def test_say__is_no_step_and_ends_none():
    steps = Steps(Terminal())
    steps.say("before")
    steps("solve")
    steps.say("in between")
    steps.done()
    assert list(steps.seconds) == ["solve"]
    shown = steps.stream.getvalue()
    assert "before\x1b[K\n  solve ...\rin between\x1b[K\n  solve ...\r  solve: 0.0 s" in shown


def test_steps__are_log_lines_where_there_is_no_terminal(caplog):
    steps = Steps(io.StringIO())
    with caplog.at_level(logging.INFO, logger="overlay_spark"), steps:
        steps("solve")
        steps.say("a note")
    assert caplog.messages == ["a note", "solve: 0.0 s"]
    assert steps.stream.getvalue() == ""
