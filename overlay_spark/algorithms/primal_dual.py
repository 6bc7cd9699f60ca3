"""Primal-dual weighted topic-connected overlay (PdMAW, 000 Alg. 4), with a certified lower bound."""

from __future__ import annotations

import numpy as np

from overlay_spark.instance import Instance, Links
from overlay_spark.options import KernelOptions

CERTAIN = 1e-9
"""The part of the dual value given away, so that rounding never lifts the bound above the exact one."""


def primal_dual(instance: Instance, options: KernelOptions = KernelOptions(), start: Links | None = None) -> Links:
    """Let all topics pay for links at the same pace; take each link when it is paid for, if it joins anything.

    Guarantee   cost <= a factor of the instance * optimum (000 Lemma 8); the dual value, given back with the links,
                is a cost that no overlay can beat.
    Start       links of ``start`` are there from time 0: they cost nothing and are not given back, and the bound is one
                on the cost of what must be added.
    Work        candidates wait for their time in a calendar queue; each is evaluated when its turn comes.
    Ties        times within 1e-9 of the least tie; the lowest (src, dst) is taken first.
    Deviates    000 raises one dual variable a step; the clock is the sum of the raises, and the links are the same.
    References  [1] Chen, Tock, Jacobsen, Vitenberg 2015.  [2] Goemans, Williamson 1997.
    """
    from overlay_spark.kernels.primal_dual import select_tight_links

    found = select_tight_links(instance.growing(start), instance.costs, options.band)
    return Links.from_picks(found.rows, lower_bound=np.nextafter(found.dual * (1 - CERTAIN), 0.0))
