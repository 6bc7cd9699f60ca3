"""What an engine found -> proved right, or refused, and measured."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from overlay_spark.frames.components import GROUPED
from overlay_spark.frames.indexing import IndexedProblem
from overlay_spark.frames.outputs import Measured, links_only, measure
from overlay_spark.frames.small_proof import prove_small
from overlay_spark.frames.verification import require_valid, verify_links
from overlay_spark.frames.workspace import Workspace
from overlay_spark.options import Options


def prove(
    problem: IndexedProblem,
    links: DataFrame,
    parts: DataFrame | None,
    method: str,
    options: Options,
    workspace: Workspace,
    progress: Callable[[str], None],
) -> Measured:
    """An overlay of our own -> measured, and refused with anything wrong. ``parts`` are those it was computed in.

    One task does both for a problem that one task indexed; where it finds anything wrong, frames say what.
    """
    progress("verify")
    given, limit = links_only(links), options.metrics.diameter_max_nodes
    if problem.packed is not None and parts is None and method == GROUPED:
        measured = prove_small(problem, given, limit, workspace)
        if measured is not None:
            return measured
    found = verify_links(problem, given, method, workspace, limit, options.components.contract_above)
    require_valid(problem, found, method, workspace)
    progress("measure")
    return measure(problem, found, workspace, parts)
