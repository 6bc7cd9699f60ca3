"""How results are printed for people: short tables, counted nouns, flags to try next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlay_spark.jobs.inputs import Inputs


def print_rows(rows: Sequence[tuple[str, ...]]) -> None:
    """Rows of a label, values and a note, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for label, *values, note in rows:
        aligned = [f"{value:>{width}}" for value, width in zip(values, widths[1:-1], strict=True)]
        print("  ".join(("", f"{label:{widths[0]}}", *aligned, note)).rstrip())


def counted(n: int, noun: str) -> str:
    """A number with its noun: 1 topic, 2 topics."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def figure(value: float | None, form: str) -> str:
    """A number in a form, or that there is none."""
    return "not measured" if value is None else format(value, form)


def problem_flags(inputs: Inputs) -> str:
    """The flags that name these inputs, ready for a shell."""
    places = {table.name: str(place) for table, place in inputs.by_table().items()}
    flags = [f"--{name.replace('_', '-')} {shlex.quote(place)}" for name, place in places.items()]
    return " ".join(flags if {"link_costs", "site_costs"} & places.keys() else [*flags, "--coordinates"])
