"""What solving in parts will take, before it is tried: tasks for parts and joins, and what the driver joins itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace

from overlay_spark.frames.divide import n_cells
from overlay_spark.frames.estimates import Size, class_of
from overlay_spark.options import Options

CANDIDATES_A_SECOND_IN_PARTS, ROWS_A_SECOND_IN_PARTS = 1e7, 2e5
"""In parts, on two cores: candidates inside parts, and subscriptions that go through."""
UNEVEN = 3
"""A part, or a set of representatives, may want so many times what as many nodes want on average."""


@dataclass(frozen=True, kw_only=True)
class SizeInParts(Size):
    """The numbers of a problem that is solved in parts; candidates are those inside parts."""

    n_parts: int
    part_bytes: int
    join_bytes: int
    """What joining as many representatives as may be joined at once takes."""

    @property
    def tasks(self) -> int:
        return self.n_parts

    @property
    def driver_bytes(self) -> int:
        return self.join_bytes

    @property
    def task_bytes(self) -> int:
        return max(self.part_bytes, self.join_bytes)

    @property
    def time_class(self) -> str:
        return class_of(self.candidates / CANDIDATES_A_SECOND_IN_PARTS + self.subscriptions / ROWS_A_SECOND_IN_PARTS)


def size_in_parts(size: Size, options: Options) -> SizeInParts:
    """The same numbers, for an engine that solves parts and joins them."""
    divide, wanted = options.divide, size.subscriptions / max(1, size.nodes)

    def of(nodes: int) -> int:
        n = min(nodes, size.nodes)
        return bytes_of_task(size, n, min(size.subscriptions, int(UNEVEN * n * wanted)))

    inside = min(size.candidates, size.nodes * divide.part_nodes // 2)
    all_inside = inside == size.candidates
    told = {**asdict(size), "candidates": inside}
    told |= {"is_exact": size.is_exact and all_inside, "is_sampled": size.is_sampled and all_inside}
    return SizeInParts(
        **told,
        n_parts=n_cells(size.nodes, divide),
        part_bytes=of(divide.part_nodes),
        join_bytes=of(divide.join_nodes),
    )


def bytes_of_task(whole: Size, nodes: int, subscriptions: int) -> int:
    """About what a task takes that holds some of a problem's nodes."""
    pairs = nodes * (nodes - 1) // 2
    listed = None if whole.listed is None else min(whole.listed, pairs)
    candidates = min(whole.candidates, pairs if listed is None else listed)
    tied = min(whole.tied, candidates)
    size = replace(Size(**{f.name: getattr(whole, f.name) for f in fields(Size)}), nodes=nodes)
    size = replace(size, listed=listed, site_pairs=min(whole.site_pairs, nodes * nodes))
    return replace(size, subscriptions=subscriptions, candidates=candidates, tied=tied).task_bytes
