"""Components of a growing overlay in Spark, and what the slow twin says of the same one."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.frames.candidates import candidates
from overlay_spark.frames.components import GROUPED, Components
from overlay_spark.frames.contributions import contributions, joined_components
from overlay_spark.instance import Instance
from overlay_spark.lab.shapes import problem_of
from tests import naive
from tests.problems import indexed


def stored(components):
    """{(topic, node): component} of the topics that are not connected yet."""
    return {
        (topic, row["node"]): component
        for row in components.by_node.collect()
        for topic, component in zip(row["topics"], row["components"], strict=True)
    }


@dataclass
class Growth:
    """An overlay that grows, link by link for the twin, by joins of components in Spark."""

    instance: Instance
    workspace: object
    components: Components
    twin: naive.Overlay
    left: object

    @classmethod
    def of(cls, spark, workspace, instance, method=GROUPED, small=True):
        problem = indexed(problem_of(spark, instance), workspace)
        start = Components.apart_all(problem, method, small, workspace)
        left = workspace.settle(candidates(problem, small).withColumnRenamed("shared_topics", "contribution"))
        return cls(instance, workspace, start, naive.Overlay(instance), left)

    def add(self, pairs):
        """Links that join different components each: one step in Spark."""
        chosen = self.left.sparkSession.createDataFrame(list(pairs), "src int, dst int")
        known = contributions(self.left.join(chosen, ["src", "dst"]), self.components)
        joins = joined_components(known, self.components).select("a", "b")
        n_joins = sum(len(self.twin.add(u, v)) for u, v in pairs)
        self.components = self.components.joining(self.workspace.settle(joins), n_joins, self.workspace)

    def expected(self):
        """{(topic, node): component}, each named by its least subscription."""
        found = {}
        for topic, labels in enumerate(self.twin.labels):
            if len(labels) < 2:
                continue
            least = {}
            for node in sorted(labels):
                least.setdefault(labels[node], topic * self.instance.n_nodes + node)
            found |= {(topic, node): least[label] for node, label in labels.items()}
        return found

    def contributions(self):
        """{(src, dst): contribution} of all candidates that still join anything."""
        joined = {pair: len(self.twin.joined(*pair)) for pair in naive.allowed(self.instance)}
        return {pair: n for pair, n in joined.items() if n}

    def refresh(self):
        self.left = self.workspace.settle(contributions(self.left, self.components))
