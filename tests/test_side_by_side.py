import threading

import pytest

from overlay_spark.side_by_side import Ahead, beginning, side_by_side


def test_side_by_side__runs_calls_at_the_same_time_and_answers_in_their_order():
    both = threading.Barrier(2, timeout=20)  # broken, were one run after the other

    def meet(answer):
        both.wait()
        return answer

    assert side_by_side([lambda: meet("a"), lambda: meet("b")]) == ["a", "b"]
    assert side_by_side([]) == []


def test_side_by_side__raises_the_first_error_once_all_have_ended():
    ended = []

    def fail(name):
        ended.append(name)
        raise ValueError(name)

    with pytest.raises(ValueError, match="first"):
        side_by_side([lambda: fail("first"), lambda: fail("second"), lambda: ended.append("third")])
    assert sorted(ended) == ["first", "second", "third"]


def test_ahead__begins_once_when_told_to_and_waits_when_asked():
    begun, go_on, times = threading.Event(), threading.Event(), []

    def work():
        times.append(1)
        begun.set()
        assert go_on.wait(20)
        return 7

    answer = Ahead(work)
    assert not begun.wait(0.05)
    answer.begin()
    answer.begin()
    assert begun.wait(20)
    go_on.set()
    assert answer() == answer() == 7
    assert times == [1]


def test_ahead__begins_when_asked_if_nobody_told_it_to():
    assert Ahead(lambda: 7)() == 7


def test_ahead__raises_when_asked_what_the_call_raised():
    def fail():
        raise ValueError("late")

    answer = Ahead(fail)
    with pytest.raises(ValueError, match="late"):
        answer()


def test_beginning__passes_steps_on_and_begins_at_one():
    told, begun = [], threading.Event()
    progress = beginning(Ahead(begun.set), "write", told.append)
    progress("read")
    assert not begun.wait(0.05)
    progress("write")
    assert begun.wait(20)
    assert told == ["read", "write"]
