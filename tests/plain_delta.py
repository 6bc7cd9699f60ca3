"""Delta tables in folders read without Spark, by their log and pyarrow: in no time, and as another program would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Row

from overlay_spark.tables.references import Reference

Place = str | Path | Reference


def exists(place: Place) -> bool:
    return bool(_log(place))


def n_commits(place: Place) -> int:
    return len(_log(place))


def commits(place: Place) -> list[dict[str, Any]]:
    """What each commit says of itself (``userMetadata``), newest first."""
    actions = [action for commit in reversed(_log(place)) for action in _actions(commit) if "commitInfo" in action]
    return [json.loads(action["commitInfo"].get("userMetadata") or "{}") for action in actions]


def read(place: Place) -> list[Row]:
    """The rows of the newest version, in any order."""
    files: dict[str, None] = {}
    for commit in _log(place):
        for action in _actions(commit):
            if "remove" in action:
                files.pop(action["remove"]["path"], None)
            if "add" in action:
                assert not action["add"].get("deletionVector")
                files[action["add"]["path"]] = None
    tables = [pq.ParquetFile(_folder(place) / unquote(path)).read() for path in files]
    rows = pa.concat_tables(tables, promote_options="default").to_pylist() if tables else []
    return [Row(**row) for row in rows]


def sorted_rows(place: Place) -> list[tuple[Any, ...]]:
    """The same, nulls last, as :func:`tests.problems.sorted_rows` gives them."""
    rows = map(tuple, read(place))
    return sorted(rows, key=lambda row: [(value is None, 0 if value is None else value) for value in row])


def _folder(place: Place) -> Path:
    return Path(place.place if isinstance(place, Reference) else place)


def _log(place: Place) -> list[Path]:
    return sorted((_folder(place) / "_delta_log").glob("*.json"))


def _actions(commit: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in commit.read_text().splitlines()]
