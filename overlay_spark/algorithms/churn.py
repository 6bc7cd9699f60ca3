"""A batch of churn: an overlay kept through whatever changed since it was made (theory: leaves first, then joins, one
repair for all)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.divide_conquer import representatives
from overlay_spark.algorithms.repair import joining
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.algorithms.trimming import BackupsOf, busy_degree, lightened
from overlay_spark.costs import LISTED
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options


@dataclass(frozen=True, kw_only=True)
class Churn:
    """What came between an overlay and the problem it is to serve now, in this problem's numbers.

    ``touched`` are the topics somebody took up or dropped, and those that links served which are gone. ``near`` are
    former neighbours of what left, and nodes that joined or took up topics, with the backups of both. ``came`` are the
    subscriptions that these took up, by position. ``events`` is how many nodes came, went or changed what they want.
    """

    touched: NDArray[np.bool_]
    near: NDArray[Any]
    events: int
    came: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    components: NDArray[np.int32] | None = None
    """The component of each subscription under the links still there, as the position of one of its members; found
    where it is not told."""


@dataclass(frozen=True)
class Kept:
    """An overlay after a batch of churn: ``links`` in their old order, then new ones; ``stays`` says which of the old
    ones are among them. ``sub`` are the sub-overlays of these links."""

    links: Links
    stays: NDArray[np.bool_]
    shadow: NDArray[np.int32]
    """The nodes that repairs chose among."""
    apart: int
    """How many topics had come apart."""
    sub: SubOverlays


def kept_up(sub: SubOverlays, links: Links, churn: Churn, backups_of: BackupsOf, options: Options) -> Kept:
    """Join what came apart in touched topics, by links among shadow nodes; drop what that made redundant.

    ``links`` are those still there, of nodes that want a topic in common, at the costs of now; ``sub`` are their
    sub-overlays. Shadow nodes are those near what changed, and some of each component that has none of these. By
    objective "cost", subscriptions that came wait until all else is joined: then each is linked to whoever is cheapest,
    shadow node or not.

    Guarantee   every touched topic is connected, where any two nodes may link, and else whatever listed links can
                connect; links that serve an untouched topic stay.
    Work        a pass over all sub-overlays; the selection among shadow nodes; for each subscription that came the
                nodes that want its topic; trimming.
    Ties        as those of repair.
    References  Chen, Jacobsen, Vitenberg, "Reinforce your overlay with shadows", one node at a time; joiners are linked
                to their backups only there.
    """
    instance, every = sub.instance, links
    most = busy_degree(instance, links)
    components = sub.components() if churn.components is None else churn.components
    apart = instance.apart(components) & churn.touched
    n_apart, shadow = int(apart.sum()), np.empty(0, np.int32)
    waits = np.zeros(instance.n_subscriptions, bool)
    if not options.churn.by_degree:
        waits[churn.came] = np.bincount(components, minlength=len(waits))[components[churn.came]] == 1
    for among_all in (False, True):
        if among_all and options.churn.by_degree and instance.costs.kind != LISTED:
            break
        asked = apart if among_all else instance.apart(components, ~waits) & apart
        if not asked.any():
            continue
        if among_all:
            nodes = np.unique(instance.nodes[asked[instance.topics]])
        else:
            nodes = shadow = _shadow(instance, components, asked[instance.topics] & ~waits, churn.near, options)
        added = joining(instance, every, components, asked, nodes, options, most)
        new = SubOverlays.of(instance, added)
        every, sub, components = Links.one_after_the_other([every, added]), sub.plus(new), new.joined(components)
        apart &= instance.apart(components)
    stays, more = np.ones(len(every), bool), links.take(np.empty(0, np.int64))
    if options.churn.trim:
        ends = np.unique(np.concatenate([every.src[len(links) :], every.dst[len(links) :]]))
        stays, more = lightened(every, sub, churn.touched, ends, backups_of, options, churn.events)
        stays, more = _without_taken_again(instance.n_nodes, every, stays, more)
    kept = Links.one_after_the_other([every.take(stays), more])
    return Kept(kept, stays[: len(links)], shadow, n_apart, sub.take(stays).plus(SubOverlays.of(instance, more)))


def _without_taken_again(
    n_nodes: int, links: Links, stays: NDArray[np.bool_], more: Links
) -> tuple[NDArray[np.bool_], Links]:
    """A link that was given up and taken again has stayed."""
    gone = np.flatnonzero(~stays)
    old, new = (some.src.astype(np.int64) * n_nodes + some.dst for some in (links.take(gone), more))
    stays = stays.copy()
    stays[gone[np.isin(old, new)]] = True
    return stays, more.take(~np.isin(new, old))


def _shadow(
    instance: Instance, components: NDArray[Any], asked: NDArray[np.bool_], near: NDArray[Any], options: Options
) -> NDArray[np.int32]:
    """The nodes near what changed with subscriptions asked about, and some of each component without one of them."""
    is_near = np.zeros(instance.n_nodes, bool)
    is_near[near] = True
    seen = np.zeros(instance.n_subscriptions, bool)
    seen[components[is_near[instance.nodes] & asked]] = True
    unseen = asked & ~seen[components]
    is_near[representatives(instance, components, options.churn.coverage, wanted=unseen)] = True
    return np.unique(instance.nodes[asked & is_near[instance.nodes]])
