"""Take away links that are not needed, the newest first (000 Alg. 5); alone, and after primal-dual (PdrdMAW)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlay_spark.algorithms.primal_dual import primal_dual
from overlay_spark.algorithms.sub_overlays import holding
from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions


def reverse_delete(
    instance: Instance, links: Links, options: object = None, seed: int = 0, start: Links | None = None
) -> Links:
    """Go through the links from the last picked to the first; drop each that no topic needs.

    Guarantee   the overlay stays as connected as it was, and no link of the result can go; the cost only falls.
    Start       links of ``start`` are there as well, and stay whether needed or not.
    Work        for a link, a search from both its ends in each topic they share; it ends where the sides meet.
    Order       links keep their order; contributions are those of a replay in it.
    Deviates    000 checks the whole overlay for every link; only topics that both ends share can break.
    References  Chen, Tock, Jacobsen, Vitenberg 2015.
    """
    from overlay_spark.kernels.reverse_delete import drop_needless

    every = links if start is None else Links.one_after_the_other([start, links])
    fixed = len(every) - len(links)
    graph = holding(instance, every)
    drop_needless(graph, np.arange(len(every) - 1, fixed - 1, -1))
    kept = links.take(graph.alive[fixed:])
    return replace(kept, contribution=instance.contributions(kept, start))


def primal_dual_reverse_delete(
    instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None
) -> Links:
    """Primal-dual, then reverse delete (PdrdMAW).

    Guarantee   as :func:`primal_dual`, by a factor that is never larger (000 Lemma 9); gives back the same lower bound.
    Start       as :func:`primal_dual`; links of ``start`` are never taken away.
    """
    return reverse_delete(instance, primal_dual(instance, options, start), start=start)
