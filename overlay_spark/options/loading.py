"""Options from TOML and ``section.key=value`` overrides: types are checked, unknown names refused."""

from __future__ import annotations

import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from overlay_spark.errors import OptionError
from overlay_spark.options.checks import nearest

T = TypeVar("T")


def section_of(cls: type[T], section: str, values: Mapping[str, Any], where: str) -> T:
    """One section's options; ``where`` says where the values come from."""
    hints = typing.get_type_hints(cls)
    checked = {}
    for key, value in values.items():
        if key not in hints:
            raise OptionError(f"{where}: unknown key {section}.{key}.{nearest(key, hints)}")
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


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file, or one message on why it is none."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise OptionError(f"{path}: cannot be read ({error.strerror}). Give the path of a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: is not valid TOML ({error}).") from error


def parse_override(text: str) -> tuple[str, str, Any]:
    """``section.key=value`` in its three parts."""
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
