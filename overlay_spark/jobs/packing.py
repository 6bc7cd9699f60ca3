"""The package as one file that spark-submit ships to the workers of a cluster.

The package alone is a zip: Spark puts zips, unlike wheels, on the workers' path, and all of ours is plain Python.
Compiled modules cannot be imported from a zip, so the package with its dependencies is an archive, which Spark
unpacks on each worker. It holds exactly what this Python runs, copied file by file.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePath

import overlay_spark
from overlay_spark.errors import SetupError

OURS = "overlay-spark"
BESIDE = "pandas"
"""What workers need beside our requirements: Spark's Arrow functions refuse to run without it."""
UNPACKED = "overlay_spark_packed"
"""The folder that Spark unpacks an archive into, in the working folder of each executor."""
COMPRESSION = 1
"""Of archives: most of one is machine code, which higher levels make little smaller and much slower."""

Files = Iterator[tuple[str, Path]]
"""Names in the file made, and where each is copied from."""


@dataclass(frozen=True)
class Packed:
    """A file for workers, and the flags that make spark-submit ship it."""

    path: Path
    flags: tuple[str, ...]


def pack(folder: Path, with_dependencies: bool = False) -> Packed:
    """Make the file, in a folder: the package alone, or with all that it needs."""
    ours = _our_distribution()
    name = f"overlay_spark-{ours.version}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if with_dependencies:
            path = folder / f"{name}-python{python_line()}-{sysconfig.get_platform()}.tar.gz"
            _write_archive(path, ours)
            return Packed(path, archive_flags(path))
        path = folder / f"{name}.zip"
        _write_zip(path, ours)
        return Packed(path, zip_flags(path))
    except OSError as error:
        raise SetupError(f"The file for workers cannot be made in {folder}: {error}.") from error


def zip_flags(path: Path) -> tuple[str, ...]:
    return ("--py-files", str(path))


def archive_flags(path: Path) -> tuple[str, ...]:
    return ("--archives", f"{path}#{UNPACKED}", "--conf", f"spark.executorEnv.PYTHONPATH={UNPACKED}")


def python_line() -> str:
    """The minor version of this Python, such as 3.11; that of workers must be the same."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _write_zip(path: Path, ours: Distribution) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as package:
        for name, source in _our_files(ours):
            package.write(source, name)


def _write_archive(path: Path, ours: Distribution) -> None:
    needed = _dependencies(ours)
    with tarfile.open(path, "w:gz", compresslevel=COMPRESSION, dereference=True) as archive:
        for name, source in _our_files(ours):
            archive.add(source, name)
        for dependency in needed:
            for name, source in _files(dependency):
                archive.add(source, name)


def _our_distribution() -> Distribution:
    advice = f"Run this where it is: pip install {OURS}, or pip install . in a clone."
    try:
        ours = distribution(OURS)
    except PackageNotFoundError as error:
        raise SetupError(f"{OURS} is not installed in this Python, so there is nothing to pack. {advice}") from error
    if not _our_folder().is_dir():
        raise SetupError(f"{OURS} is itself run from a packed file here. {advice}")
    return ours


def _our_folder() -> Path:
    return Path(overlay_spark.__file__).parent


def _our_files(ours: Distribution) -> Files:
    """The package as it is imported here, which may be a clone, and the metadata that tells its version."""
    folder = _our_folder()
    for source in sorted(folder.rglob("*")):
        if source.is_file() and _is_shipped(source):
            yield str(source.relative_to(folder.parent)), source
    for name, source in _files(ours):
        if name.endswith(".dist-info/METADATA"):
            yield name, source


def _files(found: Distribution) -> Files:
    """What a distribution installed below its folder of packages: not its scripts."""
    if found.files is None:
        raise SetupError(
            f"{found.name} was not installed by pip, so its files are not known. Install overlay-spark and its "
            "dependencies by pip into a virtual environment, and pack from there."
        )
    for file in found.files:
        if ".." not in file.parts and _is_shipped(file):
            yield str(file), Path(str(found.locate_file(file)))


def _is_shipped(file: PurePath) -> bool:
    return file.suffix != ".pyc"


def _dependencies(ours: Distribution) -> list[Distribution]:
    """All that the package needs, directly or not, extras apart.

    A requirement under a condition, such as another system, is met where it is installed.
    """
    found: dict[str, Distribution] = {}
    waiting = [(BESIDE, True), *_requirements(ours)]
    while waiting:
        name, is_certain = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError as error:
            if is_certain:
                raise SetupError(
                    f"{name} is not installed in this Python, so it cannot be packed. Run: pip install {name}."
                ) from error
        else:
            waiting += _requirements(found[name])
    return list(found.values())


def _requirements(found: Distribution) -> Iterator[tuple[str, bool]]:
    """(name, whether it is needed under all conditions) of all requirements but those of extras."""
    for text in found.requires or ():
        requirement, _, condition = text.partition(";")
        if not re.search(r"\bextra\b", condition):
            name = re.match(r"[\w.-]+", requirement.strip())
            assert name is not None, text
            yield re.sub(r"[-_.]+", "-", name[0]).lower(), not condition
