"""Candidates: pairs of nodes that share a topic and may link, with what they cost and how many topics they share."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay_spark.frames.indexing import IndexedProblem, with_ends, with_shared_topics
from overlay_spark.frames.pricing import with_price
from overlay_spark.frames.workspace import parts_of

NODES_A_CHUNK = 10_000
"""A topic's members are paired in chunks of about this many."""
PAIRS_A_PART = 1_000_000


def candidates(problem: IndexedProblem, small: bool = False, one_in: int = 1) -> DataFrame:
    """(src, dst, cost, shared_topics), ``src`` < ``dst``, each candidate once, in whole numbers.

    Listed links take two joins by node; other costs what :func:`pairs` and :func:`with_price` take. ``one_in`` = n
    leaves out all pairs but those of about every n-th ``src``; listed links are never left out.
    """
    if problem.link_costs is not None:
        shared = with_shared_topics(problem, problem.link_costs)
        found = shared.select("src", "dst", "cost", F.size("shared").alias("shared_topics"))
        return found.where("shared_topics > 0")
    priced = with_price(problem, with_ends(problem, pairs(problem, small, one_in)))
    return priced.select("src", "dst", F.col("price").alias("cost"), "shared_topics")


def is_drawn(one_in: int) -> Column:
    """Whether a node is one of about every n-th; by another hash than the one that spreads nodes over tasks."""
    return F.pmod(F.xxhash64("node"), F.lit(one_in)) == 0


def pairs(problem: IndexedProblem, small: bool, one_in: int = 1) -> DataFrame:
    """(src, dst, shared_topics) of all nodes that share a topic.

    Where the members are ``small`` enough to be broadcast, a node meets all its partners where it is, and only the
    members are shuffled, by node. Else two shuffles: members by topic and chunk, and pairs, once a shared topic, by
    pair. A topic with very many members is met chunk by chunk, in different tasks.
    """
    parts = max(parts_of(problem.n_subscriptions), problem.n_topic_pairs // (one_in * PAIRS_A_PART))
    chunks = problem.topics.select("topic", F.ceil(F.col("size") / F.lit(NODES_A_CHUNK)).cast("int").alias("chunks"))
    members = problem.members.join(F.broadcast(chunks) if small else chunks, "topic")
    chosen = members if one_in == 1 else members.where(is_drawn(one_in))
    every = F.explode(F.sequence(F.lit(0), F.col("chunks") - 1)).alias("chunk")
    a = chosen.select("topic", every, F.col("node").alias("src"))
    b = members.select("topic", F.pmod(F.hash("node"), F.col("chunks")).alias("chunk"), F.col("node").alias("dst"))
    if small:
        met = a.repartition(parts, "src").join(F.broadcast(b), ["topic", "chunk"])
    else:
        a, b = (frame.repartition(parts, "topic", "chunk") for frame in (a, b))
        met = a.join(b, ["topic", "chunk"])
    met = met.where("src < dst").select("src", "dst")
    counted = met if small else met.repartition(parts, "src", "dst")
    return counted.groupBy("src", "dst").agg(F.count(F.lit(1)).cast("int").alias("shared_topics"))
