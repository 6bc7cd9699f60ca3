"""Where tables are read (``delta:PATH``, ``parquet:PATH``, ``csv:PATH``, ``table:NAME``) and where they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from overlay_spark.errors import OptionError

KINDS = ("delta", "parquet", "csv", "table")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Reference:
    """One table: its kind, and its path or (quoted) name."""

    kind: str
    place: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.place.replace('`', '')}"

    @classmethod
    def parse(cls, text: str) -> Reference:
        kind, colon, place = text.partition(":")
        if not colon or kind not in KINDS or not place.strip():
            raise OptionError(
                f"{text!r} does not say where a table is. Write delta:PATH, parquet:PATH, csv:PATH or table:NAME."
            )
        return cls(kind, quoted_name(place) if kind == "table" else place)


@dataclass(frozen=True)
class Destination:
    """A folder or a catalog schema; the tables in it bear the names of the catalog."""

    kind: str
    place: str

    @classmethod
    def parse(cls, text: str) -> Destination:
        kind, colon, place = text.partition(":")
        if colon and kind == "table":
            return cls("table", quoted_name(place, most_parts=2))
        if colon and kind == "delta":
            return cls("delta", _folder(place))
        if colon and not place.startswith("/"):  # a typing slip, not a URL
            raise OptionError(f"{text!r}: results are Delta tables. Give a FOLDER or table:SCHEMA to write to.")
        return cls("delta", _folder(text))

    def table(self, name: str) -> Reference:
        separator = "." if self.kind == "table" else "/"
        quoted = quoted_name(name) if self.kind == "table" else name
        return Reference(self.kind, f"{self.place}{separator}{quoted}")

    def __str__(self) -> str:
        return ("table:" if self.kind == "table" else "") + self.place.replace("`", "")


def quoted_name(name: str, most_parts: int = 3) -> str:
    """``catalog.schema.table`` with every part in backticks; anything but letters, digits, _ and - is refused."""
    parts = name.split(".")
    if len(parts) > most_parts or not all(_PART.fullmatch(part) for part in parts):
        raise OptionError(
            f"{name!r} is not a name this program uses: up to {most_parts} parts joined by dots, "
            "each of letters, digits, _ and -."
        )
    return ".".join(f"`{part}`" for part in parts)


def _folder(text: str) -> str:
    folder = text.rstrip("/")
    if not folder.strip():
        raise OptionError(f"{text!r} is not a folder to write to. Give a folder, or table:SCHEMA.")
    return folder
