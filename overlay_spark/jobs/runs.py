"""One row in ``runs`` for every run that writes: done, refused, refuted or failed."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

import overlay_spark
from overlay_spark.errors import GuardError, InputError, OptionError
from overlay_spark.options import Options
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination

log = logging.getLogger(__name__)


def new_run_id() -> str:
    return str(uuid.uuid4())


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Run:
    """A run under way; the job fills in what it learns."""

    job: str
    options: Options
    run_id: str = field(default_factory=new_run_id)
    clock: Callable[[], datetime] = now
    algorithm: str | None = None
    engine: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    status: str = "done"
    message: str | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """What each commit of this run says of itself."""
        versions = {name: given.get("version") for name, given in self.inputs.items()}
        return {"run_id": self.run_id, "job": self.job, "inputs": versions}


@contextmanager
def recorded(spark: SparkSession, output: Destination | None, run: Run) -> Iterator[Run]:
    """Run the body, then add the run's row to ``runs`` at the output (none: write nothing). Errors pass through."""
    started = run.clock()
    try:
        yield run
    except BaseException as error:
        refused = isinstance(error, GuardError | InputError | OptionError)
        run.status, run.message = ("refused" if refused else "failed"), f"{type(error).__name__}: {error}"
        if output is not None:
            _try_record(spark, output, run, started)
        raise
    if output is not None:
        _record(spark, output, run, started)


def _try_record(spark: SparkSession, output: Destination, run: Run, started: datetime) -> None:
    """Record a run that is failing anyway; what stops it is the first error, not this one."""
    try:
        _record(spark, output, run, started)
    except Exception as error:
        log.warning("The row of this run could not be written to %s: %s", output, error)


def _record(spark: SparkSession, output: Destination, run: Run, started: datetime) -> None:
    row = {
        **{f: getattr(run, f) for f in ("run_id", "job", "algorithm", "engine", "status", "message")},
        "options": json.dumps(asdict(run.options), sort_keys=True),
        "seed": run.options.design.seed,
        "inputs": json.dumps(run.inputs, sort_keys=True),
        "started": started,
        "finished": run.clock(),
        "metrics": json.dumps(run.metrics, sort_keys=True) if run.metrics else None,
        "package_version": overlay_spark.__version__,
    }
    frame = catalog.RUNS.rows(spark, [[row[name] for name in catalog.RUNS.schema.names]])
    delta.append(catalog.RUNS, frame.coalesce(1), output.table("runs"), run.metadata)
