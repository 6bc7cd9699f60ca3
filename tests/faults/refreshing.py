"""An overlay over tables that change, for tests that break refreshes of it: what is there, and what should be."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import combinations, count
from pathlib import Path

import numpy as np

from overlay_spark.jobs.inputs import Inputs
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Reference
from tests import plain_delta

TABLES = (
    catalog.OVERLAY_LINKS,
    catalog.OVERLAY_TOPICS,
    catalog.OVERLAY_NODES,
    catalog.OVERLAY_BACKUPS,
    catalog.OVERLAY_STATE,
)
"""What a refresh writes beside ``overlay_changes`` and ``runs``."""
FEED = {"delta.enableChangeDataFeed": "true"}


@dataclass(frozen=True)
class World:
    """Delta tables of subscriptions and of what links cost, in a folder."""

    folder: Path

    @property
    def inputs(self):
        return Inputs(self._reference("subscriptions"), link_costs=self._reference("link_costs"))

    @property
    def flags(self):
        return [
            *("--subscriptions", str(self._reference("subscriptions"))),
            *("--link-costs", str(self._reference("link_costs"))),
        ]

    def _reference(self, name):
        return Reference("delta", f"{self.folder}/{name}")

    def begin(self, spark, wanted, costs):
        """``wanted`` are pairs of node and topic; ``costs`` says what the link between two nodes costs."""
        rows = catalog.SUBSCRIPTIONS.rows(spark, sorted(wanted)).coalesce(1)
        rows.write.format("delta").options(**FEED).save(f"{self.folder}/subscriptions")
        self.price(spark, costs)

    def price(self, spark, costs):
        rows = catalog.LINK_COSTS.rows(spark, [(*pair, float(cost)) for pair, cost in sorted(costs.items())])
        rows.coalesce(1).write.format("delta").mode("overwrite").save(f"{self.folder}/link_costs")

    def change(self, spark, before, now):
        """From some subscriptions to others: those that go and those that come, in a commit each."""
        gone, came = before - now, now - before
        place = f"{self.folder}/subscriptions"
        if gone:
            pairs = ", ".join(f"('{node}', '{topic}')" for node, topic in sorted(gone))
            spark.sql(f"DELETE FROM delta.`{place}` WHERE (node_id, topic_id) IN ({pairs})")
        if came:
            rows = catalog.SUBSCRIPTIONS.rows(spark, sorted(came)).coalesce(1)
            rows.write.format("delta").mode("append").save(place)


class Drawn:
    """Subscriptions and costs drawn at random, a few of them anew at each :meth:`step`."""

    def __init__(self, seed, nodes, topics, density=0.4):
        self._rng, self._few = np.random.default_rng(seed), max(1, nodes // 20)
        self._all = self._rng.random((2 * nodes, topics)) < density
        self._all[~self._all.any(axis=1), 0] = True
        self._wants = self._all.copy()
        self._wants[nodes:] = False
        self.costs = {named(pair): int(self._rng.integers(10, 41)) for pair in combinations(range(2 * nodes), 2)}

    @property
    def wanted(self):
        return pairs_of(self._wants)

    def step(self):
        """A twentieth of the nodes leaves, as many join, and as many want another topic in place of one; a tenth of all
        links costs a little more or less."""
        there, absent = (
            self._rng.permutation(np.flatnonzero(self._wants.any(axis=1) == is_there)) for is_there in (True, False)
        )
        self._wants[there[: self._few]] = False
        self._wants[absent[: self._few]] = self._all[absent[: self._few]]
        for node in there[self._few : 2 * self._few]:
            old, new = (self._rng.choice(np.flatnonzero(self._wants[node] == wants)) for wants in (True, False))
            self._wants[node, [old, new]] ^= True
        for pair in list(self.costs):
            if self._rng.random() < 0.1:
                self.costs[pair] = max(10, self.costs[pair] + int(self._rng.integers(-1, 2)))


def named(nodes):
    return tuple(f"n{node:03d}" for node in nodes)


def pairs_of(wants):
    return {(f"n{node:03d}", f"t{topic:03d}") for node, topic in np.argwhere(wants).tolist()}


def stored(place):
    """All that an overlay's tables say, but for ids of runs and times; changes by the generation they led to."""
    found = {table.name: rows_of(place, table) for table in TABLES}
    changes = place.table(catalog.OVERLAY_CHANGES.name)
    links = plain_delta.commits(place.table(catalog.OVERLAY_LINKS.name))
    told = {commit["run_id"]: commit["generation"] for commit in links if "generation" in commit}
    rows = plain_delta.read(changes) if plain_delta.exists(changes) else []
    columns = [name for name in catalog.OVERLAY_CHANGES.schema.names if name != "run_id"]
    found["overlay_changes"] = sorted((told[row["run_id"]], *(row[name] for name in columns)) for row in rows)
    found["generations"] = sorted(told.values())
    return found


def rows_of(place, table):
    reference = place.table(table.name)
    return plain_delta.sorted_rows(reference) if plain_delta.exists(reference) else None


def runs_of(place):
    """The runs that left a row, by their ids."""
    return {row["run_id"]: row for row in plain_delta.read(place.table(catalog.RUNS.name))}


def open_rows(place):
    return [run_id for run_id, row in runs_of(place).items() if row["status"] == "running"]


def versions(place):
    """How many commits each table has."""
    return {path.name: plain_delta.n_commits(path) for path in Path(place.place).iterdir()}


class Ended(BaseException):
    """As if the process was no more."""


@contextmanager
def ended_after(commits):
    """For so long all commits fail but the first of them, as if the process was no more."""
    numbers, tried = count(1), delta.tried

    def few(commit):
        if next(numbers) > commits:
            raise Ended
        tried(commit)

    delta.tried = few
    try:
        with suppress(Ended):
            yield
    finally:
        delta.tried = tried
