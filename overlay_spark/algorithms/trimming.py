"""Keep an overlay as light as a new one would be, repair after repair: drop links that no topic needs, and give up
those that do least where others can take over with less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.repair import joining, mended
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options

if TYPE_CHECKING:
    from overlay_spark.kernels.reverse_delete import Graph

BUSY_ABOVE = 5
"""Nodes of a degree so far above the average get no link while others can take it that are not much worse."""
RELIEVED = 4
"""How many nodes of the greatest degree are relieved at most after one repair."""
GIVEN_UP = 2
"""How many of its links such a node gives up at once."""
LOOKED_AT = 10
"""So many times as many links are looked at as are given up."""
MOST_PAIRS = 4_000_000
"""By objective "cost" about so many pairs of subscriptions are looked at for those that may take over."""

BackupsOf = Callable[[NDArray[Any]], NDArray[Any]]
"""The backups of some nodes."""


def trimmed(
    instance: Instance,
    links: Links,
    touched: NDArray[np.bool_],
    shadow: NDArray[Any],
    backups_of: BackupsOf,
    options: Options,
    events: int = 1,
) -> Links:
    """The links without those that no topic needs, and with others in the place of those that do least.

    Only links at shadow nodes that serve ``touched`` topics alone are given up; with ``churn.objective`` "degree" also
    some at the nodes of greatest degree. Every topic stays as connected as it was. ``events`` is how many nodes came or
    went: for each, so many links as ``churn.exchange`` says.

    Guarantee   by objective "cost" the cost falls or stays; by "degree" the number of links does, but for a node of
                greatest degree that is relieved by one more.
    """
    sub = SubOverlays.of(instance, links)
    stays, added = lightened(links, sub, touched, shadow, backups_of, options, events)
    return Links.one_after_the_other([links.take(stays), added])


def lightened(
    links: Links,
    sub: SubOverlays,
    touched: NDArray[np.bool_],
    shadow: NDArray[Any],
    backups_of: BackupsOf,
    options: Options,
    events: int = 1,
) -> tuple[NDArray[np.bool_], Links]:
    """What :func:`trimmed` does: (which of the links stay, others). ``sub`` are the links' sub-overlays."""
    instance, graph = sub.instance, sub.graph()
    may_go = _serving_only(sub, touched)
    near, count = may_go & _at(instance, links, shadow), events * options.churn.exchange
    if options.churn.by_degree:
        inside = np.flatnonzero(may_go & _at(instance, links, shadow, both=True))
        _drop_busiest(instance, links, graph, inside)
        given = _least_useful(instance, links, graph, np.flatnonzero(near & graph.alive), count)
    else:
        given = _drop_dearest(links, graph, np.flatnonzero(near), count)
    stays, added = graph.alive.copy(), links.take(np.empty(0, np.int64))
    if options.churn.exchange and len(given):
        stays, added = _exchanged(sub, links, stays, given, shadow, backups_of, options)
    if options.churn.exchange and len(links) and options.churn.by_degree:
        before = Links.one_after_the_other([links.take(stays), added])
        after = _relieved(instance, before, touched, backups_of, options)
        gone, added = changed(instance.n_nodes, links, after)
        stays = ~gone
    return stays, added


def changed(n_nodes: int, before: Links, after: Links) -> tuple[NDArray[np.bool_], Links]:
    """Which links were there before and are no more, and those that came."""
    old, new = (links.src.astype(np.int64) * n_nodes + links.dst for links in (before, after))
    return ~np.isin(old, new), after.take(~np.isin(new, old))


def _at(instance: Instance, links: Links, nodes: NDArray[Any], both: bool = False) -> NDArray[np.bool_]:
    """The links that have an end at one of these nodes, or both."""
    is_asked = np.zeros(instance.n_nodes, bool)
    is_asked[nodes] = True
    src, dst = is_asked[links.src], is_asked[links.dst]
    found: NDArray[np.bool_] = src & dst if both else src | dst
    return found


def busy_degree(instance: Instance, links: Links) -> int:
    """A degree so far above the average of the nodes that want anything."""
    return 2 * len(links) // max(1, int(np.count_nonzero(np.diff(instance.offsets)))) + BUSY_ABOVE


def _serving_only(sub: SubOverlays, touched: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The links that serve no topic but touched ones."""
    if touched.all():
        return np.ones(len(sub.counts), bool)
    found: NDArray[np.bool_] = sub.served(~touched) == 0
    return found


def _drop_dearest(links: Links, graph: Graph, near: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Let those of the links ``near`` go that no topic needs, each being tried against what is left then: the dearest
    first, of several the last. Gives back ``count`` of the others that do least: topics that each alone holds together,
    per cost; fewer where a new look at all who could take over would take long."""
    from overlay_spark.kernels.reverse_delete import drop_needless, held_by_all

    held, pairs = held_by_all(graph)
    is_needed = held[near] > 0  # whatever a link holds, it holds the more without others
    tried, asked = near[~is_needed], near[is_needed]
    drop_needless(graph, tried[np.argsort(links.cost[tried], kind="stable")[::-1]])
    least = asked[np.argsort(held[asked] / links.cost[asked], kind="stable")][:count]
    found: NDArray[np.int64] = least[np.cumsum(pairs[least]) <= MOST_PAIRS]
    return found


def _drop_busiest(instance: Instance, links: Links, graph: Graph, tried: NDArray[Any]) -> None:
    """Let those of the links ``tried`` go that no topic needs, those of the ends of highest degree first."""
    from overlay_spark.kernels.reverse_delete import drop_needless

    degree = links.degrees(instance.n_nodes)
    ends = np.sort([degree[links.src[tried]], degree[links.dst[tried]]], axis=0)
    drop_needless(graph, tried[np.lexsort(ends)[::-1]])


def _least_useful(instance: Instance, links: Links, graph: Graph, asked: NDArray[Any], count: int) -> NDArray[np.int64]:
    """So many of the links asked about that do least: topics that each alone holds together, per links of its busier
    end. What a link joined when it was picked tells which are worth a look."""
    from overlay_spark.kernels.reverse_delete import held_topics

    degree = links.take(graph.alive).degrees(instance.n_nodes)
    weight = np.maximum(degree[links.src[asked]], degree[links.dst[asked]])
    likely = np.argsort(links.contribution[asked] / weight, kind="stable")[: LOOKED_AT * count]
    asked, weight = asked[likely], weight[likely]
    held = held_topics(graph, asked)
    least: NDArray[np.int64] = asked[np.argsort(held / weight, kind="stable")][:count]
    return least


def _exchanged(
    sub: SubOverlays,
    links: Links,
    stays: NDArray[np.bool_],
    given: NDArray[Any],
    shadow: NDArray[Any],
    backups_of: BackupsOf,
    options: Options,
) -> tuple[NDArray[np.bool_], Links]:
    """The links that stay with others in the place of those ``given`` up, if that is better; else as they are."""
    nothing = links.take(np.empty(0, np.int64))
    if not len(given):
        return stays, nothing
    instance, kept = sub.instance, stays.copy()
    kept[given] = False
    now, rest = links.take(stays), links.take(kept)
    components = sub.take(kept).components()
    apart = instance.apart(components)
    around = np.arange(instance.n_nodes)  # by cost the kernel looks at those only whom something is cut off from
    if options.churn.by_degree:
        ends = np.unique(np.concatenate([links.src[given], links.dst[given]]))
        around = np.unique(np.concatenate([shadow, ends, backups_of(ends)]))
    most = busy_degree(instance, now)
    added = joining(instance, rest, components, apart, around, options, most)
    other = Links.one_after_the_other([rest, added])
    if _price(instance, other, options) < _price(instance, now, options):
        return kept, added
    return stays, nothing


def _relieved(
    instance: Instance, links: Links, touched: NDArray[np.bool_], backups_of: BackupsOf, options: Options
) -> Links:
    """The links once nodes of the greatest degree have given up some that others can take over."""
    equal = replace(options, degrees=replace(options.degrees, k=np.inf))
    for _ in range(RELIEVED):
        degree = links.degrees(instance.n_nodes)
        most, node = int(degree.max(initial=0)), int(degree.argmax())
        sub = SubOverlays.of(instance, links)
        is_own = (links.src == node) | (links.dst == node)
        own, may_go = np.flatnonzero(is_own), np.flatnonzero(is_own & _serving_only(sub, touched))
        given = _least_useful(instance, links, sub.graph(), may_go, GIVEN_UP)
        ends = np.unique(np.concatenate([links.src[given], links.dst[given]]))
        around = np.unique(np.concatenate([links.src[own], links.dst[own], backups_of(ends)]))
        rest = _without(links, given)
        added = mended(instance, rest, around, equal, most - 1)
        other = Links.one_after_the_other([rest, added])
        now = other.degrees(instance.n_nodes)
        if len(other) > len(links) + 1 or (now.max(), np.sum(now == now.max())) >= (most, np.sum(degree == most)):
            break
        links = other
    return links


def _price(instance: Instance, links: Links, options: Options) -> tuple[int, ...]:
    """What is to be as low as possible: the cost; or the number of links, then how unevenly nodes have them."""
    if not options.churn.by_degree:
        return (links.total_cost,)
    degree = links.degrees(instance.n_nodes)
    return (len(links), int((degree * degree).sum()))


def _without(links: Links, given: NDArray[Any]) -> Links:
    kept = np.ones(len(links), bool)
    kept[given] = False
    return links.take(kept)
