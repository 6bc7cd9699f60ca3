"""Overlays in which every topic's diameter is at most 2 (001 section VI): CD-ODA and its two successors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.costs import LISTED
from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions


def wide_stars(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """Link the node with most nodes around it to all of them, serve its topics, and again (CD-ODA).

    Around a node are those that share a topic with it which is not served yet.

    Guarantee   every topic's diameter is at most 2, where any two nodes may link; none on the number of links.
    Start       links of ``start`` are there already and not given back.
    Work        for each centre, the members of all topics of the nodes whose surroundings change.
    Ties        centres by the least node; links by centre, then node.
    Deviates    where links are listed, those that are not are left out, and greedy connects what they leave apart: its
                topics may have a larger diameter.
    References  Onus, Richa 2009; 001 section VI.
    """
    from overlay_spark.kernels.stars import NEIGHBOURS

    return _stars(instance, options, start, NEIGHBOURS)


def weighted_stars(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """As :func:`wide_stars`, with nodes around a node counted once for each topic they share (CD-ODA-I)."""
    from overlay_spark.kernels.stars import WEIGHTED

    return _stars(instance, options, start, WEIGHTED)


def dense_stars(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """As :func:`wide_stars`, by how many topics a node shares with each around it on average (CD-ODA-II)."""
    from overlay_spark.kernels.stars import DENSITY

    return _stars(instance, options, start, DENSITY)


def _stars(instance: Instance, options: KernelOptions, start: Links | None, rule: int) -> Links:
    from overlay_spark.kernels.stars import centres, star_links

    sparse = (instance.n_topics, instance.offsets, instance.topics)
    rows = star_links(*sparse, centres(*sparse, rule))
    numbers = rows[:, 0] * instance.n_nodes + rows[:, 1]
    kept = np.ones(len(rows), bool)
    if instance.costs.kind == LISTED:
        kept &= np.isin(numbers, instance.costs.src.astype(np.int64) * instance.n_nodes + instance.costs.dst)
    if start is not None:
        kept &= ~np.isin(numbers, start.src.astype(np.int64) * instance.n_nodes + start.dst)
    src, dst = rows[kept].T
    links = instance.links_between(src, dst)
    there = links if start is None else Links.one_after_the_other([start, links])
    links = replace(links, contribution=instance.contributions(links, start))
    return Links.one_after_the_other([links, greedy(instance, options, there)])
