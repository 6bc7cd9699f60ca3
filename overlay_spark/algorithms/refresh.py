"""A stored overlay brought up to date: what is kept of it, what mends it, and a check of the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.algorithms.churn import Churn, kept_up
from overlay_spark.algorithms.repair import named_among
from overlay_spark.algorithms.shadows import wants_of
from overlay_spark.algorithms.sub_overlays import SubOverlays
from overlay_spark.ascending import places_among
from overlay_spark.costs import LISTED, Costs
from overlay_spark.instance import Instance, Links
from overlay_spark.options import Options
from overlay_spark.options.churn import GREEDY


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The links of a stored overlay, ``src < dst``, in pick order; an end is -1 where its node is gone."""

    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    cost: NDArray[np.int64]
    contribution: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Changed:
    """Nodes that want other topics than before: their numbers, -1 where a node is gone.

    ``topics[offsets[i]:offsets[i + 1]]`` are those that node i took up or dropped and somebody still wants, ascending.
    ``backups`` are known ones of all of them.
    """

    nodes: NDArray[np.int32]
    offsets: NDArray[np.int64]
    topics: NDArray[np.int32]
    backups: NDArray[np.int32]
    known: NDArray[np.bool_]
    """Whose backups are among them."""


@dataclass(frozen=True)
class Refreshed:
    """``links`` are those that stay, in their order, then new ones. ``stays`` says which of the stored ones stay."""

    links: Links
    stays: NDArray[np.bool_]
    touched: NDArray[np.bool_]
    apart: int
    """How many topics had come apart."""
    shadow: int
    """Among how many nodes links were chosen."""
    sub: SubOverlays
    """Of all links."""


def refreshed(
    instance: Instance,
    stored: Stored,
    changes: Changed,
    options: Options,
    components: NDArray[np.int32] | None = None,
) -> Refreshed:
    """What a stored overlay becomes for the problem as it is now.

    Links go whose nodes are gone, that may not be used any more, or whose ends share no topic; the others get the costs
    of now. Then as :func:`overlay_spark.algorithms.churn.kept_up`, from the ``components`` that the links still there
    leave, where they are known.
    """
    there = np.flatnonzero((stored.src >= 0) & (stored.dst >= 0))
    src, dst = stored.src[there], stored.dst[there]
    price = prices(instance.costs, src, dst)
    every = SubOverlays.of(instance, Links(src, dst, price, stored.contribution[there]))
    kept = (price >= 0) & (every.counts > 0)
    links = Links(src[kept], dst[kept], price[kept], stored.contribution[there][kept])
    touched = np.zeros(instance.n_topics, bool)
    touched[changes.topics] = True
    touched[every.take(~kept).topics] = True  # of links that may not be used any more
    is_new = changes.nodes >= 0
    around = np.isin(links.src, changes.nodes[is_new]), np.isin(links.dst, changes.nodes[is_new])
    lost = np.ones(len(stored.src), bool)
    lost[there[kept]] = False
    ends = np.concatenate([stored.src[lost], stored.dst[lost], links.dst[around[0]], links.src[around[1]]])
    backups = _backups_for(instance, links, changes, options)
    near = np.unique(np.concatenate([ends[ends >= 0], changes.nodes[is_new], changes.backups, backups]))
    came = _came(instance, changes)
    churn = Churn(touched=touched, near=near, events=len(changes.nodes), came=came, components=components)
    found = kept_up(every.take(kept), links, churn, _Backups(instance, links, options), options)
    stays = np.zeros(len(stored.src), bool)
    stays[there[kept][found.stays]] = True
    joins = found.links.contribution.copy()
    n_kept = int(found.stays.sum())
    joins[n_kept:] = contributions_beyond(found.sub, found.links, n_kept)
    return Refreshed(
        replace(found.links, contribution=joins), stays, touched, found.apart, len(found.shadow), found.sub
    )


def _came(instance: Instance, changes: Changed) -> NDArray[np.int64]:
    """The positions of subscriptions that nodes took up."""
    nodes = np.repeat(changes.nodes.astype(np.int64), np.diff(changes.offsets))
    codes = instance.nodes * np.int64(instance.n_topics) + instance.topics
    asked = nodes * instance.n_topics + changes.topics
    at = places_among(codes, asked)
    return at[(nodes >= 0) & (at >= 0)]


def prices(costs: Costs, src: NDArray[np.int32], dst: NDArray[np.int32]) -> NDArray[np.int64]:
    """What each link costs, ``src < dst``; -1 where it may not be used."""
    from overlay_spark.kernels.link_costs import costs_of

    if costs.kind != LISTED:
        return costs_of(costs, src, dst)
    width = np.int64(max(costs.dst.max(initial=0), dst.max(initial=0)) + 1)
    codes, asked = (a.astype(np.int64) * width + b for a, b in ((costs.src, costs.dst), (src, dst)))
    return np.append(costs.values, -1)[places_among(codes, asked)]  # the last is for those that are not listed


def contributions_beyond(sub: SubOverlays, links: Links, first: int) -> NDArray[np.int32]:
    """What each link from the ``first`` on joins when they follow, in their order, on those before; ``sub`` are the
    sub-overlays of all of them."""
    from overlay_spark.kernels.growing import replay

    instance, added = sub.instance, links.take(np.arange(first, len(links)))
    components = sub.take(np.arange(len(links)) < first).components()
    ends = np.unique(np.concatenate([added.src, added.dst]))
    state = instance.among(ends).grown_at(named_among(instance, components, ends))
    src, dst = (np.searchsorted(ends, side).astype(np.int32) for side in (added.src, added.dst))
    return replay(state, src, dst)


def faults(instance: Instance, links: Links) -> dict[str, NDArray[Any]]:
    """What is wrong with an overlay, told without anything that chose its links: topics that it leaves ``apart``, and
    links that are ``repeated``, ``barred``, ``useless`` or of another ``cost``; nothing where it is right."""
    from overlay_spark.kernels.proof import walked

    codes = links.src.astype(np.int64) * instance.n_nodes + links.dst
    price = prices(instance.costs, links.src, links.dst)
    unreached, used = walked(instance.n_topics, instance.offsets, instance.topics, links.src, links.dst)
    order = np.argsort(codes, kind="stable")
    found = {
        "apart": np.flatnonzero(unreached),
        "repeated": order[1:][np.diff(codes[order]) == 0],
        "barred": np.flatnonzero(price < 0),
        "cost": np.flatnonzero((price >= 0) & (price != links.cost)),
        "useless": np.flatnonzero(~used),
    }
    return {name: wrong for name, wrong in found.items() if len(wrong)}


@dataclass(frozen=True)
class BackupRows:
    """Row i says that ``backup[i]`` is a backup of ``node[i]``, in a layer; -1 is a node that is gone."""

    node: NDArray[np.int64]
    backup: NDArray[np.int64]
    layer: NDArray[np.int64]


def renewed_backups(
    instance: Instance, links: Links, old: BackupRows, changes: Changed, options: Options
) -> BackupRows:
    """The backups of all nodes, in their order: the old ones, but anew for nodes that had none, that changed what they
    want, or one of whose backups did or is gone."""
    from overlay_spark.kernels.shadows import Backups, build_backups

    is_changed = np.zeros(instance.n_nodes + 1, bool)  # the last stands for nodes that are gone
    is_changed[-1] = True
    is_changed[changes.nodes] = True
    had = np.zeros(instance.n_nodes + 1, bool)
    had[old.node] = True
    anew = ~had | is_changed
    anew[old.node[is_changed[old.backup]]] = True
    stay = ~anew[old.node]
    asked = np.flatnonzero(anew[:-1] & (np.diff(instance.offsets) > 0)).astype(np.int32)
    weights = links.degrees(instance.n_nodes) + np.bincount(old.backup[stay], minlength=instance.n_nodes)
    nobody = Backups(np.zeros(len(asked) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    churn, no_draws = options.churn, np.empty(0, np.uint64)
    found = build_backups(wants_of(instance), asked, nobody, weights, churn.coverage, churn.backups == GREEDY, no_draws)
    node = np.concatenate([old.node[stay], np.repeat(asked, np.diff(found.starts))])
    backup, layer = (np.concatenate([a[stay], b]) for a, b in ((old.backup, found.nodes), (old.layer, found.layers)))
    order = np.lexsort((backup, node))
    return BackupRows(node[order], backup[order], layer[order])


class _Backups:
    """Backups of nodes, found when asked for."""

    def __init__(self, instance: Instance, links: Links, options: Options):
        self._instance, self._options = instance, options
        self._degrees = links.degrees(instance.n_nodes)

    def __call__(self, nodes: NDArray[Any]) -> NDArray[np.int32]:
        rows = self._instance.rows_of(nodes)
        sizes = np.diff(self._instance.offsets)[nodes]
        return chosen_backups(
            self._instance, self._degrees, sizes, self._instance.topics[rows], np.asarray(nodes), self._options
        )


def _backups_for(instance: Instance, links: Links, changes: Changed, options: Options) -> NDArray[np.int32]:
    """Backups, for the topics they took up or dropped, of the nodes whose are not known; by cost, in overlays that keep
    none, nobody: what they would add there is not worth what they take."""
    if not options.churn.by_degree and instance.n_nodes > options.refresh.backups_up_to:
        return np.empty(0, np.int32)
    asked = np.flatnonzero(~changes.known)
    sizes = np.diff(changes.offsets)
    rows = np.repeat(~changes.known, sizes)
    degrees = links.degrees(instance.n_nodes)
    return chosen_backups(instance, degrees, sizes[asked], changes.topics[rows], changes.nodes[asked], options)


def chosen_backups(
    instance: Instance,
    degrees: NDArray[np.int64],
    sizes: NDArray[np.int64],
    topics: NDArray[np.int32],
    own: NDArray[Any],
    options: Options,
) -> NDArray[np.int32]:
    """Backups of somebody who wants these topics, for each such set of them; never the node that is its ``own``."""
    from overlay_spark.kernels.shadows import Backups, build_backups

    n, wants = instance.n_nodes, wants_of(instance)
    ends = wants.offsets[-1] + np.cumsum(sizes)
    wants = wants._replace(
        offsets=np.concatenate([wants.offsets, ends]).astype(np.int64),
        topics=np.concatenate([wants.topics, topics]).astype(np.int32),
    )
    nobody = Backups(np.zeros(len(sizes) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    weights = np.concatenate([degrees, np.zeros(len(sizes), np.int64)])
    asked = np.arange(n, n + len(sizes), dtype=np.int32)
    churn = options.churn
    found = build_backups(
        wants, asked, nobody, weights, churn.coverage, churn.backups == GREEDY, np.empty(0, np.uint64)
    )
    of = np.repeat(own, np.diff(found.starts))
    return np.unique(found.nodes[found.nodes != of])
