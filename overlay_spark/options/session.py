"""A local Spark session."""

from __future__ import annotations

from dataclasses import dataclass

from overlay_spark.options.checks import require, require_memory


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """A local Spark session: cores ("*" = all), driver memory (from the machine if unset), where its jars are.

    ``brief`` trades peak speed for a quick start: for small problems and tests.
    """

    cores: int | str = "*"
    brief: bool = False
    driver_memory: str | None = None
    jars: str | None = None
    cache: str | None = None

    def __post_init__(self) -> None:
        require(
            self.cores == "*" or (str(self.cores).isdecimal() and int(self.cores) > 0),
            f"session.cores must be '*' or a positive number, got {self.cores!r}.",
        )
        if self.driver_memory is not None:
            require_memory("session.driver_memory", self.driver_memory)
