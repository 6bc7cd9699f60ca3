"""The rules of the house: who imports whom, and what is named nowhere."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "overlay_spark"
MODULES = sorted(PACKAGE.rglob("*.py"))

BASE = {"errors", "options"}
ARRAYS = {"instance", "costs", "algorithms", "workloads"}
PUBLIC = {"api", "problems", "results"}
MAY_IMPORT = {
    "errors": set(),
    "options": {"errors"},
    "kernels": {"kernels", "costs"},
    "costs": BASE,
    "instance": BASE | {"costs", "kernels"},
    "algorithms": BASE | ARRAYS | {"kernels"},
    "workloads": BASE | {"workloads", "kernels"},
    "tables": BASE | {"tables"},
    "frames": BASE | ARRAYS | {"tables", "frames", "kernels"},
    "problems": BASE | {"frames", "tables"},
    "results": BASE | {"frames", "tables"},
    "api": BASE | PUBLIC | {"frames", "tables", "algorithms", "costs"},
    "jobs": BASE | PUBLIC | {"tables", "jobs", "workloads", "__init__"},
    "cli": BASE | PUBLIC | {"tables", "jobs", "algorithms", "printing", "__init__"},
    "printing": BASE | PUBLIC | {"tables", "jobs", "algorithms"},
    "__init__": BASE | PUBLIC,
}
"""What each room may import of the package. ``costs`` names the array cost model, which kernels are typed by."""

BENCHES = {"jobs/benchmark.py", "jobs/kernel_run.py", "jobs/experiments.py"}
"""Jobs that measure algorithms on arrays."""

THIRD_PARTY = {
    "errors": set(),
    "options": set(),
    "kernels": {"numpy", "numba"},
    "costs": {"numpy"},
    "instance": {"numpy"},
    "algorithms": {"numpy"},
    "workloads": {"numpy"},
    "tables": {"pyspark", "pyarrow"},
    "frames": {"numpy", "pyarrow", "pyspark"},
    "problems": {"pyspark"},
    "results": {"pyspark"},
    "api": {"pyspark"},
    "jobs": {"numpy", "pyarrow", "pyspark"},
    "cli": {"pyspark"},
    "printing": set(),
    "__init__": set(),
}
ONLY_IN = {
    "matplotlib": {"jobs/plots.py"},
    "delta": {"tables/delta.py", "jobs/session.py"},
    "graphframes": {"frames/graphs.py"},
}


def imports(path: Path) -> set[str]:
    """Full names of all modules a file imports, at its top or inside functions."""
    names = set()
    for item in ast.walk(ast.parse(path.read_text())):
        if isinstance(item, ast.Import):
            names |= {alias.name for alias in item.names}
        elif isinstance(item, ast.ImportFrom) and item.module:
            names |= {item.module}
            if item.module in ("overlay_spark", "overlay_spark.tables", "overlay_spark.frames"):
                names |= {f"{item.module}.{alias.name}" for alias in item.names}
    return names


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module__imports_only_what_its_layer_may(path):
    own = {n.split(".")[1] if "." in n else "__init__" for n in imports(path) if n.split(".")[0] == "overlay_spark"}
    if "overlay_spark" in imports(path) and room(path) in ("tables", "frames"):
        pytest.fail("a lower layer imports the package's public face")
    here = str(path.relative_to(PACKAGE))
    allowed = MAY_IMPORT[room(path)] | (ARRAYS if here in BENCHES else set())
    assert own <= allowed, f"{path}: {own - allowed}"
    others = {n.split(".")[0] for n in imports(path)} - set(sys.stdlib_module_names) - {"overlay_spark", "__future__"}
    special = {name for name, places in ONLY_IN.items() if here in places}
    assert others <= THIRD_PARTY[room(path)] | special, f"{path}: {others}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module__works_on_spark_connect(path):
    text = path.read_text()
    assert not re.search(r"\._jvm\b|\._jsc\b|\.rdd\b|\.broadcast\(|\bparallelize\b", text)
    if "frames" in path.parts and path.name != "lineage.py":
        assert not re.search(r"\.(persist|cache|checkpoint|localCheckpoint)\(", text), "lineage is cut in lineage.py"
    assert not re.search(r"\.sql\(", text), "no SQL text"
    assert "sparkContext" not in text or path.name == "session.py"


def test_kernels__are_decorated_in_one_place():
    for path in (PACKAGE / "kernels").glob("*.py"):
        assert "numba" not in imports(path) or path.name == "_jit.py"


def test_import__loads_neither_spark_nor_a_compiler():
    code = (
        "import sys, overlay_spark; overlay_spark.Options, overlay_spark.errors\n"
        "print([m for m in ('pyspark', 'numba', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help__loads_neither_spark_nor_a_compiler():
    code = (
        "import sys; from overlay_spark.cli import main; main(['design', '--help']); "
        "assert not {'pyspark', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_public_names__are_all_there():
    import overlay_spark

    for name in overlay_spark.__all__:
        assert getattr(overlay_spark, name).__name__ == name
    with pytest.raises(AttributeError):
        overlay_spark.nothing  # noqa: B018


def test_pipelines__are_thin():
    shells = sorted((ROOT / "pipelines").glob("*.py"))
    assert shells
    for path in shells:
        assert len(path.read_text().splitlines()) <= 25
        assert {n for n in imports(path) if n.startswith("overlay_spark")} == {"overlay_spark.cli"}


def test_text__names_no_machine_of_ours():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if files.returncode != 0:
        pytest.skip("not a git checkout")
    for name in files.stdout.split():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".conf") and path != Path(__file__):
            assert not re.search(rf"(?<!\w){os.sep}(work|root|home)/", path.read_text()), name
