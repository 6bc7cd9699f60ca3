"""What Spark's event log says of a run: the rows and bytes that stages shuffled, and when."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROWS, BYTES = (f"internal.metrics.shuffle.write.{what}" for what in ("recordsWritten", "bytesWritten"))


class Shuffled(NamedTuple):
    """What was written to be read by other tasks."""

    rows: int
    n_bytes: int


def event_log(folder: str | Path) -> dict[str, str]:
    """Settings of a session that logs its events below a folder, which must be there."""
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(folder),
        "spark.eventLog.compress": "false",
        "spark.eventLog.logBlockUpdates.enabled": "false",
    }


def shuffled_between(folder: str | Path, times: Sequence[float]) -> list[Shuffled]:
    """What was shuffled from each time (seconds since 1970) to the next, by when a stage ended."""
    stages = list(_stages(Path(folder)))
    found = []
    for since, until in pairwise(times):
        these = [shuffled for ended, shuffled in stages if since < ended <= until]
        found.append(Shuffled(sum(s.rows for s in these), sum(s.n_bytes for s in these)))
    return found


def _stages(folder: Path) -> Iterator[tuple[float, Shuffled]]:
    """When each stage ended, and what it shuffled."""
    for log in sorted(path for path in folder.rglob("*") if path.is_file()):
        for line in log.read_text().splitlines():
            if '"SparkListenerStageCompleted"' not in line:
                continue
            stage = json.loads(line)["Stage Info"]
            told = {entry["Name"]: entry.get("Value", 0) for entry in stage["Accumulables"]}
            yield stage["Completion Time"] / 1000, Shuffled(int(told.get(ROWS, 0)), int(told.get(BYTES, 0)))
