"""Kept machine code, tried on copies of the package in processes of their own."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlay_spark.kernels import _cache as kernels

PACKAGE = Path(kernels.__file__).parents[1]
OUTER = """
from overlay_spark.kernels._jit import kernel
from overlay_spark.kernels.inner import inner

@kernel
def outer(x):
    return inner(x) + 1
"""
INNER = """
from overlay_spark.kernels._jit import kernel

@kernel
def inner(x):
    return 10 * x
"""
PROGRAM = """
from overlay_spark.kernels.outer import outer
print(outer(1), sum(outer.stats.cache_hits.values()))
"""


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of our kernels and two more, one of which calls the other in another file."""
    package = tmp_path / "copy" / "overlay_spark"
    shutil.copytree(PACKAGE / "kernels", package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    shutil.copy(PACKAGE / "costs.py", package)
    (package / "kernels" / "outer.py").write_text(OUTER)
    (package / "kernels" / "inner.py").write_text(INNER)
    return package.parent


def environment(tmp_path, path, **more):
    return {
        **os.environ,
        "NUMBA_DISABLE_JIT": "0",
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "OVERLAY_SPARK_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(path),
        **more,
    }


def start(tmp_path, path, **more):
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment(tmp_path, path, **more), cwd=tmp_path, **pipes)


def finish(process):
    """(what the kernel gave back, how many kernels were not compiled anew)"""
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return tuple(map(int, out.split()))


def run(tmp_path, path, **more):
    return finish(start(tmp_path, path, **more))


def test_kept_code__is_used_again_and_not_after_a_callee_has_changed_in_another_file(tmp_path, copy):
    assert run(tmp_path, copy) == (11, 0)
    assert run(tmp_path, copy) == (11, 1)
    inner = copy / "overlay_spark" / "kernels" / "inner.py"
    inner.write_text(inner.read_text().replace("10 * x", "20 * x"))
    assert run(tmp_path, copy) == (21, 0)
    assert run(tmp_path, copy) == (21, 1)
    assert len(list((tmp_path / "cache" / "kernels").iterdir())) == 2
    assert not (tmp_path / "numba").exists()  # where a user's own functions are kept is not ours


def test_kept_code__is_used_by_a_package_inside_a_wheel(tmp_path, copy):
    wheel = Path(shutil.make_archive(str(tmp_path / "overlay_spark"), "zip", copy)).rename(tmp_path / "overlay.whl")
    shutil.rmtree(copy)
    assert run(tmp_path, wheel) == (11, 0)
    assert run(tmp_path, wheel) == (11, 1)


def test_kept_code__of_two_processes_at_once_is_whole(tmp_path, copy):
    both = [start(tmp_path, copy) for _ in range(2)]
    assert [finish(process)[0] for process in both] == [11, 11]
    assert run(tmp_path, copy) == (11, 1)


def test_kept_code__that_was_cut_short_is_made_again(tmp_path, copy):
    run(tmp_path, copy)
    for suffix in ("nbi", "nbc"):
        for file in (tmp_path / "cache").rglob(f"outer*.{suffix}"):
            file.write_bytes(file.read_bytes()[:40])
        assert run(tmp_path, copy) == (11, 0)
        assert run(tmp_path, copy) == (11, 1)


def test_kept_code__falls_back_to_the_next_place_that_can_be_written(tmp_path, copy):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder would have to be")
    (tmp_path / "tmp").mkdir()
    places = {
        "OVERLAY_SPARK_CACHE": str(blocked),
        "XDG_CACHE_HOME": str(tmp_path / "caches"),
        "TMPDIR": str(tmp_path / "tmp"),
    }
    assert [run(tmp_path, copy, **places)[1] for _ in range(2)] == [0, 1]
    assert (tmp_path / "caches" / "overlay-spark" / "kernels").is_dir()
    places["XDG_CACHE_HOME"] = str(blocked)
    assert [run(tmp_path, copy, **places)[1] for _ in range(2)] == [0, 1]
    private = tmp_path / "tmp" / f"overlay-spark-{os.getuid()}"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    private.chmod(0o777)  # others may have put something there
    assert [run(tmp_path, copy, **places)[1] for _ in range(2)] == [0, 0]


def test_private_folder__is_refused_where_another_could_write(tmp_path):
    folder = tmp_path / "mine"
    assert kernels._private_folder(folder) == folder
    assert kernels._private_folder(folder) == folder
    folder.chmod(0o770)
    assert kernels._private_folder(folder) is None
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert kernels._private_folder(link) is None
    assert kernels._private_folder(tmp_path / "not" / "there") is None


def test_folder__is_named_by_the_sources_and_those_long_unused_go(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERLAY_SPARK_CACHE", str(tmp_path))
    long_ago = time.time() - kernels.KEPT_SECONDS - 60
    old, used = "0" * 64, "1" * 64
    for name, age in ((old, long_ago), (used, time.time()), ("theirs", long_ago), (kernels.source_hash(), long_ago)):
        (tmp_path / "kernels" / name).mkdir(parents=True)
        os.utime(tmp_path / "kernels" / name, (age, age))
    folder = kernels._folder.__wrapped__()
    assert folder == tmp_path / "kernels" / kernels.source_hash()
    assert {other.name for other in folder.parent.iterdir()} == {used, "theirs", folder.name}


def test_places__come_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERLAY_SPARK_CACHE", str(tmp_path / "given"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    private = tmp_path / f"overlay-spark-{os.getuid()}"
    places = [tmp_path / "given", tmp_path / "caches" / "overlay-spark", private]
    assert list(kernels._places()) == [place / "kernels" for place in places]
    monkeypatch.delenv("OVERLAY_SPARK_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert next(kernels._places()) == Path.home() / ".cache" / "overlay-spark" / "kernels"
