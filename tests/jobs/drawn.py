"""A world drawn at random in each form, what happens to it, and its refresh."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from overlay_spark.jobs.refresh import run_refresh
from tests.frames.churned import ids
from tests.jobs.refreshing import LISTED, LOOSE, POINTS, SITES, World, pair

NODES = ids(18)
"""In the order of their UTF-8 bytes."""
IDLE, COMER = NODES[16:]
"""A node that wants nothing, and one that is not there yet."""


def drawn(folder, form, seed=5):
    """Sixteen nodes want some of eight topics; ``alone`` is wanted by one, ``soon gone`` by two; ``still`` and
    ``quiet`` by those that no test changes."""
    rng = np.random.default_rng(seed)
    wants = {(node, f"t{t}") for node in NODES[:16] for t in range(6) if rng.random() < 0.35}
    wants |= {(NODES[0], "alone"), (NODES[1], "soon gone"), (NODES[2], "soon gone")}
    wants |= {(node, topic) for node in NODES[8:14] for topic in ("still", "quiet") if rng.random() < 0.8}
    if form == POINTS:
        places = {node: tuple(rng.uniform(0, 9, 2).round(3).tolist()) for node in NODES}
        costs = {}
    elif form == SITES:
        places = {node: f"s{int(rng.integers(0, 5))}" for node in NODES}
        ends = [*combinations([f"s{i}" for i in range(5)], 2), *((f"s{i}", f"s{i}") for i in range(5))]
        costs = {two: float(rng.integers(1, 30)) for two in ends}
    else:
        places = dict.fromkeys(NODES)
        costs = {pair(*two): float(rng.integers(10, 41)) for two in combinations(NODES, 2)}
    del places[COMER]
    return World(folder, form, wants, places, costs)


def refresh(spark, world, options=LOOSE, **more):
    return run_refresh(spark, world.inputs, world.out, options, **more)


def a_little(world):
    """Somebody takes up a topic."""
    world.wants.add((NODES[3], "quiet"))


def much(world, old):
    """Everything that may happen at once, but for the topics ``still`` and ``quiet``."""
    moved = NODES[15]
    world.wants -= {(node, topic) for node, topic in world.wants if node == NODES[4] or topic == "soon gone"}
    del world.places[NODES[4]]
    del world.places[IDLE]
    place = {LISTED: None, SITES: "s1", POINTS: (1.0, 2.0)}[world.form]
    world.places |= {COMER: place, "new and idle": place}
    world.wants |= {(COMER, topic) for topic in ("t0", "t1", "new", "nobody else")} | {(NODES[3], "new")}
    world.wants -= {(NODES[6], topic) for topic in sorted(world.topics_of(NODES[6]))[:1]}
    world.wants |= {(NODES[5], topic) for topic in sorted({f"t{i}" for i in range(6)} - world.topics_of(NODES[5]))[:1]}
    there = sorted(two for two in old.links if not set(two) & {NODES[4], *NODES[8:14]})
    if world.form == LISTED:
        world.costs[there[0]] = 77.0
        world.costs[there[-1]] -= 3.0
        del world.costs[there[1]], world.costs[there[-2]]
    elif world.form == SITES:
        world.places[moved] = "s0" if world.places[moved] == "s4" else "s4"
        world.costs["s1", "s1"] += 2.0
    else:
        world.places[moved] = (8.5, 0.25)
