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
ARRAYS = BASE | {"instance", "costs", "ascending"}
PROBLEMS = BASE | {"problems", "results", "side_by_side", "tables"}
PRODUCT = PROBLEMS | {"api", "jobs", "__init__"}
NAMES_ONLY = {"algorithms.registry", "engines.__init__"}
"""What shells ask for names: the registry of algorithms, and the list of engines."""

MAY_IMPORT = {
    "errors": set(),
    "options": BASE,
    "side_by_side": set(),
    "kernels": {"kernels", "costs"},
    "ascending": set(),
    "costs": BASE,
    "instance": ARRAYS | {"kernels"},
    "algorithms": ARRAYS | {"algorithms", "kernels"},
    "workloads": BASE | {"workloads", "kernels"},
    "tables": BASE | {"side_by_side", "tables"},
    "problems": PROBLEMS,
    "results": PROBLEMS,
    "frames": ARRAYS | PROBLEMS | {"frames", "algorithms", "kernels"},
    "engines": ARRAYS | PROBLEMS | {"engines", "frames", "algorithms"},
    "api": PROBLEMS | {"algorithms", "engines", "frames"},
    "jobs": PRODUCT,
    "lab": PRODUCT | ARRAYS | {"lab", "algorithms", "engines", "frames", "kernels", "workloads"},
    "cli": PRODUCT | {"cli", "lab"} | NAMES_ONLY,
    "__init__": BASE | {"problems", "results", "api"},
}
"""What each room may import of the package: kernels < algorithms; problems < frames < engines < api < jobs < shells.

``costs`` names the array cost model, which kernels are typed by. The laboratory may import all, and only shells import
the laboratory.
"""

THIRD_PARTY = {
    "errors": set(),
    "options": set(),
    "side_by_side": set(),
    "ascending": {"numpy"},
    "costs": {"numpy"},
    "instance": {"numpy"},
    "kernels": {"numpy", "numba"},
    "algorithms": {"numpy"},
    "workloads": {"numpy"},
    "tables": {"pyarrow", "pyspark"},
    "problems": {"pyspark"},
    "results": {"pyspark"},
    "frames": {"numpy", "pyarrow", "pyspark"},
    "engines": {"numpy", "pyarrow", "pyspark"},
    "api": {"pyspark"},
    "jobs": {"pyspark"},
    "lab": {"numpy", "pyarrow", "pyspark"},
    "cli": {"pyspark"},
    "__init__": set(),
}
ONLY_IN = {
    "matplotlib": {"lab/plots.py"},
    "delta": set(),
    "graphframes": {"frames/graphs.py"},
    "numba": {"kernels/_jit.py", "kernels/_cache.py"},
}


def imports(path: Path) -> set[str]:
    """Full names of all modules a file imports, at its top or inside functions."""
    names = set()
    for item in ast.walk(ast.parse(path.read_text())):
        if isinstance(item, ast.Import):
            names |= {alias.name for alias in item.names}
        elif isinstance(item, ast.ImportFrom) and item.module:
            folder = ROOT.joinpath(*item.module.split("."))
            modules = {a.name for a in item.names if (folder / f"{a.name}.py").exists() or (folder / a.name).is_dir()}
            names |= {f"{item.module}.{name}" for name in modules}
            if len(modules) < len(item.names):
                names |= {item.module}
    return names


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module__imports_only_what_its_layer_may(path):
    names = imports(path)
    own = {
        name.removeprefix("overlay_spark").strip(".") or "__init__"
        for name in names
        if name.split(".")[0] == "overlay_spark"
    }
    allowed = MAY_IMPORT[room(path)]
    refused = {name for name in own if name.split(".")[0] not in allowed and not is_name_only(name, allowed)}
    assert not refused, f"{path}: {refused}"
    here = str(path.relative_to(PACKAGE))
    others = {n.split(".")[0] for n in names} - set(sys.stdlib_module_names) - {"overlay_spark", "__future__"}
    special = {name for name, places in ONLY_IN.items() if here in places}
    assert others <= (THIRD_PARTY[room(path)] - ONLY_IN.keys()) | special, f"{path}: {others}"


def is_name_only(name, allowed):
    return name in allowed or f"{name}.__init__" in allowed


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module__works_on_spark_connect(path):
    text = path.read_text()
    assert not re.search(r"\._jvm\b|\._jsc\b|\.rdd\b|(?<!\bF)\.broadcast\(|\bparallelize\b", text)
    if path.name != "workspace.py":
        assert not re.search(r"\.(persist|cache|checkpoint|localCheckpoint)\(", text), "lineage is cut in workspace.py"
    if path.name not in ("delta.py", "feed.py"):
        assert not re.search(r"\.sql\(", text), "SQL text is written where Delta is asked"
    assert "sparkContext" not in text or path.name == "session.py"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module__is_one_room(path):
    assert len(path.read_text().splitlines()) <= (200 if path.name == "api.py" else 300)
    if path.parent.name != "engines":
        assert not re.search(r"""["'](kernel|single)["'](?!\s*:)""", strip_sections(path.read_text())), (
            "an engine's own words"
        )


def strip_sections(text):
    """Without the name of the section of options, which is also kernel."""
    return re.sub(r'section="kernel"', "", text)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module__has_a_test_file_of_its_name(path):
    """Or its package has one for all."""
    here = path.relative_to(PACKAGE)
    places = (here.parent / f"test_{here.stem.lstrip('_')}.py", f"test_{here.parent}.py")
    assert here.name.startswith("__") or any((ROOT / "tests" / place).is_file() for place in places)


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
