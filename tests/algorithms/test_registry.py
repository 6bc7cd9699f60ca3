import numpy as np
import pytest
from hypothesis import given

from overlay_spark.algorithms import registry
from overlay_spark.errors import OptionError
from overlay_spark.options import DesignOptions, KernelOptions, Options
from tests import checks, naive
from tests.strategies import instances, overlays

every_algorithm = pytest.mark.parametrize("algorithm", registry.ALGORITHMS, ids=lambda algorithm: algorithm.name)


DTYPES = [np.int32, np.int32, np.int64, np.int32]


def dtypes_of(links):
    return [column.dtype for column in (links.src, links.dst, links.cost, links.contribution)]


def rows_of(links):
    return [column.tolist() for column in (links.src, links.dst, links.cost, links.contribution)]


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
@given(overlay=overlays(max_nodes=10, any_pair=True))
def test_algorithm__adds_to_a_start_what_is_missing(algorithm, overlay):
    instance, start = overlay
    links = algorithm(instance, Options(), checks.overlay_of(start))
    costs, pairs = naive.allowed(instance), links.pairs()
    assert naive.topic_components(instance, start + pairs) == naive.topic_components(instance, [*start, *costs])
    assert not set(pairs) & set(start)
    assert len(set(pairs)) == len(pairs)
    assert links.cost.tolist() == [costs[pair] for pair in pairs]
    assert links.contribution.tolist() == naive.replay(instance, pairs, start)


@every_algorithm
@given(instance=instances())
def test_algorithm__gives_the_same_after_a_start_without_links_and_nothing_after_its_own(algorithm, instance):
    links = algorithm(instance, Options())
    again = algorithm(instance, Options(), checks.overlay_of([]))
    assert rows_of(again) == rows_of(links)
    assert (again.lower_bound, again.sum_of_trees) == (links.lower_bound, links.sum_of_trees)
    nothing = algorithm(instance, Options(), links)
    assert len(nothing) == 0
    assert not nothing.lower_bound
    assert not nothing.sum_of_trees


@pytest.mark.parametrize("step", registry.STEPS, ids=lambda step: step.name)
@given(overlay=overlays())
def test_step__leaves_an_overlay_of_allowed_links_as_connected_as_it_was(step, overlay):
    instance, pairs = overlay
    links = step(instance, checks.links_of(instance, pairs), Options())
    costs, after = naive.allowed(instance), links.pairs()
    assert naive.topic_components(instance, after) == naive.topic_components(instance, pairs)
    assert len(set(after)) == len(after)
    assert links.cost.tolist() == [costs[pair] for pair in after]  # allowed pairs have src < dst
    assert links.contribution.tolist() == naive.replay(instance, after)
    assert set(after) <= set(pairs) or step.stage is not None
    assert dtypes_of(links) == DTYPES


@every_algorithm
def test_algorithm__gives_the_dtypes_of_links(algorithm):
    links = algorithm(checks.instance_of([[0], [0], []], 1), Options())
    assert dtypes_of(links) == DTYPES


@every_algorithm
def test_find__knows_its_own_and_the_papers_name_in_any_case(algorithm):
    for name in (algorithm.name, algorithm.paper_name):
        assert registry.find(name) is registry.find(name.upper()) is registry.find(name.lower()) is algorithm


@pytest.mark.parametrize(
    "find, known", [(registry.find_step, registry.STEPS), (registry.find_bound, registry.BOUNDS)], ids=["step", "bound"]
)
def test_find__knows_steps_and_bounds_in_any_case(find, known):
    for one in known:
        assert find(one.name) is find(one.name.upper()) is one


@pytest.mark.parametrize(
    "find, name, message",
    [
        (registry.find, "gredy", r"There is no algorithm 'gredy'\. Did you mean 'greedy'\?"),
        (registry.find, "TrMAV", r"There is no algorithm 'TrMAV'\. Did you mean 'trmaw'\?"),
        (registry.find, "zzz", r"There is no algorithm 'zzz'\. Known: .*fewest_links, .*greedy"),
        (registry.find_step, "revers_delete", r"There is no step 'revers_delete'\. Did you mean 'reverse_delete'\?"),
        (registry.find_step, "", r"There is no step ''\. Known: .*reverse_delete"),
        (registry.find_bound, "greedy", r"There is no bound 'greedy'\. Known: primal_dual\."),
    ],
)
def test_find__names_what_is_near_or_all_that_is_known(find, name, message):
    with pytest.raises(OptionError, match=message):
        find(name)


@pytest.mark.parametrize(
    "chosen, message",
    [
        ({"algorithm": "gredy"}, "no algorithm 'gredy'"),
        ({"then": ("reverse_delete", "polish")}, "no step 'polish'"),
        ({"bound": "guess"}, "no bound 'guess'"),
    ],
)
def test_require_known__refuses_the_first_name_nobody_knows(chosen, message):
    registry.require_known(Options())
    registry.require_known(Options(design=DesignOptions(then=("Reverse_Delete",), bound="primal_dual")))
    with pytest.raises(OptionError, match=message):
        registry.require_known(Options(design=DesignOptions(**chosen)))


@pytest.mark.parametrize("bound", registry.BOUNDS, ids=lambda bound: bound.name)
def test_bound__is_proved_by_its_algorithm(bound):
    instance = checks.instance_of([[0], [0]], 1)
    assert 0 < registry.find(bound.algorithm)(instance, Options()).lower_bound <= 1


def test_names__are_unique():
    names = [name.lower() for a in registry.ALGORITHMS for name in (a.name, a.paper_name)]
    assert len(set(names)) == len(names)

    for known in (registry.STEPS, registry.BOUNDS):
        assert len({one.name for one in known}) == len(known)


def test_algorithm__takes_the_options_of_its_own_section_and_the_start():
    taken = []
    algorithm = registry.Algorithm(
        name="a",
        paper_name="A",
        minimises="",
        guarantee="",
        function=lambda *given: taken.append(given),
        section="kernel",
    )
    instance, start, own = checks.instance_of([], 0), checks.overlay_of([]), KernelOptions(band=7)
    algorithm(instance, Options(kernel=own))
    algorithm(instance, Options(kernel=own), start)
    assert taken == [(instance, own, None), (instance, own, start)]


@pytest.mark.parametrize("section", [None, "kernel"])
def test_step__takes_the_options_of_its_own_section_or_all_and_the_seed(section):
    taken = []
    step = registry.Step(name="s", does="", function=lambda *given: taken.append(given), section=section)
    instance, links = checks.instance_of([], 0), checks.overlay_of([])
    options = Options(kernel=KernelOptions(band=7), design=DesignOptions(seed=5))
    step(instance, links, options)
    assert taken == [(instance, links, options.kernel if section else options, 5)]


def test_algorithms_as_markdown__has_one_line_an_algorithm():
    header, rule, *lines = registry.algorithms_as_markdown().splitlines()
    assert [line.split(" | ")[0] for line in lines] == [f"| {a.name}" for a in registry.ALGORITHMS]
    assert {line.count("|") for line in (header, rule, *lines)} == {6}
    assert all("kernel.band" in line or "degrees.k" in line for line in lines)


def test_steps_as_markdown__has_one_line_a_step():
    header, rule, *lines = registry.steps_as_markdown().splitlines()
    assert [line.split(" | ")[:2] for line in lines] == [[f"| {s.name}", s.does] for s in registry.STEPS]
    assert {line.count("|") for line in (header, rule, *lines)} == {5}
