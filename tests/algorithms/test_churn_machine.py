"""Whatever happens between refreshes: overlays kept up through long histories of churn."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from overlay_spark.algorithms.churn import kept_up
from overlay_spark.algorithms.greedy import greedy
from overlay_spark.algorithms.low_degree import low_degree
from overlay_spark.algorithms.refresh import faults, refreshed
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.costs import listed_costs, matrix_costs
from overlay_spark.instance import Instance
from overlay_spark.options import ChurnOptions, Options
from overlay_spark.options.churn import COST, DEGREE
from tests import checks, naive
from tests.churning import batch_between, stored_between
from tests.strategies import COMPILED, SEEDS

DEARER = 3.0
"""A refreshed overlay of these problems costs at most so many times what a new design does, or has so many more links
where it is one of low degree. Measured, not proved: in 4000 histories of such problems (16 600 refreshes by cost) it was
1.04 times on average, less than 1.34 in 99 of 100, and 2.14 at worst. No factor holds for all histories: a link of
topics that nobody touches stays whatever becomes of its cost, and of overlays of two or three links one may be all."""
RUNS, STEPS = (250, 50) if COMPILED else (20, 25)

NODE, TOPIC = st.integers(0, 23), st.integers(0, 11)
"""Taken modulo what there is."""


class Churning(RuleBasedStateMachine):
    """Nodes come and go, topics are taken up and dropped, links get other costs or may be used no more; now and then
    the overlay is refreshed, from a batch of changes or as a stored one, or designed anew."""

    steps_done: ClassVar[list[int]] = []
    ratios: ClassVar[list[float]] = []

    @initialize(
        seed=SEEDS,
        n_nodes=st.integers(8, 24),
        n_topics=st.integers(3, 12),
        objective=st.sampled_from((COST, COST, DEGREE)),
        exchange=st.sampled_from((24, 24, 2)),
        complete=st.booleans(),
        costs=st.sampled_from(((10, 40), (1, 1))),
    )
    def design(self, seed, n_nodes, n_topics, objective, exchange, complete, costs):
        rng = np.random.default_rng(seed)
        self.options = Options(churn=ChurnOptions(objective=objective, exchange=exchange))
        self.wants = rng.random((n_nodes, n_topics)) < 0.4
        self.least, self.most = costs
        self.complete = complete
        pairs = [pair for pair in combinations(range(n_nodes), 2) if complete or rng.random() < 0.7]
        self.costs = {pair: int(rng.integers(self.least, self.most + 1)) for pair in pairs}
        self.steps = 0
        self.redesign()

    def problem(self):
        """What is wanted now, at the costs of now."""
        n_nodes, n_topics = self.wants.shape
        rows = np.array([(*pair, cost) for pair, cost in self.costs.items()], np.int64).reshape(-1, 3)
        costs = listed_costs(*rows.T)
        if self.complete:
            table = np.ones((n_nodes, n_nodes), np.int64)
            table[costs.src, costs.dst] = table[costs.dst, costs.src] = costs.values
            costs = matrix_costs(table)
        return Instance.from_pairs(n_nodes, n_topics, *np.nonzero(self.wants), costs)

    def designed(self, instance):
        return greedy(instance) if self.options.churn.objective == COST else low_degree(instance)

    @invariant()
    def count(self):
        self.steps = getattr(self, "steps", 0) + 1

    @rule(node=NODE, seed=SEEDS)
    def join(self, node, seed):
        node %= len(self.wants)
        if not self.wants[node].any():
            self.wants[node] = np.random.default_rng(seed).random(self.wants.shape[1]) < 0.5

    @rule(node=NODE)
    def leave(self, node):
        self.wants[node % len(self.wants)] = False

    @rule(node=NODE, topic=TOPIC)
    def subscribe(self, node, topic):
        self.wants[node % len(self.wants), topic % self.wants.shape[1]] = True

    @rule(node=NODE, topic=TOPIC)
    def unsubscribe(self, node, topic):
        self.wants[node % len(self.wants), topic % self.wants.shape[1]] = False

    @rule(seed=SEEDS)
    def recost(self, seed):
        rng = np.random.default_rng(seed)
        pairs = sorted(self.costs)
        for i in set(rng.integers(0, len(pairs), 3).tolist()) if pairs else ():
            if not self.complete and rng.random() < 0.3:
                del self.costs[pairs[i]]
            else:
                self.costs[pairs[i]] = int(rng.integers(self.least, self.most + 1))

    @rule()
    def redesign(self):
        self.served = self.problem()
        self.links = self.designed(self.served)

    @rule(from_store=st.booleans())
    def refresh(self, from_store):
        now = self.problem()
        if from_store:
            touched, before, found = self.refreshed_store(now)
        else:
            batch = batch_between(self.served, self.links, now, self.options)
            touched, before = batch.churn.touched, batch.links.pairs()
            found = kept_up(
                SubOverlays.of(now, batch.links), batch.links, batch.churn, batch.backups_of, self.options
            ).links
        assert checks.joins_all_that_can_be(now, found)
        assert checks.is_topic_connected(now, found) or not self.complete
        wants, pairs, allowed = naive.interests(now), set(found.pairs()), naive.allowed(now)
        assert len(pairs) == len(found)
        assert found.cost.tolist() == [allowed[pair] for pair in found.pairs()]
        for u, v in pairs ^ set(before):  # links of untouched topics stay, and none comes for these alone
            shared = touched[sorted(wants[u] & wants[v])]
            assert shared.any() if (u, v) in pairs else shared.all()
        self.assert_about_as_good_as_new(found, self.designed(now))
        self.served, self.links = now, found

    def refreshed_store(self, now):
        """As the refresh job does, with numbers for those only who are there."""
        there, small, stored, changes = stored_between(self.served, self.links, now)
        found = refreshed(small, stored, changes, self.options)
        links = found.links.renumbered(there)
        told = faults(small, found.links)
        assert set(told) <= {"apart"}
        assert told.get("apart", np.empty(0)).tolist() == naive.broken_topics(now, links.pairs())
        allowed = naive.allowed(now)
        before = [pair for pair in self.links.pairs() if pair in allowed]
        stays = [pair for pair, stays in zip(self.links.pairs(), found.stays.tolist(), strict=True) if stays]
        assert links.pairs()[: len(stays)] == stays
        return found.touched, before, links

    def assert_about_as_good_as_new(self, found, fresh):
        by_cost = self.options.churn.objective == COST
        spent, least = (links.total_cost if by_cost else len(links) for links in (found, fresh))
        assert spent <= DEARER * least
        if least:
            self.ratios.append(spent / least)

    def teardown(self):
        if hasattr(self, "links"):
            self.refresh(from_store=bool(self.steps % 2))
            self.steps_done.append(self.steps)


def test_overlay__is_right_and_light_through_any_history():
    """How many histories, and of how many steps, is told by what was done: an interrupted search does less."""
    Churning.steps_done.clear()
    Churning.ratios.clear()
    run_state_machine_as_test(Churning, settings=settings(max_examples=RUNS, stateful_step_count=STEPS))
    assert len(Churning.steps_done) >= RUNS
    assert sum(Churning.steps_done) >= 0.8 * RUNS * STEPS
    assert np.mean(Churning.ratios) < 1.1
