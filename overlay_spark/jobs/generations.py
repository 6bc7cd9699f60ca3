"""Which overlay a place holds: its generation, who wrote it, and which tables beside it are of another."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from overlay_spark.api import Progress
from overlay_spark.errors import FeedError, GuardError, InputError
from overlay_spark.side_by_side import Ahead, beginning, side_by_side
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.contract import Table
from overlay_spark.tables.references import Destination

DERIVED = (catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)
"""Tables computed from ``overlay_links``, and committed after it."""
SAME_TIME = 1000
"""Delta tells the time of a commit by its file's, shifted by milliseconds where several have the same."""
OF_REFRESHES = (catalog.OVERLAY_STATE, catalog.OVERLAY_CHANGES, catalog.OVERLAY_BACKUPS)
"""Tables that refreshes commit beside them, the last one for small overlays only."""


def require_writable(spark: SparkSession, output: Destination, also: Sequence[Table] = ()) -> frozenset[str]:
    """Refuse a place that cannot be written, or holds tables of another kind, before anything is read or computed:
    those of a design, and ``also`` others. Gives back the names of the tables that are not there yet.

    Of a folder that this machine does not mount, the first commit tells.
    """
    if output.kind == "table":
        if not spark.catalog.databaseExists(output.place):
            raise InputError([f"{output}: there is no such schema. Create it, or give another --output."])
    else:
        _require_folder(output)
    tables = (catalog.OVERLAY_LINKS, *DERIVED, catalog.RUNS, *also)
    return delta.require_own_columns(spark, {table: output.table(table.name) for table in tables})


def looking_ahead(
    spark: SparkSession, output: Destination, also: Sequence[Table], new: frozenset[str], progress: Progress, at: str
) -> Progress:
    """The same ``progress``, but when it is told of step ``at``, in which a task is at work and the driver idle, the
    logs are read of the tables that a design will write, and ``also`` others: all but those that are ``new``."""
    tables = [t for t in (catalog.OVERLAY_LINKS, *DERIVED, catalog.RUNS, *also) if t.name not in new]
    looks = [partial(delta.look_ahead, spark, output.table(table.name)) for table in tables]
    return beginning(Ahead(partial(side_by_side, looks)), at, progress)


def _require_folder(output: Destination) -> None:
    place = Path(output.place)
    if ":" in output.place:
        return
    nearest = next(folder for folder in (place, *place.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError([f"{output}: {nearest} is not a folder that can be written. Give another --output."])


def next_generation(spark: SparkSession, output: Destination) -> int:
    """The generation a run that begins now would write."""
    stored = _stored_generation(spark, output, catalog.OVERLAY_LINKS.name)
    return 0 if stored is None else stored + 1


def lost_race(output: Destination) -> GuardError:
    """What a run says that another was quicker than."""
    return GuardError(
        f"Another run wrote overlay_links at {output} meanwhile, so this overlay was not written. Run again to start "
        "from what is there now."
    )


def stale_tables(spark: SparkSession, overlay: Destination) -> tuple[str, ...]:
    """A sentence for each derived table that is not of the links' generation: a run ended between the commits."""

    names = [table.name for table in (catalog.OVERLAY_LINKS, *DERIVED)]
    links, *others = side_by_side([partial(_stored_generation, spark, overlay, name) for name in names])
    told = []
    for table, found in zip(DERIVED, others, strict=True):
        if found != links:
            what = "is missing" if found is None else f"is of generation {found}"
            told.append(
                f"{table.name} {what}, but overlay_links of generation {links}: refresh or design again to renew it."
            )
    return tuple(told)


@dataclass(frozen=True, kw_only=True)
class Head:
    """The newest overlay of a place: its generation, the version of overlay_links it is, what its commit says of
    itself, and the names of tables committed after it that are of an earlier generation."""

    generation: int
    version: int
    metadata: Mapping[str, Any]
    unfinished: tuple[str, ...] = ()
    versions: Mapping[str, int] = field(default_factory=dict)
    """At which versions the tables committed after it are of its generation, by name."""
    tidied: int | None = None
    """The newest version with its links, where it may be another."""
    undone: delta.Commit | None = None
    """A commit since that is no run's and may have changed rows."""

    @property
    def run_id(self) -> str:
        return str(self.metadata.get("run_id"))

    @property
    def is_refreshed(self) -> bool:
        """Whether it was made of the one before: not by a design, nor by a refresh that designed anew."""
        return "quality" in self.metadata

    @property
    def algorithm(self) -> str | None:
        return self.metadata.get("algorithm")

    @property
    def inputs(self) -> Mapping[str, int | None]:
        """The versions of the tables it was computed from, by name."""
        return self.metadata.get("inputs") or {}

    @property
    def quality(self) -> Mapping[str, float]:
        """How it compares with a new design, as refreshes note it."""
        return self.metadata.get("quality") or {}

    @property
    def input_times(self) -> Mapping[str, int]:
        """When these versions were committed."""
        return self.metadata.get("input_times") or {}

    def is_current(self, described: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether it is whole, as it was written, and computed from just these tables as they are."""
        is_whole = not self.unfinished and self.undone is None
        return is_whole and set(self.inputs) == set(described) and self.is_of(described)

    def is_of(self, described: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether it was computed from these tables at these versions; of files without versions nobody knows."""
        return all(
            about["version"] is not None
            and about["version"] == self.inputs.get(name)
            and not self.is_of_another(name, about["at"])
            for name, about in described.items()
        )

    def is_of_another(self, name: str, at: int | None) -> bool:
        """Whether the version it was computed from is known to be of another table than one of that number that was
        committed ``at`` a time."""
        before = self.input_times.get(name)
        return before is not None and at is not None and abs(at - before) > SAME_TIME

    @property
    def derived(self) -> tuple[str, ...]:
        """The names of the tables committed after it."""
        return tuple(self.metadata.get("derived") or (table.name for table in DERIVED))

    def has_same_subscriptions(self, described: Mapping[str, Mapping[str, Any]]) -> bool:
        name = catalog.SUBSCRIPTIONS.name
        return self.is_of({name: described[name]})

    def before(self, spark: SparkSession, output: Destination) -> Head:
        """The overlay before this one."""
        told, *others = _commits(spark, output, (catalog.OVERLAY_LINKS, *DERIVED, *OF_REFRESHES))
        older = (c for c in told or () if c.version < self.version and _generation_of(c) is not None)
        found = next(older, None)
        if found is None:
            raise FeedError(f"{output}: the overlay before generation {self.generation} is no longer known.")
        generation = int(found.metadata["generation"])
        versions = _versions_at(generation, others)
        return Head(generation=generation, version=self.version - 1, metadata=found.metadata, versions=versions)

    def links(self, spark: SparkSession, output: Destination) -> DataFrame:
        """Its links."""
        version = self.version if self.tidied is None else self.tidied
        return delta.read(spark, output.table(catalog.OVERLAY_LINKS.name), version)

    def table(self, spark: SparkSession, output: Destination, table: Table) -> DataFrame | None:
        """A table committed after this overlay as it was then; None where it was not, or that is forgotten."""
        version = self.versions.get(table.name)
        return None if version is None else delta.read(spark, output.table(table.name), version)


def head_of(spark: SparkSession, output: Destination) -> Head | None:
    """The newest overlay of a place; None where there is none."""
    told, *others = _commits(spark, output, (catalog.OVERLAY_LINKS, *DERIVED, *OF_REFRESHES))
    if told is None:
        return None
    ours = next((c for c in told if _generation_of(c) is not None), None)
    if ours is None:
        links = output.table(catalog.OVERLAY_LINKS.name)
        raise InputError([f"{links}: no commit of this table says which overlay it is. Design the overlay anew."])
    generation = int(ours.metadata["generation"])
    since = [c for c in told if c.version > ours.version]
    head = Head(
        generation=generation,
        version=ours.version,
        metadata=ours.metadata,
        versions=_versions_at(generation, others),
        tidied=_tidied(told, ours),
        undone=next((c for c in since if c.is_of_rows), None),
    )
    newest = {
        t.name: next((g for c in commits or () if (g := _generation_of(c)) is not None), -1)
        for t, commits in zip((*DERIVED, *OF_REFRESHES), others, strict=True)
    }
    return replace(head, unfinished=tuple(name for name in head.derived if newest[name] < generation))


def _commits(spark: SparkSession, output: Destination, tables: Sequence[Table]) -> list[list[delta.Commit] | None]:
    """The newest commits of each table; None where there is no such table."""
    looks = [partial(delta.commits_if_any, spark, output.table(table.name)) for table in tables]
    return side_by_side(looks)


def _generation_of(commit: delta.Commit) -> int | None:
    generation = commit.metadata.get("generation")
    return None if generation is None else int(generation)


def _versions_at(generation: int, others: Sequence[list[delta.Commit] | None]) -> dict[str, int]:
    """The newest version of each table committed after the links that is of a generation."""
    found = {}
    for table, commits in zip((*DERIVED, *OF_REFRESHES), others, strict=True):
        ours = next((c for c in commits or () if _generation_of(c) == generation), None)
        if ours is not None:
            found[table.name] = _tidied(commits or (), ours)
    return found


def _tidied(told: Sequence[delta.Commit], ours: delta.Commit) -> int:
    """The newest version with the rows of ``ours``: where files were tidied up since, its own may be gone."""
    version = ours.version
    for commit in reversed([c for c in told if c.version > version]):
        if commit.is_of_rows:
            break
        version = commit.version
    return version


def _stored_generation(spark: SparkSession, output: Destination, name: str) -> int | None:
    """The generation that the newest commit of ours names, -1 where none does; others may only tidy files up. None
    where there is no such table."""
    commits = delta.commits_if_any(spark, output.table(name))
    if commits is None:
        return None
    return next((found for commit in commits if (found := _generation_of(commit)) is not None), -1)
