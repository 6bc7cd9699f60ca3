"""Files for workers: what is in them, and what is told where they cannot be made."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import overlay_spark
from overlay_spark.errors import SetupError
from overlay_spark.jobs import packing

SOURCES = Path(overlay_spark.__file__).parent


class Distribution:
    """Stands in for an installed one."""

    version = "1.0"

    def __init__(self, name, requires=(), files=()):
        self.name, self.requires, self.files = name, list(requires), files

    def locate_file(self, file):
        return Path(file)


@pytest.fixture
def installed(monkeypatch):
    """Lets a test say what is installed, by name."""
    known = {"pandas": Distribution("pandas")}

    def find(name):
        if name not in known:
            raise PackageNotFoundError(name)
        return known[name]

    monkeypatch.setattr(packing, "distribution", find)
    return known


def test_zip__is_the_package_and_knows_its_version(tmp_path):
    packed = packing.pack(tmp_path / "new" / "folder")
    assert packed.path.name == f"overlay_spark-{overlay_spark.__version__}.zip"
    assert packed.flags == ("--py-files", str(packed.path))
    names = set(zipfile.ZipFile(packed.path).namelist())
    assert {str(path.relative_to(SOURCES.parent)) for path in SOURCES.rglob("*.py")} <= names
    assert not [name for name in names if name.endswith(".pyc")]
    code = f"import sys; sys.path.insert(0, {str(packed.path)!r})\nimport overlay_spark as o; print(o.__file__, o.__version__)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{packed.path}/overlay_spark/__init__.py", overlay_spark.__version__]


def test_archive__has_all_files_of_what_is_needed_and_no_scripts(tmp_path, installed, monkeypatch):
    ours = packing._our_distribution  # as it is, before another is named
    monkeypatch.chdir(tmp_path)
    for name in ("m/code.so", "m/code.pyc", "bin/tool"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
    files = [Path("m/code.so"), Path("m/code.pyc"), Path("../bin/tool")]
    installed["pandas"] = Distribution("pandas", files=files)
    installed["overlay-spark"] = Distribution("overlay-spark", files=[])
    assert ours().version == "1.0"
    packed = packing.pack(tmp_path / "out", with_dependencies=True)
    with tarfile.open(packed.path) as archive:
        others = [name for name in archive.getnames() if not name.startswith("overlay_spark/")]
        assert archive.extractfile("m/code.so").read() == b"m/code.so"
    assert others == ["m/code.so"]
    assert packed.path.name.startswith(f"overlay_spark-1.0-python{packing.python_line()}-")
    assert packed.flags == (
        *("--archives", f"{packed.path}#overlay_spark_packed"),
        *("--conf", "spark.executorEnv.PYTHONPATH=overlay_spark_packed"),
    )


def test_dependencies__are_those_of_the_package_and_theirs():
    names = {found.name.lower() for found in packing._dependencies(packing._our_distribution())}
    assert {"numpy", "numba", "llvmlite", "pyarrow", "pandas", "python-dateutil"} <= names
    assert not {"pyspark", "delta-spark", "pytest", "matplotlib"} & names


def test_dependencies__under_a_condition_are_taken_where_installed(installed):
    ours = Distribution("ours", ["A_b>=1 ; python_version > '3'", "gone ; sys_platform == 'x'", "extra ; extra == 'x'"])
    installed["a-b"], installed["extra"] = Distribution("a-b", ["ours", "pandas (>=2)"]), Distribution("extra")
    installed["ours"] = ours
    assert [found.name for found in packing._dependencies(ours)] == ["a-b", "pandas", "ours"]


def test_dependencies__that_are_missing_or_of_unknown_files_are_told(installed, tmp_path):
    with pytest.raises(SetupError, match=r"gone is not installed .* Run: pip install gone\."):
        packing._dependencies(Distribution("ours", ["gone>=1"]))
    with pytest.raises(SetupError, match=r"pandas was not installed by pip.*virtual environment"):
        list(packing._files(Distribution("pandas", files=None)))


def test_pack__of_what_is_not_installed_is_told(installed, tmp_path, monkeypatch):
    with pytest.raises(SetupError, match="overlay-spark is not installed in this Python, so there is nothing to pack"):
        packing.pack(tmp_path)
    installed["overlay-spark"] = Distribution("overlay-spark")
    monkeypatch.setattr(packing, "_our_folder", lambda: tmp_path / "x.zip" / "overlay_spark")
    with pytest.raises(SetupError, match="is itself run from a packed file here"):
        packing.pack(tmp_path)


def test_pack__where_nothing_can_be_written_is_told(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(SetupError, match=r"The file for workers cannot be made in .*taken: .*File exists"):
        packing.pack(tmp_path / "taken")
