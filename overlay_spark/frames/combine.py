"""The combine step: parts joined through their representatives, near ones first, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from overlay_spark.algorithms.clustering import bisected, by_first
from overlay_spark.frames.answers import Answers, TaskFacts
from overlay_spark.frames.tasks import Groups
from overlay_spark.options import DivideOptions


@dataclass(frozen=True)
class Represented:
    """Parts, or groups of parts, by those who stand for them, with an entry for each in the arrays.

    ``standing`` (group, node, topics, components) are all representatives; of each group, numbered from 0, there are
    ``chosen`` with ``wanted`` subscriptions, and it is at a place.
    """

    standing: DataFrame
    chosen: NDArray[np.int64]
    wanted: NDArray[np.int64]
    places: NDArray[np.float64]

    @classmethod
    def by(cls, answers: Answers, facts: dict[int, TaskFacts], places: NDArray[np.float64]) -> Represented:
        """From what tasks answered; a part without subscriptions has no answer."""
        none = TaskFacts(0.0)
        told = [facts.get(group, none) for group in range(len(places))]
        counts = np.array([(fact.chosen, fact.wanted) for fact in told], np.int64).reshape(-1, 2)
        return cls(answers.standing, counts[:, 0], counts[:, 1], places)

    def __len__(self) -> int:
        return len(self.chosen)

    def groups(self, options: DivideOptions) -> NDArray[np.int64]:
        """Which of these go together next, as many as may be joined at once; all, where that is so few.

        Where no two may, pairs go together all the same, in tasks: whoever joins them says whether they fit.
        """
        labels = by_first(bisected(self.places, self.chosen, options.join_nodes, options.join_parts))
        if len(self) > 1 and labels.max() + 1 == len(self):
            labels = by_first(bisected(self.places, np.ones(len(self)), 2))
        return labels

    def together(self, labels: NDArray[np.int64]) -> Groups:
        """Groups of these as tasks get them; whether a topic is wanted beyond its group is found out where it matters.

        Two shuffles of what representatives want, by topic and group, and by topic; none for one group.
        """
        spark, count = self.standing.sparkSession, int(labels.max()) + 1
        into = pa.table({"group": pa.array(np.arange(len(self)), pa.int32()), "into": pa.array(labels, pa.int32())})
        nodes = self.standing.join(F.broadcast(spark.createDataFrame(into)), "group")
        nodes = nodes.select(F.col("into").alias("group"), "node", "topics", "components")
        beyond = None
        if count > 1:
            wanted = nodes.select("group", F.explode("topics").alias("topic")).distinct()
            several = wanted.groupBy("topic").agg(F.count(F.lit(1)).alias("n")).where("n > 1").select("topic")
            beyond = wanted.join(several, "topic")
        return Groups(nodes, count, int(self.wanted.sum()), beyond)

    def summed(self, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Nodes, subscriptions and the place of each group of these."""

        def total(of: NDArray[Any]) -> NDArray[np.int64]:
            return np.bincount(labels, of).astype(np.int64)

        places = np.zeros((int(labels.max()) + 1, self.places.shape[1]))
        np.add.at(places, labels, self.places)
        return total(self.chosen), total(self.wanted), places / np.bincount(labels)[:, None]
