"""Greedy weighted topic-connected overlay (GrMAW, 000 Alg. 2) and its unweighted forebear (GM)."""

from __future__ import annotations

from dataclasses import replace

from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions


def greedy(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """Choose the link that costs least per topic it joins, again and again, until every topic is connected.

    Guarantee   cost <= H(g) * optimum, g = the most topics two nodes share [2].
    Start       links of ``start`` are there already: they cost nothing, are not given back, and the guarantee is one
                on the cost of what must be added.
    Work        pairs of a topic's members are counted a band at a time, as long as the topic is not settled; a
                candidate is evaluated only when its turn comes (kernels/bands.py, kernels/selection.py).
    Ties        rank is (cost / contribution, src, dst).
    Deviates    000 re-evaluates every link at every step; lazy evaluation picks the same links.
    References  [1] Chen, Tock, Jacobsen, Vitenberg 2015.  [2] Wolsey 1982.
    """
    from overlay_spark.kernels.greedy import select_links
    from overlay_spark.kernels.ranks import COST_PER_TOPIC

    found = select_links(instance.growing(start), instance.costs, COST_PER_TOPIC, options.band)
    return Links.from_picks(found.rows)


def fewest_links(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """Greedy with all costs 1 (GM): few links, whatever they cost. The links come back with their real costs.

    Guarantee   number of links <= H(g) * the least number, g = the most topics two nodes share.
    Start       as :func:`greedy`.
    Work, ties  as :func:`greedy`; rank is (1 / contribution, src, dst).
    References  Chockler, Melamed, Tock, Vitenberg 2007.
    """
    from overlay_spark.kernels.link_costs import costs_of

    links = greedy(instance.with_unit_costs(), options, start)
    return replace(links, cost=costs_of(instance.costs, links.src, links.dst))
