"""One minimum spanning tree per topic, and the union of them (TrMAW, 000 Alg. 1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions


def trees(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """Connect every topic by its own minimum spanning tree; a link that several trees use is kept once.

    Guarantee   cost <= (number of topics) * optimum.
    Start       links of ``start`` are there already: every topic's tree grows from them, they cost nothing and are not
                given back.
    Work        Kruskal for all topics at once: links by rising cost, each taken if it joins some topic's components.
    Ties        trees by the strict order (cost, src, dst), hence unique. Pick order: topics ascending, Kruskal's order
                inside, a link where it first occurs; the contribution is that of a replay in this order.
    Deviates    000 builds the trees one by one; the links are the same.
    Told        what the trees cost when each topic pays for its own: the sum of trees.
    References  Chen, Tock, Jacobsen, Vitenberg 2015.
    """
    from overlay_spark.kernels.greedy import select_links
    from overlay_spark.kernels.ranks import COST

    rows = select_links(instance.growing(start), instance.costs, COST, options.band).rows
    _, _, cost, joins, lowest_topic = rows.T
    links = Links.from_picks(rows[np.argsort(lowest_topic, kind="stable")], sum_of_trees=int((cost * joins).sum()))
    return replace(links, contribution=instance.contributions(links, start))
