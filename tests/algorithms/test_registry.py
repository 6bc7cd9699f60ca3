import numpy as np
import pytest
from hypothesis import given

from overlay_spark.algorithms import registry
from overlay_spark.errors import OptionError
from overlay_spark.options import GreedyOptions, Options
from tests import checks, naive
from tests.strategies import instances

every_algorithm = pytest.mark.parametrize("algorithm", registry.ALGORITHMS, ids=lambda algorithm: algorithm.name)


@every_algorithm
@given(instance=instances())
def test_algorithm__gives_an_overlay_of_allowed_links_that_joins_all_it_can(algorithm, instance):
    links = algorithm(instance, Options())
    costs, pairs = naive.allowed(instance), links.pairs()
    assert checks.joins_all_that_can_be(instance, links)
    assert len(set(pairs)) == len(pairs)
    assert links.cost.tolist() == [costs[pair] for pair in pairs]  # allowed pairs have src < dst
    assert links.contribution.tolist() == naive.replay(instance, pairs)


@every_algorithm
def test_algorithm__gives_the_dtypes_of_links(algorithm):
    links = algorithm(checks.instance_of([[0], [0], []], 1), Options())
    assert [column.dtype for column in (links.src, links.dst, links.cost, links.contribution)] == [
        np.int32,
        np.int32,
        np.int64,
        np.int32,
    ]


@every_algorithm
def test_find__knows_its_own_and_the_papers_name_in_any_case(algorithm):
    for name in (algorithm.name, algorithm.paper_name):
        assert registry.find(name) is registry.find(name.upper()) is registry.find(name.lower()) is algorithm


def test_find__names_the_nearest_algorithm():
    with pytest.raises(OptionError, match=r"There is no algorithm 'gredy'\. Did you mean 'greedy'\?"):
        registry.find("gredy")
    with pytest.raises(OptionError, match="Did you mean 'trees'"):
        registry.find("TrMAV")


def test_find__lists_the_known_algorithms_where_none_is_near():
    with pytest.raises(OptionError, match="Known: greedy, fewest_links, trees"):
        registry.find("zzz")


def test_names__are_unique():
    names = [name.lower() for a in registry.ALGORITHMS for name in (a.name, a.paper_name)]
    assert len(set(names)) == len(names)


def test_algorithm__takes_the_options_of_its_own_section():
    taken = []
    algorithm = registry.Algorithm("a", "A", "", "", lambda instance, options: taken.append(options), "greedy")
    algorithm(checks.instance_of([], 0), Options(greedy=GreedyOptions(band=7)))
    assert taken == [GreedyOptions(band=7)]


def test_as_markdown__has_one_line_an_algorithm():
    header, rule, *lines = registry.as_markdown().splitlines()
    assert [line.split(" | ")[0] for line in lines] == [f"| {a.name}" for a in registry.ALGORITHMS]
    assert {line.count("|") for line in (header, rule, *lines)} == {6}
