"""Which engine runs: the one asked for, or the first that takes the problem; never refused by numbers not counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark import engines as module
from overlay_spark.errors import GuardError, OptionError
from overlay_spark.frames.estimates import Size
from overlay_spark.options import Options


class Engine:
    """An engine that takes up to ``most`` candidates."""

    def __init__(self, name, most, algorithms=("greedy", "trees"), takes_steps=False):
        self.name, self.most, self.algorithms, self.takes_steps = name, most, algorithms, takes_steps

    def has(self, algorithm):
        return algorithm.name in self.algorithms

    def size(self, whole, problem, options):
        return whole

    def refusal(self, size, options):
        return f"{self.name} refuses {size.candidates}" if size.candidates > self.most else None


@pytest.fixture
def counted(monkeypatch):
    """A problem of at most 100 candidates, of which there are 60; how often they were counted."""
    times = []

    def size(exact):
        times.extend([1] * exact)
        return Size(nodes=9, topics=1, subscriptions=9, candidates=60 if exact else 100, is_exact=exact)

    monkeypatch.setattr(module.Numbers, "_sized", lambda self, exact: size(exact))
    return times


@pytest.fixture
def these(monkeypatch, counted):
    def use(*given):
        monkeypatch.setattr(module, "NAMES", tuple(engine.name for engine in given))
        monkeypatch.setattr(module, "named", {engine.name: engine for engine in given}.__getitem__)

    return use


def test_auto__takes_the_first_that_takes_the_problem(these, counted):
    small, large = Engine("small", 10), Engine("large", 1000)
    these(small, large)
    choice = module.choose(None, Options())
    assert choice.require() is large
    assert choice.says.startswith("large, as small would need about 0.4 GiB a task: needs about 0.4 GiB of 8g a task")
    assert len(counted) == 1


def test_engine__is_only_refused_after_candidates_were_counted(these):
    engine = Engine("one", 80)
    these(engine)
    assert module.choose(None, Options()).require() is engine
    assert module.choose(None, Options()).size.candidates == 60
    assert module.estimate(None, Options()).candidates == 60


def test_engine_by_name__is_the_one_and_says_why_it_refuses(these):
    small, large = Engine("small", 10), Engine("large", 1000)
    these(small, large)
    choice = module.choose(None, Options().designing(engine="small"))
    with pytest.raises(GuardError, match="small refuses 60"):
        choice.require()
    found = module.estimate(None, Options().designing(engine="small"))
    assert (found.fits, found.engine, found.choice) == (False, "small", "small refuses 60")
    assert [(e.name, e.refusal) for e in found.engines] == [("small", "small refuses 60"), ("large", None)]
    assert module.choose(None, Options().designing(engine="large")).says.startswith("large, as asked")


def test_auto__of_none_that_takes_it_tells_the_first_refusal(these):
    these(Engine("small", 10), Engine("large", 20))
    with pytest.raises(GuardError, match="small refuses 60"):
        module.choose(None, Options()).require()


def test_algorithm__that_an_engine_lacks_is_refused_with_those_that_have_it(these):
    these(Engine("one", 1000, algorithms=("greedy",)), Engine("two", 1000))
    assert module.choose(None, Options().designing("trees")).require().name == "two"
    with pytest.raises(OptionError, match=r"The engine 'one' does not run trees\. Engines that do: two\."):
        module.choose(None, Options().designing("trees", "one"))


def test_every_engine__is_what_its_module_says():
    for name in module.NAMES:
        assert module.named(name).name == name
        module.require_engine(name)
    with pytest.raises(OptionError, match=r"There is no engine 'gpu'"):
        module.require_engine("gpu")
    assert replace(Options().design, engine="auto").engine == module.AUTO


def test_what_follows__must_fit_the_engine_that_looks_at_all_of_it(these, monkeypatch):
    whole, large = Engine("whole", 10), Engine("large", 1000)
    these(whole, large)
    monkeypatch.setattr(module, "WHOLE", "whole")
    assert module.choose(None, Options()).require() is large
    choice = module.choose(None, Options().designing(then="reverse_delete", engine="large"))
    with pytest.raises(GuardError) as refusal:
        choice.require()
    assert str(refusal.value) == (
        "What follows (reverse_delete) takes all of it at once; leave it out, or make room. whole refuses 60"
    )
    assert module.choose(None, Options().designing(then="reverse_delete")).refusal == "whole refuses 60"
    large.takes_steps = True
    assert module.choose(None, Options().designing(then="reverse_delete", engine="large")).require() is large
    large.takes_steps = False
    whole.most = 80  # fewer than may be, more than were counted
    assert module.choose(None, Options().designing(then="reverse_delete", engine="large")).require() is large


def test_auto__solves_in_parts_what_has_too_many_candidates(these):
    exact, parted = Engine("exact", 1000), Engine(module.PARTED, 1000)
    these(exact, parted)
    few = replace(Options(), design=replace(Options().design, exact_candidates=60))
    assert module.choose(None, few).require() is exact  # counted, there are no more
    many = replace(few, design=replace(few.design, exact_candidates=59))
    choice = module.choose(None, many)
    assert choice.require() is parted
    assert choice.says.startswith(f"{module.PARTED}, as exact would look at 60 candidate links: needs")
    assert module.choose(None, many.designing(engine="exact")).require() is exact
    parted.most = 10
    with pytest.raises(GuardError, match=r"takes hours: .* design\.exact_candidates is 59.* 'divide', or, .*'exact'"):
        module.choose(None, many).require()


def test_refusal_of_the_engine_asked_for__names_the_way_on_where_there_is_one(these):
    exact, parted = Engine("exact", 10), Engine(module.PARTED, 1000)
    these(exact, parted)
    asked = Options().designing(engine="exact")
    way = "exact refuses 60 design.engine = 'divide' solves it in parts, at some more cost of the links."
    assert module.choose(None, asked).refusal == module.estimate(None, asked).choice == way
    parted.most = 10
    assert module.choose(None, asked).refusal == "exact refuses 60"
    assert module.choose(None, Options()).refusal == "exact refuses 60"
