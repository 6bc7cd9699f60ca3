"""Where the machine code of kernels is kept: a folder for every state of all their sources.

numba keeps a function's code as long as the function's own file stays as it is; a function that it calls may change
in another file. So here the name of the folder is a hash of all the sources kernels consist of: whatever is edited,
everything is compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from numba.core import caching

KEPT_SECONDS = 30 * 24 * 3600
"""How long the folder of another state is kept after its last use."""
UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)
"""What reading files raises that were cut short, by a machine that stopped for example."""


def kept_code(function: Callable[..., Any]) -> KeptCode | None:
    """The kept machine code of a kernel; None where there is no folder to keep it in, or it is not one of ours."""
    folder = _folder() if function.__module__.rpartition(".")[0] == __package__ else None
    return None if folder is None else KeptCode(function, folder)


class KeptCode(caching.FunctionCache):
    """numba's cache of one function, in a folder of our choice; what cannot be read or written is not kept."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._impl_class = lambda _: _Place(function, folder)
        cast(Any, super()).__init__(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return cast(Any, super()).load_overload(sig, target_context)
        except UNREADABLE:
            with contextlib.suppress(OSError):
                cast(Any, self).flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk, or a folder that was taken away
            cast(Any, super()).save_overload(sig, data)


class _Place(caching.CompileResultCacheImpl):
    """What numba asks for to keep one function: a folder, a name in it, and what the code was made of."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        code = function.__code__
        self._lineno, self._py_file = code.co_firstlineno, code.co_filename
        self._locator, self._folder = self, folder
        name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._filename_base = cast(Any, self).get_filename_base(name, getattr(sys, "abiflags", ""))

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._lineno)


@cache
def _folder() -> Path | None:
    """The folder of the sources as they are, the first that can be written; others long unused are removed."""
    try:
        name = source_hash()
    except OSError:  # the package was installed without its sources
        return None
    for kernels in _places():
        folder = kernels / name
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)
            _remove_unused(kernels)
            return folder
    return None


def source_hash() -> str:
    """A hash of all the sources that machine code is made from, also where they lie in an archive."""
    package = resources.files(__package__.rpartition(".")[0])
    sources = [package / "costs.py", *(file for file in (package / "kernels").iterdir() if file.name.endswith(".py"))]
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda source: source.name):
        content = source.read_bytes()
        digest.update(f"\0{source.name} {len(content)}\0".encode() + content)
    return digest.hexdigest()


def _places() -> Iterator[Path]:
    """Where kept code may lie, the best place first."""
    if given := os.environ.get("OVERLAY_SPARK_CACHE"):
        yield Path(given) / "kernels"
    with contextlib.suppress(RuntimeError):  # a user without a home
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
        yield caches.expanduser() / "overlay-spark" / "kernels"
    if private := _private_folder(Path(tempfile.gettempdir()) / f"overlay-spark-{os.getuid()}"):
        yield private / "kernels"


def _private_folder(folder: Path) -> Path | None:
    """The folder, if only this user can write there: loading kept code runs it, and anybody may make any folder."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        told = folder.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(told.st_mode) and told.st_uid == os.getuid() and not told.st_mode & 0o022
    return folder if is_ours else None


def _remove_unused(kernels: Path) -> None:
    for folder in kernels.iterdir():
        with contextlib.suppress(OSError):
            is_ours = re.fullmatch("[0-9a-f]{64}", folder.name) is not None
            if is_ours and folder.stat().st_mtime < time.time() - KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
