"""Options of every algorithm and job: frozen, checked once, read from TOML and ``section.key=value`` overrides."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overlay_spark.errors import OptionError
from overlay_spark.options.checks import nearest
from overlay_spark.options.churn import ChurnOptions
from overlay_spark.options.components import ComponentOptions
from overlay_spark.options.costs import CostOptions
from overlay_spark.options.degrees import DegreeOptions
from overlay_spark.options.design import DesignOptions
from overlay_spark.options.divide import DivideOptions
from overlay_spark.options.frames import FramesOptions
from overlay_spark.options.kernel import KernelOptions
from overlay_spark.options.loading import parse_override, read_toml, section_of
from overlay_spark.options.metrics import MetricsOptions
from overlay_spark.options.refresh import RefreshOptions
from overlay_spark.options.session import SessionOptions
from overlay_spark.options.workload import WorkloadOptions
from overlay_spark.options.workspace import WorkspaceOptions

__all__ = [
    "ChurnOptions",
    "ComponentOptions",
    "CostOptions",
    "DegreeOptions",
    "DesignOptions",
    "DivideOptions",
    "FramesOptions",
    "KernelOptions",
    "MetricsOptions",
    "Options",
    "RefreshOptions",
    "SessionOptions",
    "WorkloadOptions",
    "WorkspaceOptions",
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options, one field a TOML section."""

    design: DesignOptions = field(default_factory=DesignOptions)
    costs: CostOptions = field(default_factory=CostOptions)
    kernel: KernelOptions = field(default_factory=KernelOptions)
    degrees: DegreeOptions = field(default_factory=DegreeOptions)
    frames: FramesOptions = field(default_factory=FramesOptions)
    divide: DivideOptions = field(default_factory=DivideOptions)
    churn: ChurnOptions = field(default_factory=ChurnOptions)
    refresh: RefreshOptions = field(default_factory=RefreshOptions)
    components: ComponentOptions = field(default_factory=ComponentOptions)
    metrics: MetricsOptions = field(default_factory=MetricsOptions)
    workspace: WorkspaceOptions = field(default_factory=WorkspaceOptions)
    workload: WorkloadOptions = field(default_factory=WorkloadOptions)
    session: SessionOptions = field(default_factory=SessionOptions)

    @classmethod
    def load(cls, path: str | Path | None = None, overrides: Iterable[str] = ()) -> Options:
        """Options from a TOML file (if given), then ``section.key=value`` overrides, then checks."""
        sections: dict[str, dict[str, Any]] = {}
        if path is not None:
            sections = read_toml(path)
        for override in overrides:
            section, key, value = parse_override(override)
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
                raise OptionError(f"{where}: unknown section [{name}].{nearest(name, known)}")
            if not isinstance(values, Mapping):
                raise OptionError(f"{where}: {name!r} must be a section, like [{name}].")
            factory = known[name].default_factory
            parts[name] = section_of(typing.cast(type[Any], factory), name, values, where)
        return cls(**parts)

    def designing(
        self,
        algorithm: str | None = None,
        engine: str | None = None,
        then: str | Iterable[str] | None = None,
        seed: int | None = None,
    ) -> Options:
        """The same options with these wishes in ``design``, those that are not None."""
        steps = (then,) if isinstance(then, str) else None if then is None else tuple(then)
        wishes: dict[str, Any] = {"algorithm": algorithm, "engine": engine, "then": steps, "seed": seed}
        given = {name: wish for name, wish in wishes.items() if wish is not None}
        return dataclasses.replace(self, design=dataclasses.replace(self.design, **given))

    def to_mapping(self) -> dict[str, dict[str, Any]]:
        return dataclasses.asdict(self)
