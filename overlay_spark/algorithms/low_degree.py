"""Overlays of low maximum and average degree (001): MinMax-ODA, and Low-ODA, which weighs it against fewest links."""

from __future__ import annotations

import math

import numpy as np

from overlay_spark.instance import Instance, Links
from overlay_spark.options import DegreeOptions


def low_degree(instance: Instance, options: DegreeOptions = DegreeOptions(), start: Links | None = None) -> Links:
    """Of the links that raise the greatest degree least, choose the one that joins most topics, unless another joins
    more than ``k`` times as many: then that one (Low-ODA).

    Guarantee   greatest degree within O((n / k) log s), number of links within O(k log s) of the least, for n nodes and
                s subscriptions (001, theorems 1 and 2); of links rated per cost none.
    Start       links of ``start`` are there already: they count in degrees and are not given back.
    Work        nodes squared for each greatest degree there ever is; nodes, and the rows of a few, for each link
                (kernels/degrees.py).
    Ties        most topics joined, then the least (src, dst).
    Deviates    001 looks at all links again at every step; the links are the same. With ``weighted`` links are rated by
                the topics they join per cost.
    References  Onus, Richa, "Parameterized maximum and average degree approximation in topic-based publish-subscribe
                overlay network design".
    """
    return _selected(instance, options.k, options.weighted, start)


def min_max_degree(instance: Instance, options: DegreeOptions = DegreeOptions(), start: Links | None = None) -> Links:
    """Of the links that raise the greatest degree least, choose the one that joins most topics (MinMax-ODA).

    Guarantee   greatest degree within O(log(n t)) of the least, for n nodes and t topics; none on the number of links.
    Start, work, ties, deviates    as :func:`low_degree`.
    References  Onus, Richa, "Minimum maximum degree publish-subscribe overlay network design", 2009.
    """
    return _selected(instance, math.inf, options.weighted, start)


def _selected(instance: Instance, k: float, weighted: bool, start: Links | None) -> Links:
    from overlay_spark.kernels.degrees import select_links
    from overlay_spark.kernels.link_costs import costs_of

    degree = np.zeros(instance.n_nodes, np.int64) if start is None else start.degrees(instance.n_nodes)
    most = int(degree.max(initial=0))
    rows = select_links(instance.growing(start), instance.costs, weighted, float(k), degree, most)
    src, dst, joins = (np.ascontiguousarray(column, np.int32) for column in rows.T)
    return Links(src, dst, costs_of(instance.costs, src, dst), joins)
