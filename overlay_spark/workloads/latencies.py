"""Where nodes are and what links cost: measured sets from a file, points in a space, clusters, random pairs."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay_spark.errors import OptionError
from overlay_spark.workloads.draws import uniforms

ORDER, OTHERS, JITTER, PLACES, SITES, PAIRS, BETWEEN = range(11, 18)
"""Streams of the seed."""

SMALL_STEP = 0.01
"""How far, in parts of the standard deviation, a node is moved that stands on a measured point once more."""


@dataclass(frozen=True)
class MeasuredPoints:
    """Coordinates of a measured set, one row and one height a measured node."""

    points: NDArray[np.float64]
    heights: NDArray[np.float64]

    def place(self, nodes: NDArray[Any], seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(points, heights) of the numbered nodes.

        The first nodes stand on the measured points in seeded order, each once; nodes beyond them on points drawn
        anew, moved a little.
        """
        measured = np.column_stack([self.points, self.heights])
        order = np.argsort(uniforms(seed, ORDER, np.arange(len(measured)), 1)[:, 0], kind="stable")
        nodes = np.asarray(nodes, np.int64)
        drawn = np.floor(uniforms(seed, OTHERS, nodes, 1)[:, 0] * len(measured)).astype(np.int64)
        again = nodes >= len(measured)
        chosen = measured[np.where(again, drawn, order[np.where(again, 0, nodes)])]
        step = SMALL_STEP * measured.std(axis=0) * (2 * uniforms(seed, JITTER, nodes, measured.shape[1]) - 1)
        placed = chosen + np.where(again[:, None], step, 0.0)
        return placed[:, :-1], np.maximum(placed[:, -1], 0.0)


@dataclass(frozen=True)
class MeasuredSites:
    """Costs between the sites of a measured set: symmetric, none missing, the diagonal within a site."""

    names: tuple[str, ...]
    table: NDArray[np.float64]


def read_measured(path: str, within: float) -> MeasuredPoints | MeasuredSites:
    """A measured set from a CSV, plain or gzipped.

    A square table with the sites' names in header and first column gives costs between sites: ``within`` each site, and
    where a cell is empty the cheapest way over one other site. Else columns after the first are coordinates, one whose
    name begins with "height" the height.
    """
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if path.endswith(".gz") else raw).decode()
        header, *rows = [row for row in csv.reader(io.StringIO(text)) if row]
    except (OSError, UnicodeDecodeError, EOFError, zlib.error, csv.Error) as error:
        raise OptionError(f"{path}: cannot be read ({error}). Give a CSV file, plain or gzipped.") from error
    except ValueError as error:
        raise OptionError(f"{path}: is empty. Give a header line and at least one row.") from error
    names = [row[0] for row in rows]
    try:
        values = np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])
        if values.ndim != 2 or values.shape[1] != len(header) - 1 or not values.size:
            raise ValueError("rows of different lengths")
    except ValueError as error:
        raise OptionError(f"{path}: is not a table of numbers ({error}). Correct or remove these rows.") from error
    return _sites(path, names, values, within) if names == header[1:] else _points(path, header[1:], values)


def _sites(path: str, names: list[str], table: NDArray[np.float64], within: float) -> MeasuredSites:
    both = np.where(np.isnan(table), table.T, table)
    np.fill_diagonal(both, np.inf)  # no way goes over its own end
    known = np.where(np.isnan(both), np.inf, both)
    full = both.copy()
    for a, b in np.argwhere(np.isnan(both)).tolist():
        full[a, b] = (known[a] + known[b]).min()
        if np.isinf(full[a, b]):
            raise OptionError(
                f"{path}: has no cost between {names[a]} and {names[b]}, and no other site links to both."
            )
    np.fill_diagonal(full, within)
    if not (np.isfinite(full).all() and (full > 0).all() and (full == full.T).all()):
        raise OptionError(f"{path}: costs between sites must be positive and the same in both directions.")
    return MeasuredSites(tuple(names), full)


def _points(path: str, columns: list[str], values: NDArray[np.float64]) -> MeasuredPoints:
    is_height = np.array([name.lower().startswith("height") for name in columns])
    if not np.isfinite(values).all() or is_height.sum() > 1 or is_height.all():
        raise OptionError(
            f"{path}: needs columns of coordinates after the first, at most one of them named height..., "
            "and a number in each cell."
        )
    heights = values[:, is_height].sum(axis=1)
    if (heights < 0).any():
        raise OptionError(f"{path}: has negative heights. Correct these rows.")
    return MeasuredPoints(values[:, ~is_height], heights)


def random_points(nodes: NDArray[Any], dimensions: int, side: float, seed: int) -> NDArray[np.float64]:
    """Points spread evenly over a square (cube, ...) of the given side."""
    return side * uniforms(seed, PLACES, nodes, dimensions)


def random_sites(nodes: NDArray[Any], n_sites: int, seed: int) -> NDArray[np.int64]:
    """The site of each numbered node, all sites alike."""
    sites: NDArray[np.int64] = np.floor(uniforms(seed, SITES, nodes, 1)[:, 0] * n_sites).astype(np.int64)
    return sites


def cluster_costs(
    a: NDArray[Any], b: NDArray[Any], inner: float, outer: float, spread: float, seed: int
) -> NDArray[np.float64]:
    """``inner`` within a cluster, ``outer`` between a < b, times a factor drawn from 1 - spread to 1 + spread."""
    drawn = 2 * uniforms(seed, BETWEEN, pair_numbers(a, b), 1)[:, 0] - 1
    return np.where(a == b, inner, outer * (1 + spread * drawn))


def pair_costs(numbers: NDArray[Any], low: float, high: float, seed: int) -> NDArray[np.float64]:
    """A cost between ``low`` and ``high`` for each numbered pair of nodes."""
    drawn: NDArray[np.float64] = uniforms(seed, PAIRS, numbers, 1)[:, 0]
    return low + (high - low) * drawn


def pair_numbers(u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each pair u < v: it says nothing of how many nodes there are, so neither does the pair's cost."""
    u, v = np.asarray(u, np.int64), np.asarray(v, np.int64)
    numbers: NDArray[np.int64] = v * (v - 1) // 2 + u
    return numbers


def pairs_numbered(numbers: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pair u < v of each number."""
    numbers = np.asarray(numbers, np.int64)
    v = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    v = np.where(v * (v - 1) // 2 > numbers, v - 1, v)
    v = np.where(v * (v + 1) // 2 <= numbers, v + 1, v).astype(np.int64)
    u: NDArray[np.int64] = numbers - v * (v - 1) // 2
    return u, v
