"""Every error this package raises on purpose: a message that says where, what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class OverlayError(Exception):
    """Base of all errors of this package; ``exit_code`` is what the command line returns."""

    exit_code = 3


class OptionError(OverlayError):
    """Raised when a flag, an option or a configuration file cannot be used."""

    exit_code = 2


class InputError(OverlayError):
    """Raised when given tables cannot be used; ``faults`` holds one sentence for each thing wrong."""

    exit_code = 1

    def __init__(self, faults: Sequence[str]):
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return self.faults[0]
        return f"The input has {len(self.faults)} faults:\n" + "\n".join(f"- {fault}" for fault in self.faults)


class GuardError(OverlayError):
    """Raised when what was asked is more than the options allow, or another run was quicker; nothing was written."""

    exit_code = 1


class TooLarge(GuardError):
    """Raised when a task would need more memory than ``design.task_memory`` allows."""


class FeedError(GuardError):
    """Raised when what is known of changes does not lead from a stored overlay to the tables as they are."""


class VerificationError(OverlayError):
    """Raised when an overlay this package computed fails its own independent check; nothing was written."""


class SetupError(OverlayError):
    """Raised when Java, Spark or a jar is missing or too old."""
