"""A proof in one task: given up exactly where an overlay is wrong, and else in the figures of a naive look."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from overlay_spark.costs import LISTED, POINTS, SITES
from overlay_spark.frames import small_proof as small
from overlay_spark.frames.metrics import Figures
from overlay_spark.frames.small_rows import ITEMS
from overlay_spark.instance import Instance
from tests import checks, naive
from tests.strategies import SEEDS, instances, overlays

PRICED_BY = {LISTED: "link_costs", SITES: "site_costs", POINTS: "nodes"}
LINKS = pa.list_(pa.struct([("src", pa.string()), ("dst", pa.string()), ("cost", pa.int64())]))


def with_wanted_topics(instance):
    """The same problem without topics that nobody wants."""
    topics, numbers = np.unique(instance.topics, return_inverse=True)
    return Instance(len(topics), instance.offsets, numbers.astype(np.int32), instance.costs)


def names(instance):
    return [f"n{v:02d}" for v in range(instance.n_nodes)]


def index_of(instance, rng):
    """The rows of an index, in any order and in several pieces."""
    costs, sizes = instance.costs, instance.topic_sizes.tolist()
    nodes = [
        {
            "node": v,
            "node_id": name,
            "site": int(costs.sites[v]) if costs.kind == SITES else None,
            "coordinates": costs.points[v].tolist() if costs.kind == POINTS else None,
            "height": float(costs.heights[v]) if costs.kind == POINTS else 0.0,
            "topics": instance.topics_of(v).tolist(),
        }
        for v, name in enumerate(names(instance))
    ]
    items = {"nodes": nodes, "link_costs": [], "site_costs": []}
    items["topics"] = [{"topic": t, "topic_id": f"t{t:02d}", "size": size} for t, size in enumerate(sizes)]
    if costs.kind == LISTED:
        items["link_costs"] = [{"src": u, "dst": v, "cost": cost} for (u, v), cost in naive.allowed(instance).items()]
    elif costs.kind == SITES:
        used = sorted({int(site) for site in costs.sites})
        items["site_costs"] = [{"site_a": a, "site_b": b, "cost": int(costs.table[a, b])} for a in used for b in used]
    pieces = []
    for name, rows in items.items():
        rng.shuffle(rows)
        pieces += [{name: rows[::2]}, {name: rows[1::2]}]
    rng.shuffle(pieces)
    return pa.Table.from_pylist(pieces, pa.schema([*((n, pa.list_(t)) for n, t in ITEMS.items()), ("links", LINKS)]))


def answer_of(instance, links, seed=0, raw=None):
    """Rows (src, dst, cost) of ids -> the figures, and what there is for each topic and each node; None where given up."""
    given_links = pa.array([[{"src": a, "dst": b, "cost": cost} for a, b, cost in links]], LINKS)
    index = index_of(instance, np.random.default_rng(seed))
    rows = pa.concat_tables([index, pa.table({"links": given_links})], promote_options="default")
    raw = raw or (instance.n_nodes, instance.n_topics, instance.n_subscriptions)
    found = list(small.answer(rows, raw, PRICED_BY[instance.costs.kind], instance.costs.unit, 1000))
    figures = found[0].column("figures")[0].as_py()
    if not figures:
        return None
    table = pa.Table.from_batches(found)
    return Figures(*figures), *(table.column(name).combine_chunks().flatten().to_pylist() for name in small.ITEMS)


def named(instance, pairs):
    priced, name = naive.allowed(instance), names(instance)
    return [(name[u], name[v], priced[u, v]) for u, v in pairs]


@given(overlays(max_nodes=7, max_topics=8), SEEDS)
def test_proof__is_given_up_where_a_topic_is_apart_or_a_link_is_useless(overlay, seed):
    instance, pairs = with_wanted_topics(overlay[0]), overlay[1]
    assume(instance.n_nodes)
    wants = naive.interests(instance)
    is_wrong = bool(naive.broken_topics(instance, pairs)) or not all(wants[u] & wants[v] for u, v in pairs)
    assert (answer_of(instance, named(instance, pairs), seed) is None) == is_wrong


@given(instances(max_nodes=8, max_topics=12, complete=True), SEEDS)
def test_proof__has_the_figures_of_a_naive_look(instance, seed):
    instance = with_wanted_topics(instance)
    assume(instance.n_nodes)
    pairs = naive.trees(instance)
    figures, topics, nodes = answer_of(instance, [(b, a, cost) for a, b, cost in named(instance, pairs)], seed)
    priced = naive.allowed(instance)
    shapes = []
    for t, members in enumerate(naive.members(instance)):
        place = {v: i for i, v in enumerate(members)}
        edges = [(place[u], place[v], priced[u, v]) for u, v in pairs if u in place and v in place]
        far = [naive.diameter(len(members), e) for e in ([(a, b, 1) for a, b, _ in edges], edges)]
        shapes.append((f"t{t:02d}", len(members), len(edges), 1, *far))
    assert [tuple(row.values()) for row in topics] == shapes
    degree, weight = Counter(), Counter()
    for pair in pairs:
        for v in pair:
            degree[v] += 1
            weight[v] += priced[pair]
    wants = naive.interests(instance)
    assert [tuple(row.values()) for row in nodes] == [
        (name, len(wants[v]), degree[v], weight[v], None, False) for v, name in enumerate(names(instance))
    ]
    assert figures == Figures(
        topics=len(shapes),
        links=len(pairs),
        cost=sum(priced[pair] for pair in pairs),
        max_degree=max(degree.values(), default=0),
        measured=len(shapes),
        largest=max((row[4] for row in shapes), default=0),
        hops=sum(row[4] for row in shapes),
        path=sum(row[5] for row in shapes),
    )


WRONG = {
    "a cost": lambda links: [(links[0][0], links[0][1], links[0][2] + 1), *links[1:]],
    "an unknown end": lambda links: [*links, ("n00", "who", 1)],
    "a loop": lambda links: [*links, ("n00", "n00", 1)],
    "a pair twice": lambda links: [*links, links[0]],
    "a pair both ways": lambda links: [*links, (links[0][1], links[0][0], links[0][2])],
    "no end": lambda links: [*links, (None, "n00", 1)],
}


@pytest.mark.parametrize("wrong", WRONG)
@given(st.sampled_from((True, False)), SEEDS)
def test_proof__is_given_up_where_a_link_is_wrong(wrong, listed, seed):
    table = np.random.default_rng(seed).integers(1, 9, (3, 3))
    table += table.T
    costs = checks.fully_listed(table) if listed else checks.matrix((u, v, table[u, v]) for u in range(3) for v in range(u + 1, 3))  # fmt: skip
    instance = checks.instance_of([[0, 1], [0], [1]], 2, costs)
    links = named(instance, [(0, 1), (0, 2)])
    assert answer_of(instance, links, seed) is not None
    assert answer_of(instance, WRONG[wrong](links), seed) is None


def test_proof__is_given_up_where_a_pair_is_not_listed():
    instance = checks.instance_of([[0], [0], [0]], 1, checks.listed_costs(*np.array([[0, 1], [1, 2], [5, 7]])))
    assert answer_of(instance, [("n00", "n01", 5), ("n01", "n02", 7)]) is not None
    assert answer_of(instance, [("n00", "n01", 5), ("n00", "n02", 7)]) is None


def test_proof__is_given_up_where_not_all_was_seen():
    instance = checks.instance_of([[0], [0], [0]], 1)
    links = [("n00", "n01", 1), ("n01", "n02", 1)]
    assert answer_of(instance, links, raw=(3, 1, 3)) is not None
    for raw in ((4, 1, 3), (3, 2, 3), (3, 1, 4), (-1, -1, -1)):
        assert answer_of(instance, links, raw=raw) is None
