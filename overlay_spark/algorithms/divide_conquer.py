"""Divide and conquer (DcMAW, 000 Alg. 6): parts are solved by themselves and joined through representatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions


def divide_conquer(instance: Instance, parts: NDArray[Any], copies: int, options: KernelOptions) -> Links:
    """Greedy inside each part, then greedy over links between representatives of different parts.

    ``parts`` names the part of each node. Inner links come first, part by part; then those that join the parts.

    Guarantee   every topic is connected, where any two representatives of it may link; none on the cost.
    Work        that of greedy on each part, and on all representatives together.
    Ties        as :func:`greedy`; representatives as :func:`overlay_spark.kernels.representatives.cover`.
    Deviates    000 leaves open how representatives are chosen and parts are joined.
    References  [1] Chen, Tock, Jacobsen, Vitenberg 2015, section VIII.
    """
    found, chosen = [], []
    for part in np.unique(parts):
        nodes = np.flatnonzero(parts == part)
        inside = instance.among(nodes)
        found.append(greedy(inside, options).renumbered(nodes))
        chosen.append(nodes[representatives(inside, copies)])
    nodes = np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.int64)
    outer = join_parts(instance.among(nodes), parts[nodes], options)
    return Links.one_after_the_other([*found, outer.renumbered(nodes)])


def representatives(instance: Instance, copies: int) -> NDArray[np.int32]:
    """Nodes that together want each topic ``copies`` times, or as often as there are nodes to; in the order chosen."""
    from overlay_spark.kernels.representatives import cover

    return cover(instance.n_topics, instance.offsets, instance.topics, copies)


def join_parts(instance: Instance, parts: NDArray[Any], options: KernelOptions) -> Links:
    """Greedy where nodes of one part are connected already, in every topic that they share."""
    from overlay_spark.kernels.greedy import select_links
    from overlay_spark.kernels.growing import join_alike
    from overlay_spark.kernels.ranks import COST_PER_TOPIC

    state = instance.growing()
    join_alike(state, np.unique(parts, return_inverse=True)[1])
    return Links.from_picks(select_links(state, instance.costs, COST_PER_TOPIC, options.band).rows)
