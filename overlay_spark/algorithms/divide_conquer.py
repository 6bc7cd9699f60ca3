"""Divide and conquer (DcMAW, 000 Alg. 6): parts are solved by themselves and joined through representatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.greedy import greedy
from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions
from overlay_spark.options.divide import COVERS

TOPICS, WEIGHTED_DEGREE, ALL = COVERS


@dataclass(frozen=True)
class Joined:
    """What came of joining parts: the links that do, and the component of each subscription after them, named by the
    least name among those that became it."""

    links: Links
    components: NDArray[np.int64]


def divide_conquer(instance: Instance, parts: NDArray[Any], copies: int, options: KernelOptions) -> Links:
    """Greedy inside each part, then greedy over links between representatives of different parts.

    ``parts`` names the part of each node. Inner links come first, part by part; then those that join the parts.

    Guarantee   every topic is connected, where any two nodes may link; none on the cost.
    Work        that of greedy on each part, and on all representatives together.
    Ties        as :func:`greedy`; representatives as :func:`overlay_spark.kernels.representatives.cover`.
    Deviates    000 leaves open how representatives are chosen and parts are joined.
    References  [1] Chen, Tock, Jacobsen, Vitenberg 2015, section VIII.
    """
    found, chosen = [], []
    components = np.empty(instance.n_subscriptions, np.int64)
    for part in np.unique(parts):
        nodes = np.flatnonzero(parts == part)
        inside = instance.among(nodes)
        links = greedy(inside, options)
        own = components_of(inside, links)
        components[np.isin(instance.nodes, nodes)] = nodes[own]
        found.append(links.renumbered(nodes))
        chosen.append(nodes[representatives(inside, own, copies)])
    nodes = np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.int64)
    outer = join_parts(instance.among(nodes), components[np.isin(instance.nodes, nodes)], options)
    return Links.one_after_the_other([*found, outer.links.renumbered(nodes)])


def components_of(instance: Instance, links: Links) -> NDArray[np.int32]:
    """The component of each subscription in its topic's sub-overlay, by its least node."""
    return instance.nodes[instance.component_labels(links)]


def representatives(
    instance: Instance,
    components: NDArray[Any],
    copies: int,
    cover: str = TOPICS,
    links: Links | None = None,
    wanted: NDArray[np.bool_] | None = None,
) -> NDArray[np.int32]:
    """Nodes that together are ``copies`` times in each component of each topic, or as often as it has nodes.

    They are in the order chosen. Only ``wanted`` subscriptions count, where told; ``links`` are those whose weight the
    cover by weighted degree goes by.
    """
    from overlay_spark.kernels.representatives import cover as covering

    if cover == ALL:
        return np.arange(instance.n_nodes, dtype=np.int32)
    counts = np.ones(instance.n_subscriptions, bool) if wanted is None else wanted
    named = (instance.topics * (np.int64(components.max(initial=0)) + 1) + components)[counts]
    names, items = np.unique(named, return_inverse=True)
    offsets = np.concatenate([[0], np.cumsum(counts)])[instance.offsets]
    weights: NDArray[np.float64] = np.ones(instance.n_nodes)
    if cover == WEIGHTED_DEGREE and links is not None and len(links):
        ends = np.concatenate([links.src, links.dst])
        weights = np.maximum(np.bincount(ends, np.tile(links.cost, 2), instance.n_nodes), links.cost.min())
    chosen: NDArray[np.int32] = covering(len(names), offsets, items.astype(np.int64), copies, weights)
    return chosen


def join_parts(
    instance: Instance, components: NDArray[Any], options: KernelOptions, unit_costs: bool = False
) -> Joined:
    """Greedy where subscriptions to one topic whose components have one name are connected already."""
    from overlay_spark.kernels.greedy import select_links
    from overlay_spark.kernels.link_costs import costs_of
    from overlay_spark.kernels.ranks import COST_PER_TOPIC

    state = instance.grown_to(components)
    costs = instance.with_unit_costs().costs if unit_costs else instance.costs
    links = Links.from_picks(select_links(state, costs, COST_PER_TOPIC, options.band).rows)
    links = replace(links, cost=costs_of(instance.costs, links.src, links.dst)) if unit_costs else links
    least = np.full(instance.n_subscriptions, np.iinfo(np.int64).max)
    np.minimum.at(least, state.label, components)
    return Joined(links, least[state.label])
