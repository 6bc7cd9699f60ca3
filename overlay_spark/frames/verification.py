"""Prove or refute an overlay: every topic connected, every link known, allowed, rightly priced and of use.

The proof stands on the raw tables, not on what the solver was given: labels must be there for as many subscriptions
and topics as were counted in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from overlay_spark.errors import InputError, VerificationError
from overlay_spark.frames.components import GROUPED, topic_components
from overlay_spark.frames.contraction import huge_topics
from overlay_spark.frames.indexing import IndexedProblem, with_ends, with_shared_topics
from overlay_spark.frames.metrics import topic_shapes
from overlay_spark.frames.pricing import units, with_price
from overlay_spark.frames.workspace import Workspace
from overlay_spark.tables.audit import EXAMPLES, Audit, Fault, Finding, brief, counted, faults_of, sentence

LINK_FAULTS: tuple[tuple[str, str, str], ...] = (
    ("unknown_node", "src IS NULL", "with a node that is not among the nodes"),
    ("loop", "src = dst", "with the same node at both ends"),
    ("repeated", "times > 1", "with a pair that is given more than once"),
    ("not_listed", "src <> dst AND price IS NULL", "with a pair that is not among the links that may be used"),
    ("other_cost", "src <> dst AND price <> cost", "with another cost than the costs given"),
    ("useless", "src <> dst AND n_shared = 0", "with ends that share no topic"),
)
"""What may be wrong with a link: its kind, when it is so, and how it is said."""

BROKEN, UNSEEN = "broken_topics", "unseen_rows"
SIDES = 3
"""How many sides of a broken topic a message names."""


@dataclass(frozen=True)
class Findings:
    """What is wrong with an overlay."""

    links: DataFrame
    """The links as :func:`described_links` gives them, held."""
    shapes: DataFrame
    """What the overlay is to each topic, as :func:`overlay_spark.frames.metrics.topic_shapes` gives it, settled."""
    sides: Callable[[], DataFrame]
    """Gives ``broken_topics``. Where nothing is broken nobody asks, and even planning it would take its time."""
    faults: tuple[Fault, ...]
    huge: tuple[int, ...] = ()
    """The topics whose links were contracted."""

    @property
    def broken_topics(self) -> DataFrame:
        """(topic_id, side, nodes), a row for each side of each broken topic, named by its least node."""
        return self.sides()

    def only(self, kind: str) -> bool:
        """Whether all faults, and at least one, are of this kind."""
        return {fault.kind for fault in self.faults} == {kind}


def described_links(problem: IndexedProblem, links: DataFrame) -> DataFrame:
    """LINKS -> (src, dst, cost, shared, n_shared, price, times, src_id, dst_id), one row a given row.

    ``src`` < ``dst`` are null where an end is unknown; ``shared`` are the topics both ends want; ``price`` is the cost
    by the problem's costs, null where the link may not be used; ``times`` is how often the pair occurs. Two joins by
    id, one by link or site, one window by link.
    """
    priced = with_price(problem, with_ends(problem, links, by="node_id"))
    named = priced.select(
        F.col("low").alias("src"),
        F.col("high").alias("dst"),
        units(F.col("cost"), problem.unit).alias("cost"),
        F.array_intersect("topics_a", "topics_b").alias("shared"),  # here: the window moves only these
        "price",
        F.col("src").alias("src_id"),
        F.col("dst").alias("dst_id"),
    )
    times = F.count(F.lit(1)).over(Window.partitionBy("src", "dst"))
    return named.withColumns({"n_shared": F.size("shared"), "times": F.when(F.col("src").isNotNull(), times)})


def verify_links(
    problem: IndexedProblem,
    links: DataFrame,
    method: str,
    workspace: Workspace,
    diameter_max_nodes: int = 0,
    contract_above: int | None = None,
) -> Findings:
    """LINKS -> findings, with diameters of topics up to that size; larger ones are contracted above the other.

    One job measures the topics, and with it proves or refutes that they are connected; one counts all faults. Where
    GraphFrames is the method, its labels are the proof, and it runs jobs of its own. Where topics are contracted, a
    small job tells which.
    """
    huge = () if contract_above is None else huge_topics(problem, max(contract_above, diameter_max_nodes))
    described = workspace.hold(described_links(problem, links))
    between = described.where("src <> dst")
    shapes = workspace.settle(topic_shapes(problem, between, diameter_max_nodes, huge))
    components = cache(partial(topic_components, problem, between, method, workspace, huge))
    sides = cache(lambda: workspace.hold(sides_of_broken_topics(problem, components())))
    if method == GROUPED:  # the same labels in the same tasks
        seen, pieces = F.sum("nodes"), F.sum("components")
        counted_in = shapes
    else:
        seen, pieces = F.count(F.lit(1)), F.count_if(F.col("node") == F.col("component"))
        counted_in = components()
    topics = topic_audit(problem, counted_in, seen, pieces, sides)
    return Findings(described, shapes, sides, tuple(faults_of([topics, _link_audit(described)])), huge)


def require_valid(problem: IndexedProblem, found: Findings, method: str, workspace: Workspace) -> None:
    """Refuse an overlay of our own with anything wrong.

    Where listed links cannot connect a topic, that is the input's fault, and said so.
    """
    if not found.faults:
        return
    if found.only(BROKEN) and problem.link_costs is not None:
        allowed = with_shared_topics(problem, problem.link_costs)
        components = topic_components(problem, allowed, method, workspace, found.huge)
        apart = workspace.hold(sides_of_broken_topics(problem, components))
        if found.broken_topics.exceptAll(apart).isEmpty():
            sentence = "Table 'link_costs' leaves {} List links between these sides, or remove the subscriptions."
            raise InputError([sentence.format(_say_broken(apart))])
    told = " ".join(fault.text for fault in found.faults)
    raise VerificationError(f"The computed overlay fails its own check and was not written; please report this. {told}")


def sides_of_broken_topics(problem: IndexedProblem, components: DataFrame) -> DataFrame:
    """(topic, node, component) -> (topic_id, side, nodes) of topics in more than one piece. Two shuffles, by topic."""
    sides = components.groupBy("topic", "component").agg(F.count(F.lit(1)).alias("nodes"))
    split = sides.groupBy("topic").count().where("count > 1").select("topic")
    return (
        sides.join(split, "topic")
        .join(problem.topics, "topic")
        .join(problem.nodes.select(F.col("node").alias("component"), "node_id"), "component")
        .select("topic_id", F.col("node_id").alias("side"), "nodes")
    )


def topic_audit(
    problem: IndexedProblem, counted_in: DataFrame, seen: Column, pieces: Column, sides: Callable[[], DataFrame]
) -> Audit:
    """Whether topics are in pieces: there are more pieces than topics then. Which those are is only looked for then.

    Both numbers are held against those of the raw tables: what was not seen proves nothing, and fewer pieces than
    topics are no topic in pieces.
    """
    zero = F.lit(0)
    rows = F.abs(F.coalesce(seen, zero) - F.lit(problem.raw.subscriptions))
    beyond = F.coalesce(pieces, zero) - F.lit(problem.raw.topics)
    return Audit(
        (counted_in.agg(rows, F.greatest(-beyond, zero), F.greatest(beyond, zero)),),
        (
            Finding(
                UNSEEN, lambda n, _: f"The check saw {counted(n, 'subscription[|s]')} more or fewer than there are."
            ),
            Finding(UNSEEN, lambda n, _: f"The check saw {counted(n, 'topic[|s]')} fewer than there are."),
            Finding(BROKEN, lambda n, _: f"The overlay leaves {_say_broken(sides())}"),
        ),
    )


def _say_broken(broken: DataFrame) -> str:
    """How many topics are in pieces, and the first few with their first few sides; a small job for each."""
    by_topic = broken.groupBy("topic_id").agg(F.count(F.lit(1)).alias("pieces"))
    n = by_topic.count()
    told = []
    for topic in by_topic.orderBy("topic_id").limit(EXAMPLES).collect():
        sides = broken.where(F.col("topic_id") == F.lit(topic["topic_id"])).orderBy("side").limit(SIDES).collect()
        named = [f"{counted(side['nodes'], 'node[|s]')} with {brief(side['side'])}" for side in sides]
        more = ["..."] if topic["pieces"] > SIDES else []
        told.append(f"topic {brief(topic['topic_id'])} is in {topic['pieces']} pieces: {', '.join([*named, *more])}")
    return f"{counted(n, 'topic[|s]')} in pieces (first: {'; '.join(told)})."


def _link_audit(described: DataFrame) -> Audit:
    def finding(kind: str, bad: str, says: str) -> Finding:
        return Finding(
            kind,
            sentence("The overlay has", f"row[|s] {says}"),
            lambda: described.where(bad).select(F.col("src_id").alias("src"), F.col("dst_id").alias("dst")),
            ("src", "dst"),
        )

    counts: list[Column] = [F.count_if(F.expr(bad)) for _, bad, _ in LINK_FAULTS]
    return Audit((described.agg(*counts),), tuple(finding(*fault) for fault in LINK_FAULTS))
