"""Several calls at the same time, each in a thread: small jobs are mostly waiting for Spark's driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def side_by_side(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each call gives back, in their order; the first error is raised once all have ended."""
    with ThreadPoolExecutor(max(1, len(calls))) as pool:
        futures = [pool.submit(call) for call in calls]
    return [future.result() for future in futures]


def ahead(call: Callable[[], Answer]) -> Callable[[], Answer]:
    """Begin a call now; what is given back waits for it and gives its answer, or raises its error."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(call)
    pool.shutdown(wait=False)
    return future.result
