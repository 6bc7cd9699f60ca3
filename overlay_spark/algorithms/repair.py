"""Mend an overlay whose topics have come apart: join their components by links among a few nodes (003)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.errors import TooLarge
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options


def repair(
    instance: Instance,
    links: Links,
    touched: NDArray[np.bool_],
    shadow: NDArray[Any],
    options: Options,
    most: int | None = None,
) -> Links:
    """Choose links among the ``shadow`` nodes (ascending) until they join all components of the ``touched`` topics
    that they can (003 constructLowEdges).

    Components are those of the whole sub-overlays; contributions count touched topics only. Links are rated by
    ``churn.objective``: by cost per topic joined, or by the rule of
    :func:`overlay_spark.algorithms.low_degree.low_degree`, for which degrees are those of the whole overlay. There
    ``most``, if given, is the degree not to be raised, in place of the greatest.

    Guarantee   every touched topic each of whose components has a shadow node is connected, where any two may link.
    Work        one pass over the touched topics' sub-overlays, and the selection among shadow nodes.
    Ties        as those of greedy and low_degree.
    Deviates    003 looks at all pairs of shadow nodes at every step; the links are the same.
    References  Chen, Jacobsen, Vitenberg, "Reinforce your overlay with shadows", Alg. 2.
    """
    part = instance.only(touched)
    return joining(part, links, part.component_labels(links), touched, shadow, options, most)


def mended(instance: Instance, links: Links, nodes: NDArray[Any], options: Options, most: int) -> Links:
    """Links among these nodes (ascending) that join whatever the ``links`` leave apart; else as :func:`repair`."""
    components = instance.component_labels(links)
    return joining(instance, links, components, instance.apart(components), nodes, options, most)


def joining(
    instance: Instance,
    links: Links,
    components: NDArray[Any],
    topics: NDArray[np.bool_],
    nodes: NDArray[Any],
    options: Options,
    most: int | None = None,
) -> Links:
    """Links among these nodes (ascending) that join components of these topics, beside the ``links`` there are."""
    inner, degree = instance.among(nodes).only(topics), links.degrees(instance.n_nodes)
    named_by = named_among(instance, components, nodes, topics)
    greatest = int(degree.max(initial=0)) if most is None else most
    return joined(inner, named_by, degree[nodes], greatest, options).renumbered(nodes)


def named_among(
    instance: Instance, components: NDArray[Any], nodes: NDArray[Any], topics: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """For each subscription of these nodes, ascending, to these topics or any: the first among them of its component.

    Components have the position of one of their members for a name.
    """
    rows = instance.rows_of(nodes)
    names = components[rows if topics is None else rows[topics[instance.topics[rows]]]]
    first = np.empty(instance.n_subscriptions, np.int64)
    first[names[::-1]] = np.arange(len(names))[::-1]
    found: NDArray[np.int64] = first[names]
    return found


def joined(
    instance: Instance, named_by: NDArray[np.int64], degree: NDArray[np.int64], most: int, options: Options
) -> Links:
    """Links that join components: each subscription is connected with the one that its component is named by."""
    from overlay_spark.kernels import degrees, greedy
    from overlay_spark.kernels.link_costs import costs_of
    from overlay_spark.kernels.ranks import COST_PER_TOPIC

    state = instance.grown_at(named_by)
    if not options.churn.by_degree:
        return Links.from_picks(greedy.select_links(state, instance.costs, COST_PER_TOPIC, options.kernel.band).rows)
    k, weighted = float(options.degrees.k), options.degrees.weighted
    if (12 if weighted else 4) * instance.n_nodes**2 > options.design.task_bytes:  # what each two nodes could join
        raise TooLarge(f"repairs among {instance.n_nodes:,} nodes")
    rows = degrees.select_links(state, instance.costs, weighted, k, degree, most)
    src, dst, joins = (np.ascontiguousarray(column, np.int32) for column in rows.T)
    return Links(src, dst, costs_of(instance.costs, src, dst), joins)
