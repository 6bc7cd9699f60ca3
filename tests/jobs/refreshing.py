"""A problem as Delta tables that change, and what an overlay's tables must say of it, found in another way."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overlay_spark.jobs.inputs import Inputs
from overlay_spark.options import Options, RefreshOptions
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination, Reference
from tests import naive, plain_delta

LISTED, SITES, POINTS = FORMS = ("listed", "sites", "points")
FEED = {"delta.enableChangeDataFeed": "true"}
ANY = 1000.0
LOOSE = replace(
    Options(),
    refresh=RefreshOptions(most_added=ANY, most_removed=ANY, most_recosted=ANY, most_nodes_lost=ANY, most_drift=ANY),
)
"""Nothing is guarded: of small overlays every change is a large share."""
DERIVED = ("overlay_topics", "overlay_nodes", "overlay_backups", "overlay_changes", "overlay_state")

Wants = set[tuple[str, str]]
Pair = tuple[str, str]


def pair(a: str, b: str) -> Pair:
    """In the order of their ids' UTF-8 bytes."""
    return (a, b) if a.encode() < b.encode() else (b, a)


@dataclass
class World:
    """Who wants what, where nodes are, and what links cost, in a folder of Delta tables. Change it, then ``write``."""

    folder: Path
    form: str
    wants: Wants
    places: dict[str, Any] = field(default_factory=dict)
    """The site of each node, or its coordinates; None with listed costs."""
    costs: dict[Pair, float] = field(default_factory=dict)
    """Of listed links, or between sites."""
    nodes_given: bool = True
    _written: dict[str, Any] = field(default_factory=dict)

    @property
    def out(self) -> Destination:
        return Destination.parse(f"{self.folder}/out")

    @property
    def inputs(self) -> Inputs:
        return Inputs(
            self.at("subscriptions"),
            nodes=self.at("nodes") if self.nodes_given else None,
            link_costs=self.at("link_costs") if self.form == LISTED else None,
            site_costs=self.at("site_costs") if self.form == SITES else None,
        )

    @property
    def flags(self) -> list[str]:
        given = {t.name.replace("_", "-"): reference for t, reference in self.inputs.by_table().items()}
        costs = ["--coordinates"] if self.form == POINTS else []
        return [*(f"--{name}={reference}" for name, reference in given.items()), *costs, f"--output={self.out}"]

    def at(self, name: str) -> Reference:
        return Reference("delta", f"{self.folder}/in/{name}")

    def sql_name(self, name: str) -> str:
        return f"delta.`{self.folder}/in/{name}`"

    def copy(self, folder: Path) -> World:
        """The same world elsewhere, with its overlay."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        state = {name: type(value)(value) for name, value in vars(self).items() if isinstance(value, set | dict)}
        return replace(self, folder=folder, **state)

    def write(self, spark: Any) -> None:
        """Bring the tables to what is here, in as few commits as may be; subscriptions by what goes and what comes."""
        before = self._written.get("wants", set())
        gone, came = before - self.wants, self.wants - before
        if "wants" not in self._written:
            _append(spark, catalog.SUBSCRIPTIONS, self.wants, self.at("subscriptions"))
        else:
            if gone:
                self.delete(spark, gone)
            if came:
                _append(spark, catalog.SUBSCRIPTIONS, came, self.at("subscriptions"))
        tables = {catalog.NODES: self._node_rows()} if self.nodes_given else {}
        if self.form != POINTS:
            table = catalog.LINK_COSTS if self.form == LISTED else catalog.SITE_COSTS
            tables[table] = [(*ends, cost) for ends, cost in self.costs.items()]
        for table, rows in tables.items():
            if self._written.get(table.name) != rows:
                frame = table.rows(spark, rows).coalesce(1)
                frame.write.format("delta").mode("overwrite").save(self.at(table.name).place)
            self._written[table.name] = rows
        self._written["wants"] = set(self.wants)

    def delete(self, spark: Any, wants: Wants) -> None:
        gone = ", ".join(f"('{node}', '{topic}')" for node, topic in sorted(wants))
        spark.sql(f"DELETE FROM {self.sql_name('subscriptions')} WHERE (node_id, topic_id) IN ({gone})")

    def _node_rows(self) -> list[tuple[Any, ...]]:
        if self.form == POINTS:
            return [(node, None, list(place), None) for node, place in self.places.items()]
        return [(node, site, None, None) for node, site in self.places.items()]

    def cost(self, a: str, b: str) -> float | None:
        """What a link costs; None where it may not be used."""
        if self.form == LISTED:
            return self.costs.get(pair(a, b))
        if self.form == SITES:
            return self.costs[min(ends := (self.places[a], self.places[b])), max(ends)]
        return max(1, math.floor(math.dist(self.places[a], self.places[b]) / 1e-6 + 0.5)) / 1e6

    def topics_of(self, *nodes: str) -> set[str]:
        """The topics that all of these nodes want."""
        return set.intersection(*({topic for node, topic in self.wants if node == name} for name in nodes))

    def members(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for node, topic in self.wants:
            found.setdefault(topic, set()).add(node)
        return found

    @property
    def nodes(self) -> set[str]:
        return set(self.places) if self.nodes_given else {node for node, _ in self.wants}


def _append(spark: Any, table: Any, rows: Any, reference: Reference) -> None:
    frame = table.rows(spark, sorted(rows)).coalesce(1)
    frame.write.format("delta").options(**FEED).mode("append").save(reference.place)


@dataclass(frozen=True)
class Stored:
    """All that an overlay's tables say; ids of runs and times apart."""

    links: dict[Pair, tuple[Any, ...]]
    topics: dict[str, tuple[Any, ...]]
    nodes: dict[str, tuple[Any, ...]]
    backups: dict[str, set[tuple[str, int]]] | None
    changes: list[tuple[Any, ...]]
    """Without ids of runs, in order."""
    state: list[tuple[Any, ...]]
    metadata: dict[str, Any]
    version: int
    runs: list[Any]


def stored(spark: Any, place: Destination) -> Stored:
    rows = {name: _rows(spark, place, name) for name in ("overlay_links", *DERIVED, "runs")}
    links, topics, nodes, backups, changes, state, runs = rows.values()
    kept: dict[str, set[tuple[str, int]]] = {}
    for row in backups or []:
        assert row["backup_id"] not in {b for b, _ in kept.get(row["node_id"], ())}
        kept.setdefault(row["node_id"], set()).add((row["backup_id"], row["layer"]))
    (commit,) = delta.commits(spark, place.table("overlay_links"), 1)
    return Stored(
        links=_by_key(links, 2),
        topics=_by_key(topics, 1),
        nodes=_by_key(nodes, 1),
        backups=None if backups is None else kept,
        changes=sorted((_generation(runs, row), *row[1:]) for row in changes or []),
        state=sorted(tuple(row) for row in state or []),
        metadata=commit.metadata,
        version=commit.version,
        runs=sorted(runs or [], key=lambda row: row["started"]),
    )


def _generation(runs: list[Any], change: Any) -> int:
    return next(int(row["generation"]) for row in runs if row["run_id"] == change["run_id"])


def _rows(spark: Any, place: Destination, name: str) -> list[Any] | None:
    if not Path(place.table(name).place).exists():
        return None
    return plain_delta.read(place.table(name))


def _by_key(rows: Any, width: int) -> dict[Any, tuple[Any, ...]]:
    found = {row[0] if width == 1 else tuple(row[:width]): tuple(row) for row in rows or []}
    assert len(found) == len(rows or [])
    return found


def commits(folder: str | Path) -> dict[str, int]:
    """How many commits each table under a folder has."""
    logs = Path(folder).rglob("_delta_log/*.json")
    found: dict[str, int] = {}
    for log in logs:
        found[log.parent.parent.name] = found.get(log.parent.parent.name, 0) + 1
    return found


def require_right(world: World, links: dict[Pair, tuple[Any, ...]]) -> None:
    """Every topic connected, by links that may be used, rightly priced and of use."""
    for (a, b), row in links.items():
        assert (a, b) == pair(a, b)
        assert row[2] == world.cost(a, b)
        assert row[3] == len(world.topics_of(a, b)) > 0
    for nodes in world.members().values():
        numbers = {node: i for i, node in enumerate(nodes)}
        inner = [(numbers[a], numbers[b]) for a, b in links if {a, b} <= nodes]
        assert len(set(naive.components(range(len(nodes)), inner).values())) == 1


def sub_overlays(world: World, links: dict[Pair, tuple[Any, ...]]) -> dict[str, Any]:
    """(nodes, links and their costs) of each topic."""
    return {
        topic: (nodes, {ends: row[2] for ends, row in links.items() if set(ends) <= nodes})
        for topic, nodes in world.members().items()
    }


def require_refreshed(before: World, world: World, old: Stored, new: Stored) -> set[str]:
    """Whether a refresh led from one to the other as it should. Gives back the topics that something happened to."""
    require_right(world, new.links)
    was, now = before.members(), world.members()
    touched = {topic for topic in {*was, *now} if was.get(topic) != now.get(topic)}
    for a, b in old.links:
        if {a, b} <= world.nodes and world.cost(a, b) is None:
            touched |= world.topics_of(a, b)
    for (a, b), row in old.links.items():
        serves = world.topics_of(a, b) if {a, b} <= world.nodes else set()
        if serves - touched:
            assert new.links[a, b][:2] + new.links[a, b][3:] == row[:2] + row[3:] or serves & touched
            assert new.links[a, b] == row or world.cost(a, b) != row[2] or serves & touched
    for a, b in set(new.links) - set(old.links):
        assert world.topics_of(a, b) & touched
    _require_commit(old, new)
    _require_changes(old, new)
    subs = [sub_overlays(*given) for given in ((before, old.links), (world, new.links))]
    for topic, (nodes, links) in subs[1].items():
        known = old.topics[topic][4:] if subs[0].get(topic) == (nodes, links) else (None, None)
        assert new.topics[topic] == (topic, len(nodes), len(links), 1, *known)
    assert set(new.topics) == set(now)
    _require_nodes(world, old, new)
    _require_backups(before, world, old, new)
    return touched


def _require_commit(old: Stored, new: Stored) -> None:
    assert new.version == old.version + 1
    assert new.metadata["generation"] == old.metadata["generation"] + 1
    assert (new.metadata["job"], new.metadata["algorithm"]) == ("refresh", old.metadata["algorithm"])
    run = new.runs[-1]
    assert (run["job"], run["status"], run["generation"]) == ("refresh", "done", new.metadata["generation"])
    assert run["run_id"] == new.metadata["run_id"]
    told = {name: about["version"] for name, about in json.loads(run["inputs"]).items()}
    assert told == new.metadata["inputs"]


def _require_changes(old: Stored, new: Stored) -> None:
    mine = [row[1:] for row in new.changes if row[0] == new.metadata["generation"]]
    assert [row[0] for row in mine] == list(range(len(mine)))
    added, removed = ([row for row in mine if row[1] == action] for action in ("add", "remove"))
    assert mine == added + removed
    assert {row[2:4]: row[4] for row in added} == {
        ends: row[2] for ends, row in new.links.items() if ends not in old.links
    }
    assert {row[2:4]: row[4] for row in removed} == {
        ends: row[2] for ends, row in old.links.items() if ends not in new.links
    }
    assert [row[2:4] for row in added] == sorted((row[2:4] for row in added), key=lambda ends: new.links[ends][6])
    metrics = json.loads(new.runs[-1]["metrics"])
    assert (metrics["added"], metrics["removed"]) == (len(added), len(removed))
    assert metrics["links"] == len(new.links)


def _require_nodes(world: World, old: Stored, new: Stored) -> None:
    assert set(new.nodes) == world.nodes
    for node, row in new.nodes.items():
        costs = [link[2] for ends, link in new.links.items() if node in ends]
        part = old.nodes[node][4:] if node in old.nodes else (None, False)
        assert row[:3] + row[4:] == (node, len(world.topics_of(node)), len(costs), *part)
        assert abs(row[3] - sum(costs)) < 1e-9


def _require_backups(before: World, world: World, old: Stored, new: Stored, coverage: int = 3) -> None:
    """A node's backups want its topics so often, as far as others do, or did when they were chosen."""
    assert new.backups is not None
    was, now = before.members(), world.members()
    assert set(new.backups) <= {node for node, _ in world.wants}
    for node in {node for node, _ in world.wants}:
        chosen = {backup for backup, _ in new.backups.get(node, ())}
        same = (old.backups or {}).get(node) == new.backups.get(node)
        assert all(world.topics_of(backup, node) for backup in chosen - {node})
        assert node not in chosen
        for topic in world.topics_of(node):
            others = len((now[topic] & was.get(topic, set()) if same else now[topic]) - {node})
            assert len(chosen & now[topic]) >= min(coverage, others)
