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

SIDES_DDL = "topic_id string, side string, nodes bigint"


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
    if parts is None and _may_be_proved_at_once(problem, method):
        measured = prove_small(problem, given, limit, workspace)
        if measured is not None:
            return measured
    found = verify_links(problem, given, method, workspace, limit, options.components.contract_above)
    require_valid(problem, found, method, workspace)
    progress("measure")
    return measure(problem, found, workspace, parts)


def disprove(
    problem: IndexedProblem, links: DataFrame, method: str, options: Options, workspace: Workspace
) -> tuple[tuple[str, ...], DataFrame]:
    """LINKS -> a sentence for each thing that is wrong with them, and (topic_id, side, nodes): the sides of topics in
    pieces."""
    if _may_be_proved_at_once(problem, method) and prove_small(problem, links, 0, workspace) is not None:
        return (), links.sparkSession.createDataFrame([], SIDES_DDL)
    found = verify_links(problem, links, method, workspace, contract_above=options.components.contract_above)
    return tuple(fault.text for fault in found.faults), found.broken_topics


def _may_be_proved_at_once(problem: IndexedProblem, method: str) -> bool:
    return problem.packed is not None and method == GROUPED
