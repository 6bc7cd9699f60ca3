"""One conformance suite for every way to find topic-connected components."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay_spark.errors import SetupError
from overlay_spark.frames import components as module
from overlay_spark.frames.components import GRAPHFRAMES, GROUPED, choose_method, require_method, topic_components
from overlay_spark.frames.contraction import huge_topics
from overlay_spark.frames.graphs import graphframes_is_available
from overlay_spark.frames.indexing import with_shared_topics
from overlay_spark.options import ComponentOptions
from tests import checks, naive
from tests.frames.growing import Growth, stored
from tests.problems import indexed, problem, sorted_rows

pytestmark = pytest.mark.spark

NO_JAR = "GraphFrames' JVM part is not in this session: no jar found on Maven or in OVERLAY_SPARK_JARS"


@pytest.fixture(params=[GROUPED, GRAPHFRAMES])
def method(request, spark):
    spark.conf.set("spark.sql.adaptive.enabled", "true")  # as users have it: plans that grow with every step get costly
    if request.param == GRAPHFRAMES and not graphframes_is_available(spark):
        pytest.skip(NO_JAR)
    return request.param


@pytest.fixture(params=[None, 2], ids=["grouped", "contracted"])
def huge_above(request, method):
    """Topics of more nodes are contracted; GraphFrames takes them as they are."""
    if request.param is not None and method == GRAPHFRAMES:
        pytest.skip("GraphFrames contracts no topics")
    return request.param


@pytest.fixture
def components(spark, workspace, method, huge_above):
    """(topic, node, component) where these links are the overlay.

    Each node has another link beside, to one that nobody knows: a node that no link names would be refused.
    """

    def found(subscriptions, links):
        nodes = {node for node, _ in subscriptions}
        listed = [(a, b, 1.0) for a, b in links] + [(f"not {node}", node, 1.0) for node in nodes]
        given = indexed(problem(spark, subscriptions, listed), workspace)
        overlay = with_shared_topics(given, given.link_costs)
        huge = () if huge_above is None else huge_topics(given, huge_above)
        found = topic_components(given, overlay, method, workspace, huge)
        return sorted_rows(found.select("topic", "node", "component"))

    return found


def test_topic_components__are_named_by_their_least_node(components):
    subscriptions = [(n, "x") for n in "abcdef"] + [(n, "y") for n in "bdf"]
    links = [("e", "f"), ("c", "e"), ("b", "d")]
    a, b, c, d, e, f = range(6)
    x, y = range(2)
    assert components(subscriptions, links) == [
        *[(x, a, a), (x, b, b), (x, c, c), (x, d, b), (x, e, c), (x, f, c)],
        *[(y, b, b), (y, d, b), (y, f, f)],
    ]


def test_topic_components__reach_along_long_paths(components):
    n = 70  # more steps than an algorithm that stops after 31 would go
    ids = [f"n{i:02d}" for i in range(n)]
    found = components([(i, "x") for i in ids], list(zip(ids[::-1], ids[-2::-1], strict=False)))
    assert found == [(0, i, 0) for i in range(n)]


def test_topic_components__without_links_are_single_nodes(components):
    assert components([("a", "x"), ("b", "x"), ("b", "y")], []) == [(0, 0, 0), (0, 1, 1), (1, 1, 1)]


def test_topic_components__do_not_cross_topics(components):
    found = components([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")], [("a", "b"), ("b", "c")])
    assert found == [(0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 2, 1)]


def test_topic_components__are_those_by_definition(components):
    wants = {t: [v for v in range(12) if (v * v + 7 * t) % 11 < 6] for t in range(9)}
    links = [(u, v) for v in range(12) for u in range(v) if (5 * u + 3 * v) % 13 < 2]
    found = components(
        [(f"n{v:02d}", f"t{t}") for t, nodes in wants.items() for v in nodes],
        [(f"n{u:02d}", f"n{v:02d}") for u, v in links],
    )
    labels = [(t, v, label) for t, nodes in wants.items() for v, label in naive.components(nodes, links).items()]
    assert found == sorted(labels)
    assert 9 < len({(t, label) for t, _, label in labels}) < len(labels)  # some in pieces, some not


@pytest.mark.parametrize("available", [True, False])
@pytest.mark.parametrize("wanted, largest, method", [
    ("auto", 9, GROUPED), ("auto", 10, GRAPHFRAMES), (GROUPED, 10, GROUPED), (GRAPHFRAMES, 9, GRAPHFRAMES),
])  # fmt: skip
def test_choose_method__goes_by_the_largest_topic_and_by_what_can_be_had(
    spark, given, monkeypatch, caplog, available, wanted, largest, method
):
    caplog.set_level("DEBUG", logger="overlay_spark")
    monkeypatch.setattr(module, "graphframes_is_available", lambda session: available)
    options = ComponentOptions(method=wanted, huge_topic=10)
    if wanted == "auto" and largest == 10 and not available:
        method = GROUPED
    assert choose_method(replace(given, largest_topic=largest), options) == method
    told = f"the largest topic has {largest} nodes, components.huge_topic is 10"
    assert (told in caplog.text) == (wanted == "auto")


def test_require_method__refuses_graphframes_only_when_asked_for_by_name(spark, monkeypatch):
    monkeypatch.setattr(module, "graphframes_is_available", lambda session: False)
    require_method(spark, ComponentOptions())
    with pytest.raises(SetupError) as refusal:
        require_method(spark, ComponentOptions(method=GRAPHFRAMES))
    assert str(refusal.value) == (
        "components.method is 'graphframes', but this Spark session cannot load GraphFrames. Add the jar "
        "io.graphframes:graphframes-spark4_2.13 to the session (a folder of jars: OVERLAY_SPARK_JARS), install "
        "graphframes-py, or use components.method = 'auto'."
    )
    monkeypatch.setattr(module, "graphframes_is_available", lambda session: session is spark)
    require_method(spark, ComponentOptions(method=GRAPHFRAMES))


@pytest.fixture
def given(spark, workspace):
    return indexed(problem(spark, [("a", "x"), ("b", "x")], [("a", "b", 1.0)]), workspace)


def test_choose_method__does_not_ask_for_what_is_not_wanted(spark, given, monkeypatch):
    def fail(session):
        raise AssertionError("asked")

    monkeypatch.setattr(module, "graphframes_is_available", fail)
    require_method(spark, ComponentOptions(method=GROUPED))
    assert choose_method(given, ComponentOptions()) == GROUPED


N = 14
WANTS = [{4, *(t for t in range(4) if (v + t * t) % 3)} for v in range(N - 1)] + [{5}]


@pytest.mark.parametrize("small", [True, False], ids=["broadcast", "shuffled"])
def test_growing_components__are_those_by_definition(spark, workspace, method, small):
    growth = Growth.of(spark, workspace, checks.instance_of(WANTS, 6), method, small)
    assert stored(growth.components) == growth.expected()  # the topic of one node is connected already
    assert growth.components.apart == growth.twin.apart()
    path = [(u, u + 1) for u in range(N - 2)]
    for pairs in (path[::3], path[1::3], path[2::3]):
        growth.add(pairs)
        assert stored(growth.components) == growth.expected()
        assert growth.components.apart == growth.twin.apart()
    before = {topic for topic, _ in stored(growth.components)}
    growth.components = growth.components.only_open(workspace)
    open_topics = {t for t, labels in enumerate(growth.twin.labels) if len(set(labels.values())) > 1}
    assert stored(growth.components) == {key: c for key, c in growth.expected().items() if key[0] in open_topics}
    assert 0 < len(open_topics) < len(before)


@pytest.mark.slow
def test_growing_components__keep_a_size_that_spark_can_tell(spark, workspace):
    """Settled rows keep the size guessed for them: unbounded, guesses would have millions of digits after ten rounds."""
    growth = Growth.of(spark, workspace, checks.instance_of([{0}] * 20, 1))
    digits = []
    for u in range(12):
        growth.add([(u, u + 1)])
        growth.refresh()
        size = growth.left._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
        digits.append(len(str(size)))
    assert digits[11] - digits[6] <= digits[5] - digits[0] + 5  # no faster than evenly
