"""One row in ``runs`` for every run that writes: opened before anything else is written, closed after all else is.

A run that was killed leaves its row open, at ``running``; the next run here that finds it so closes it as ``killed``.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

import overlay_spark
from overlay_spark.errors import GuardError, InputError, OptionError
from overlay_spark.options import Options
from overlay_spark.side_by_side import Ahead
from overlay_spark.tables import catalog, delta
from overlay_spark.tables.references import Destination

log = logging.getLogger(__name__)

RUNNING, DONE, REFUSED, FAILED, KILLED = "running", "done", "refused", "failed", "killed"
LONGEST_RUN = timedelta(days=2)
"""A row that is open for longer was left behind, wherever its process ran."""


def new_run_id() -> str:
    return str(uuid.uuid4())


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(kw_only=True)
class Run:
    """A run under way; the job fills in what it learns."""

    job: str
    options: Options
    run_id: str = field(default_factory=new_run_id)
    clock: Callable[[], datetime] = now
    algorithm: str | None = None
    engine: str | None = None
    seed: int | None = None
    """Of what is drawn, where it is not ``design.seed``."""
    generation: int | None = None
    """Which overlay of this place the run computes, counted from 0."""
    new: frozenset[str] = frozenset()
    """Names of the tables that were found missing at the output, and are not looked for again."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    status: str = DONE
    message: str | None = None
    opened: Ahead[None] = field(default_factory=lambda: Ahead(lambda: None))
    """Waits until the run's row is there; nothing else may be written before."""

    @property
    def metadata(self) -> dict[str, Any]:
        """What each commit of this run says of itself."""
        versions, times = ({name: given.get(what) for name, given in self.inputs.items()} for what in ("version", "at"))
        told = {"run_id": self.run_id, "job": self.job, "generation": self.generation, "inputs": versions}
        told["input_times"] = {name: at for name, at in times.items() if at is not None}
        return told if self.algorithm is None else {**told, "algorithm": self.algorithm}


@contextmanager
def recorded(spark: SparkSession, output: Destination | None, run: Run) -> Iterator[Run]:
    """Open the run's row in ``runs`` at the output (none: write nothing), run the body, close the row.

    The row is opened while the body begins: before it writes anything, it calls ``run.opened``. Errors pass through.
    """
    started = run.clock()
    if output is not None:
        run.opened = Ahead(partial(_open, spark, output, replace(run), started))
        run.opened.begin()
    try:
        yield run
        run.opened()
    except BaseException as error:
        refused = isinstance(error, GuardError | InputError | OptionError)
        run.status, run.message = (REFUSED if refused else FAILED), f"{type(error).__name__}: {error}"
        try:
            if output is not None:
                run.opened()
                _write(spark, output, run, started, run.status, run.message)
        except Exception as second:  # what stops the run is the first error, not this one
            log.warning("The row of this run could not be written to %s: %s", output, second)
        raise
    if output is not None:
        _write(spark, output, run, started, run.status, run.message)


def _open(spark: SparkSession, output: Destination, run: Run, started: datetime) -> None:
    is_new = catalog.RUNS.name in run.new or not delta.exists(spark, output.table(catalog.RUNS.name))
    if not is_new:
        close_those_killed(spark, output, run)
    _write(spark, output, run, started, RUNNING, _where_it_runs(), is_new)


def _write(
    spark: SparkSession,
    output: Destination,
    run: Run,
    started: datetime,
    status: str,
    message: str | None,
    is_new: bool = False,
) -> None:
    row = {
        **{f: getattr(run, f) for f in ("run_id", "job", "algorithm", "engine", "generation")},
        "options": json.dumps(asdict(run.options), sort_keys=True),
        "seed": run.options.design.seed if run.seed is None else run.seed,
        "inputs": json.dumps(run.inputs, sort_keys=True),
        "started": started,
        "finished": started if status == RUNNING else run.clock(),
        "status": status,
        "message": message,
        "metrics": json.dumps(run.metrics, sort_keys=True) if run.metrics else None,
        "package_version": overlay_spark.__version__,
    }
    frame = catalog.RUNS.rows(spark, [[row[name] for name in catalog.RUNS.schema.names]]).coalesce(1)
    place = output.table(catalog.RUNS.name)
    if status == RUNNING:
        delta.append(catalog.RUNS, frame, place, run.metadata, is_new)
    else:
        delta.replace_run(catalog.RUNS, frame, place, run.run_id, run.metadata)


def _where_it_runs() -> str:
    return f"process {os.getpid()} on {platform.node()}"


def close_those_killed(spark: SparkSession, output: Destination, run: Run) -> None:
    """Close the rows that runs left open which are no more; of a run on another machine only its age tells."""
    place = output.table(catalog.RUNS.name)
    known = delta.read(spark, place)
    for row in known.where(F.col("status") == RUNNING).collect():  # seldom any
        if _is_gone(row, run.clock()):
            ended = {**row.asDict(), "status": KILLED, "finished": run.clock()}
            ended["message"] = f"It was killed or lost: its row was still open ({row['message']})."
            frame = catalog.RUNS.rows(spark, [[ended.get(name) for name in catalog.RUNS.schema.names]]).coalesce(1)
            delta.replace_run(catalog.RUNS, frame, place, row["run_id"], run.metadata)
            log.warning("An earlier run here was killed: %s, begun at %s.", row["job"], row["started"])


def close_killed(spark: SparkSession, output: Destination, options: Options) -> None:
    """Close the rows of runs that are no more, where nothing else is to be written."""
    if delta.exists(spark, output.table(catalog.RUNS.name)):
        close_those_killed(spark, output, Run(job="refresh", options=options))


def options_of(spark: SparkSession, output: Destination, run_id: str) -> Options | None:
    """The options a run had; None where its row is not there."""
    place = output.table(catalog.RUNS.name)
    if not delta.exists(spark, place):
        return None
    found = delta.read(spark, place).where(F.col("run_id") == run_id).select("options").first()
    return None if found is None else Options.from_mapping(json.loads(found["options"]), "table runs")


def _is_gone(row: Row, at: datetime) -> bool:
    process, _, machine = str(row["message"]).removeprefix("process ").partition(" on ")
    if machine == platform.node() and process.isdecimal():
        return not _is_alive(int(process))
    began: datetime = row["started"]
    return at - began.astimezone(UTC) > LONGEST_RUN


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
