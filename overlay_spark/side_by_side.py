"""Several calls at the same time, each in a thread: small jobs are mostly waiting for Spark's driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")


def side_by_side(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each call gives back, in their order; the first error is raised once all have ended."""
    with ThreadPoolExecutor(max(1, len(calls))) as pool:
        futures = [pool.submit(call) for call in calls]
    return [future.result() for future in futures]


class Ahead(Generic[Answer]):
    """A call that runs in a thread, from when it is told to :meth:`begin`; calling this waits for its answer, or raises
    its error."""

    def __init__(self, call: Callable[[], Answer]):
        self._call, self._pool = call, ThreadPoolExecutor(1)
        self._begun: Future[Answer] | None = None
        self._one_at_a_time = threading.Lock()

    def begin(self) -> None:
        with self._one_at_a_time:
            if self._begun is None:
                self._begun = self._pool.submit(self._call)
                self._pool.shutdown(wait=False)

    def __call__(self) -> Answer:
        self.begin()
        assert self._begun is not None
        return self._begun.result()


def beginning(ahead: Ahead[Any], step: str, progress: Callable[[str], None]) -> Callable[[str], None]:
    """The same ``progress``, but when it is told of ``step``, ``ahead`` begins."""

    def told(at: str) -> None:
        progress(at)
        if at == step:
            ahead.begin()

    return told
