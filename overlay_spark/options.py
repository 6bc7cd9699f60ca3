"""Options of every algorithm and job: frozen, checked once, read from TOML and ``section.key=value`` overrides."""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from overlay_spark.errors import OptionError

ENGINES = ("auto", "kernel")
AFTERWARDS = ("reverse_delete",)
BOUNDS = ("primal_dual",)
COMPONENT_ENGINES = ("auto", "graphframes", "grouped")
WORKLOAD_COSTS = ("plane", "file", "clusters", "pairs")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise OptionError(message)


def _require_memory(name: str, value: str) -> None:
    _require(re.fullmatch(r"[1-9]\d*[mg]", value) is not None, f"{name} must look like 800m or 8g, got {value!r}.")


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """Which overlay to compute: ``algorithm`` and ``engine`` by name, ``seed`` for algorithms that draw.

    ``then`` names what is done to the overlay afterwards. ``bound`` = "primal_dual" also computes a lower bound on the
    cost of every overlay, where the algorithm does not prove one itself. ``compare`` names an algorithm whose overlay
    is computed beside it, for its figures only. A problem whose solving task would need more than ``task_memory`` is
    refused beforehand.
    """

    algorithm: str = "greedy"
    engine: str = "auto"
    seed: int = 0
    then: tuple[str, ...] = ()
    bound: str | None = None
    compare: str | None = None
    task_memory: str = "8g"

    def __post_init__(self) -> None:
        _require(self.engine in ENGINES, f"design.engine must be one of {', '.join(ENGINES)}, got {self.engine!r}.")
        _require(0 <= self.seed < 2**63, f"design.seed must be from 0 to 2^63 - 1, got {self.seed}.")
        for step in self.then:
            _require(step in AFTERWARDS, f"design.then knows {', '.join(AFTERWARDS)}, got {step!r}.")
        _require(
            self.bound is None or self.bound in BOUNDS,
            f"design.bound must be one of {', '.join(BOUNDS)}, got {self.bound!r}.",
        )
        _require_memory("design.task_memory", self.task_memory)

    @property
    def task_bytes(self) -> int:
        """``task_memory`` as a number of bytes."""
        return int(self.task_memory[:-1]) << {"m": 20, "g": 30}[self.task_memory[-1]]


@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """How costs become whole numbers: ``unit`` is the cost that counts as 1 inside."""

    unit: float = 1e-6

    def __post_init__(self) -> None:
        _require(1e-30 <= self.unit <= 1e30, f"costs.unit must be a number from 1e-30 to 1e30, got {self.unit}.")


@dataclass(frozen=True, kw_only=True)
class GreedyOptions:
    """How many candidates the kernels hold at a time, 8 bytes each: ``band`` = 0 lets them choose."""

    band: int = 0

    def __post_init__(self) -> None:
        _require(self.band >= 0, f"greedy.band must be at least 0, got {self.band}.")


@dataclass(frozen=True, kw_only=True)
class ComponentOptions:
    """How topic-connected components are found when an overlay is verified."""

    engine: str = "auto"

    def __post_init__(self) -> None:
        _require(
            self.engine in COMPONENT_ENGINES,
            f"components.engine must be one of {', '.join(COMPONENT_ENGINES)}, got {self.engine!r}.",
        )


@dataclass(frozen=True, kw_only=True)
class MetricsOptions:
    """Diameters are exact, and left out (null) for topics with more than ``diameter_max_nodes`` nodes."""

    diameter_max_nodes: int = 2000

    def __post_init__(self) -> None:
        _require(
            self.diameter_max_nodes >= 0,
            f"metrics.diameter_max_nodes must be at least 0, got {self.diameter_max_nodes}.",
        )


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    """What ``overlay-spark workload`` makes.

    Every one of ``nodes`` nodes wants from ``least`` to ``most`` of ``topics`` topics, whose popularity falls by
    ``law``: unif (not at all), zipf (i^-alpha) or expo. What links cost is drawn by ``costs``:
    plane     nodes are points of a square of the given ``side`` (``dimensions`` 2), cost is distance
    file      nodes take coordinates, or sites, of the measured set in ``file``
    clusters  nodes sit in ``clusters`` sites: cost ``inner`` within, ``outer`` between them, times 1 +- ``spread``
    pairs     every pair has a cost of its own, from ``low`` to ``high``: a table of all pairs
    """

    nodes: int = 1000
    topics: int = 200
    least: int = 20
    most: int = 100
    law: str = "unif"
    alpha: float = 2.0
    costs: str = "plane"
    file: str | None = None
    dimensions: int = 2
    side: float = 100.0
    clusters: int = 10
    inner: float = 1.0
    outer: float = 50.0
    spread: float = 0.5
    low: float = 1.0
    high: float = 100.0

    def __post_init__(self) -> None:
        _require(self.nodes > 0, f"workload.nodes must be at least 1, got {self.nodes}.")
        _require(
            self.costs in WORKLOAD_COSTS,
            f"workload.costs must be one of {', '.join(WORKLOAD_COSTS)}, got {self.costs!r}.",
        )
        _require(
            (self.costs == "file") == (self.file is not None),
            "workload.file names the measured set of workload.costs = 'file': give both or neither.",
        )
        _require(1 <= self.dimensions <= 16, f"workload.dimensions must be from 1 to 16, got {self.dimensions}.")
        _require(self.clusters > 0, f"workload.clusters must be at least 1, got {self.clusters}.")
        for name in ("side", "inner", "outer", "low"):
            value = getattr(self, name)
            _require(0 < value < math.inf, f"workload.{name} must be a number above 0, got {value}.")
        _require(self.low <= self.high < math.inf, f"workload.high must be at least workload.low, got {self.high}.")
        _require(0 <= self.spread < 1, f"workload.spread must be at least 0 and below 1, got {self.spread}.")


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
        _require(
            self.cores == "*" or (str(self.cores).isdecimal() and int(self.cores) > 0),
            f"session.cores must be '*' or a positive number, got {self.cores!r}.",
        )
        if self.driver_memory is not None:
            _require_memory("session.driver_memory", self.driver_memory)


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options, one field a TOML section."""

    design: DesignOptions = field(default_factory=DesignOptions)
    costs: CostOptions = field(default_factory=CostOptions)
    greedy: GreedyOptions = field(default_factory=GreedyOptions)
    components: ComponentOptions = field(default_factory=ComponentOptions)
    metrics: MetricsOptions = field(default_factory=MetricsOptions)
    workload: WorkloadOptions = field(default_factory=WorkloadOptions)
    session: SessionOptions = field(default_factory=SessionOptions)

    @classmethod
    def load(cls, path: str | Path | None = None, overrides: Iterable[str] = ()) -> Options:
        """Options from a TOML file (if given), then ``section.key=value`` overrides, then checks."""
        sections: dict[str, dict[str, Any]] = {}
        if path is not None:
            sections = _read_toml(path)
        for override in overrides:
            section, key, value = _parse_override(override)
            values = sections.setdefault(section, {})
            if isinstance(values, dict):  # what is not a section is refused below
                values[key] = value
        return cls.from_mapping(sections, where=str(path) if path is not None else "options")

    @classmethod
    def from_mapping(cls, sections: Mapping[str, Any], where: str = "options") -> Options:
        """Options from nested mappings; a name nobody knows is refused with the nearest known one."""
        known = {f.name: f for f in dataclasses.fields(cls)}
        parts = {}
        for name, values in sections.items():
            if name not in known:
                raise OptionError(f"{where}: unknown section [{name}].{_nearest(name, known)}")
            if not isinstance(values, Mapping):
                raise OptionError(f"{where}: {name!r} must be a section, like [{name}].")
            factory = known[name].default_factory
            parts[name] = _section(typing.cast(type[Any], factory), name, values, where)
        return cls(**parts)

    def to_mapping(self) -> dict[str, dict[str, Any]]:
        return dataclasses.asdict(self)


T = TypeVar("T")


def _section(cls: type[T], section: str, values: Mapping[str, Any], where: str) -> T:
    hints = typing.get_type_hints(cls)
    checked = {}
    for key, value in values.items():
        if key not in hints:
            raise OptionError(f"{where}: unknown key {section}.{key}.{_nearest(key, hints)}")
        checked[key] = _typed(value, hints[key], f"{where}: {section}.{key}")
    return cls(**checked)


def _typed(value: Any, hint: Any, where: str) -> Any:
    if typing.get_origin(hint) is tuple:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
            raise OptionError(f"{where} must be a list of names, got {value!r}.")
        return tuple(values)
    accepted = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if float in accepted and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError as error:
            raise OptionError(f"{where} is too large a number.") from error
    if (isinstance(value, bool) and bool not in accepted) or not isinstance(value, accepted):
        names = " or ".join("nothing" if t is type(None) else t.__name__ for t in accepted)
        raise OptionError(f"{where} must be of type {names}, got {value!r}.")
    return value


def _nearest(name: str, known: Iterable[str]) -> str:
    choices = sorted(known)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else f" Known: {', '.join(choices)}."


def _read_toml(path: str | Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise OptionError(f"{path}: cannot be read ({error.strerror}). Give the path of a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: is not valid TOML ({error}).") from error


def _parse_override(text: str) -> tuple[str, str, Any]:
    name, equals, value = text.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot and section and key):
        raise OptionError(f"--set {text}: must look like section.key=value, for example costs.unit=0.001.")
    return section, key, _parse_value(value.strip())


def _parse_value(text: str) -> Any:
    """A TOML value; a bare word is a string, so that nobody has to fight the quotes of a shell."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return parsed["value"] if len(parsed) == 1 else text
