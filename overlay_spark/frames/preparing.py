"""A problem as given -> the same checked and in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from overlay_spark.frames.indexing import IndexedProblem, index_problem
from overlay_spark.frames.inputs import Counts, check_input
from overlay_spark.frames.small_indexing import index_small
from overlay_spark.frames.small_rows import MOST_ROWS
from overlay_spark.frames.workspace import Workspace
from overlay_spark.problems import ListedCosts, OverlayProblem
from overlay_spark.side_by_side import side_by_side
from overlay_spark.tables.audit import Audit, faults_of, rows_of


def prepare(
    problem: OverlayProblem, workspace: Workspace, progress: Callable[[str], None], *more: Audit
) -> IndexedProblem:
    """Check a problem, and what ``more`` audits, and index it. Its tables are held meanwhile, to be read once.

    One task does both where there are few rows, and nothing is wrong with them.
    """
    progress("check and index")
    side_by_side([partial(workspace.hold, frame) for frame in problem.frames])  # holding plans how a table is read
    n_rows = rows_of(problem.frames)
    workspace.expect(n_rows)
    indexed = None
    if n_rows <= MOST_ROWS:
        faults, indexed = side_by_side([partial(faults_of, more), partial(index_small, problem, workspace)])
        indexed = None if faults else indexed
    indexed = indexed or _prepared(problem, workspace, more)
    for frame in problem.frames:
        workspace.drop(frame)
    return indexed


def _prepared(problem: OverlayProblem, workspace: Workspace, more: tuple[Audit, ...]) -> IndexedProblem:
    """By frames: the check and the index at the same time, and where the check finds anything, whatever became of the
    index is forgotten. Only listed links between given nodes wait for the check, because there a node given many times
    over would multiply its links."""
    check, index = partial(check_input, problem, *more), partial(index_problem, problem, workspace)
    raw: Counts
    indexed: IndexedProblem
    if isinstance(problem.costs, ListedCosts) and problem.nodes is not None:
        raw, indexed = check(), index()
    else:
        raw, indexed = side_by_side([check, index])
    return replace(indexed, raw=raw)
