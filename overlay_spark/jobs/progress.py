"""What a long run is doing: a line that moves on a terminal, log lines elsewhere; and how long each step took."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import Self, TextIO

log = logging.getLogger("overlay_spark")


class Steps:
    """Called with the name of each step as it begins; :meth:`done`, or leaving its ``with`` block, ends the last one.

    ``seconds`` holds how long each step took, those of one name added up.
    """

    def __init__(self, stream: TextIO | None = None):
        self.stream = sys.stderr if stream is None else stream
        self.seconds: dict[str, float] = {}
        self._step: str | None = None
        self._since = 0.0

    def __call__(self, step: str) -> None:
        self.done()
        self._step, self._since = step, time.monotonic()
        if self.stream.isatty():
            self.stream.write(f"  {step} ...")
            self.stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.done()

    def done(self) -> None:
        """End the step under way, if there is one."""
        if self._step is None:
            return
        took = time.monotonic() - self._since
        self.seconds[self._step] = self.seconds.get(self._step, 0.0) + took
        if self.stream.isatty():
            self.stream.write(f"\r  {self._step}: {took:.1f} s\x1b[K\n")
            self.stream.flush()
        else:
            log.info("%s: %.1f s", self._step, took)
        self._step = None

    def say(self, text: str) -> None:
        """A note on a line of its own: not a step, so it has no seconds, and the step under way goes on."""
        if self.stream.isatty():
            self.stream.write(f"\r{text}\x1b[K\n")
            if self._step is not None:
                self.stream.write(f"  {self._step} ...")
            self.stream.flush()
        else:
            log.info("%s", text)
