"""Which overlay a place holds: its generation, who wrote it, and which tables beside it are of another."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from overlay_spark.errors import GuardError, InputError
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination

DERIVED = (catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)
"""Tables computed from ``overlay_links``, and committed after it."""


def require_writable(spark: SparkSession, output: Destination) -> None:
    """Refuse a place that cannot be written, or holds tables of another kind, before anything is read or computed.

    Of a folder that this machine does not mount, the first commit tells.
    """
    if output.kind == "table":
        if not spark.catalog.databaseExists(output.place):
            raise InputError([f"{output}: there is no such schema. Create it, or give another --output."])
    else:
        _require_folder(output)
    delta.require_own_columns(spark, {t: output.table(t.name) for t in (catalog.OVERLAY_LINKS, *DERIVED, catalog.RUNS)})


def _require_folder(output: Destination) -> None:
    place = Path(output.place)
    if ":" in output.place:
        return
    nearest = next(folder for folder in (place, *place.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError([f"{output}: {nearest} is not a folder that can be written. Give another --output."])


def next_generation(spark: SparkSession, output: Destination) -> int:
    """The generation a run that begins now would write."""
    place = output.table(catalog.OVERLAY_LINKS.name)
    if not delta.exists(spark, place):
        return 0
    return _generation(spark, output, catalog.OVERLAY_LINKS.name) + 1


def lost_race(output: Destination) -> GuardError:
    """What a run says that another was quicker than."""
    return GuardError(
        f"Another run wrote overlay_links at {output} meanwhile, so this overlay was not written. Run again to start "
        "from what is there now."
    )


def stale_tables(spark: SparkSession, overlay: Destination) -> tuple[str, ...]:
    """A sentence for each derived table that is not of the links' generation: a run ended between the commits."""

    def generation(name: str) -> int | None:
        return _generation(spark, overlay, name) if delta.exists(spark, overlay.table(name)) else None

    names = [table.name for table in (catalog.OVERLAY_LINKS, *DERIVED)]
    links, *others = side_by_side([partial(generation, name) for name in names])
    told = []
    for table, found in zip(DERIVED, others, strict=True):
        if found != links:
            what = "is missing" if found is None else f"is of generation {found}"
            told.append(f"{table.name} {what}, but overlay_links of generation {links}: design again to renew it.")
    return tuple(told)


def _generation(spark: SparkSession, output: Destination, name: str) -> int:
    """The generation that the newest commit of ours names, -1 where none does; others may only tidy files up."""
    told = (commit.metadata.get("generation") for commit in delta.commits(spark, output.table(name)))
    return next((int(generation) for generation in told if generation is not None), -1)
