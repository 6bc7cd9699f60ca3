"""One minimum spanning tree per topic, and the union of them (TrMAW, 000 Alg. 1)."""

from __future__ import annotations

import numpy as np

from overlay_spark.instance import Instance, Links
from overlay_spark.options import GreedyOptions


def trees(instance: Instance, options: GreedyOptions = GreedyOptions()) -> Links:
    """Connect every topic by its own minimum spanning tree; a link that several trees use is kept once.

    Guarantee   cost <= (number of topics) * optimum.
    Work        Kruskal for all topics at once: links by rising cost, each taken if it joins some topic's components.
    Ties        trees by the strict order (cost, src, dst), hence unique. Pick order: topics ascending, Kruskal's order
                inside, a link where it first occurs; the contribution is that of a replay in this order.
    Deviates    000 builds the trees one by one; the links are the same.
    Told        what the trees cost when each topic pays for its own: the sum of trees.
    References  Chen, Tock, Jacobsen, Vitenberg 2015.
    """
    from overlay_spark.kernels.components import new_growing, replay_contributions
    from overlay_spark.kernels.greedy import select_links

    state = new_growing(instance.n_topics, instance.offsets, instance.topics)
    found = select_links(state, instance.costs, False, options.band)
    order = np.argsort(found.lowest_topic, kind="stable")
    src, dst = found.src[order].astype(np.int32), found.dst[order].astype(np.int32)
    fresh = new_growing(instance.n_topics, instance.offsets, instance.topics)
    each_tree = int((found.cost * found.contribution).sum())
    return Links(src, dst, found.cost[order], replay_contributions(fresh, src, dst), sum_of_trees=each_tree)
