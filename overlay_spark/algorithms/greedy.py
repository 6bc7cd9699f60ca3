"""Greedy weighted topic-connected overlay (GrMAW, 000 Alg. 2) and its unweighted forebear (GM)."""

from __future__ import annotations

import numpy as np

from overlay_spark.instance import Instance, Links
from overlay_spark.options import GreedyOptions


def greedy(instance: Instance, options: GreedyOptions = GreedyOptions()) -> Links:
    """Choose the link that costs least per topic it joins, again and again, until every topic is connected.

    Guarantee   cost <= H(g) * optimum, g = the most topics two nodes share [2].
    Work        every candidate is ranked once by bitset, and again only when its turn comes (kernels/greedy.py).
    Ties        rank is (cost / contribution, src, dst).
    Deviates    000 re-evaluates every link at every step; lazy evaluation picks the same links.
    References  [1] Chen, Tock, Jacobsen, Vitenberg 2015.  [2] Wolsey 1982.
    """
    from overlay_spark.kernels.components import new_growing
    from overlay_spark.kernels.greedy import select_links

    state = new_growing(instance.n_topics, instance.offsets, instance.topics)
    found = select_links(state, instance.costs, True, options.band)
    return Links(
        found.src.astype(np.int32),
        found.dst.astype(np.int32),
        found.cost,
        found.contribution.astype(np.int32),
    )


def fewest_links(instance: Instance, options: GreedyOptions = GreedyOptions()) -> Links:
    """Greedy with all costs 1 (GM): few links, whatever they cost. The links come back with their real costs.

    Guarantee   number of links <= H(g) * the least number, g = the most topics two nodes share.
    Work, ties  as :func:`greedy`; rank is (1 / contribution, src, dst).
    References  Chockler, Melamed, Tock, Vitenberg 2007.
    """
    from overlay_spark.kernels.link_costs import costs_of

    links = greedy(instance.with_unit_costs(), options)
    return Links(links.src, links.dst, costs_of(instance.costs, links.src, links.dst), links.contribution)
