"""Compile kernels where they will run, while tables are read: a tiny problem is solved in a task beside.

The task's Python stays, with all it has imported, for the solving task; and its machine keeps the code.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from overlay_spark.algorithms.clustering import centres_of
from overlay_spark.algorithms.registry import find, find_bound, find_step
from overlay_spark.costs import site_costs
from overlay_spark.engines import PARTED
from overlay_spark.instance import Instance
from overlay_spark.options import Options

log = logging.getLogger(__name__)

_warm: set[tuple[str, ...]] = set()
"""What tasks of this process's sessions have compiled already."""


class Warming:
    """A warming under way; :meth:`wait` before the kernels are needed, else they are compiled twice."""

    def __init__(self, spark: SparkSession, options: Options):
        self._spark, self._options = spark, options
        design = options.design
        self._names = (design.algorithm, design.bound or "", design.engine, *design.then)
        self._thread = threading.Thread(target=self._run, name="overlay-spark-warming", daemon=True)
        if self._names not in _warm:
            self._thread.start()

    def wait(self) -> None:
        """Until the kernels are there."""
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        sections = self._options.to_mapping()

        def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            solve_tiny(Options.from_mapping(sections))
            yield from batches

        try:
            self._spark.range(0, 1, 1, 1).mapInArrow(work, "id bigint").collect()
            _warm.add(self._names)
        except Exception as error:  # what is wrong will show where it matters
            log.debug("Kernels could not be compiled ahead: %s", error)


def solve_tiny(options: Options) -> int:
    """Run all that a design would run on two nodes; gives back how many links were found."""
    both = np.zeros(2, np.int64)
    instance = Instance.from_pairs(2, 1, np.arange(2), both, site_costs(both, np.ones((1, 1))))
    if options.design.engine == PARTED:
        n_links = _solve_tiny_in_parts(instance, options)
    else:
        links = find(options.design.algorithm)(instance, options)
        for name in options.design.then:
            links = find_step(name)(instance, links, options)
        n_links = len(links)
    if options.design.bound is not None:
        find(find_bound(options.design.bound).algorithm)(instance, options)
    return n_links


def _solve_tiny_in_parts(instance: Instance, options: Options) -> int:
    from overlay_spark.engines.divide import DRIVER, join_groups, solve_part
    from overlay_spark.frames.task_rows import Task

    centres_of(np.zeros((2, 1)), 1)
    nothing, apart = instance.links_between(np.empty(0), np.empty(0)), np.arange(instance.n_subscriptions)
    task = Task(instance, nothing, components=apart, beyond=np.ones(len(apart), bool))
    return len(solve_part(task, options).links) + len(join_groups(task, options, DRIVER, False).links)
