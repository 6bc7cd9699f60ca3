"""A cluster for all tests here, Pythons for its workers, and a problem in Delta tables with its overlay made locally."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overlay_spark.jobs.packing import Packed, pack
from tests.cluster.cluster import Cluster
from tests.cluster.submitting import Submission


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    """The cluster with all its workers, whatever an earlier test did to them."""
    running.fill()
    return running


@pytest.fixture
def submission(cluster: Cluster, tmp_path: Path) -> Iterator[Submission]:
    """A program to submit to the cluster; it ends with the test."""
    prepared = Submission(cluster, tmp_path)
    yield prepared
    prepared.end()


def new_python(folder: Path) -> Path:
    """A Python with nothing but its standard library."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_python(tmp_path_factory.mktemp("bare") / "python")


@pytest.fixture(scope="session")
def plain_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with all that is installed here but this package, as a cluster's own may be."""
    folder = tmp_path_factory.mktemp("plain")
    installed = folder / "installed"
    installed.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "overlay_spark" not in entry.name and entry.suffix != ".pth":
            (installed / entry.name).symlink_to(entry)
    python = new_python(folder / "python")
    (site,) = (folder / "python").glob("lib/python*/site-packages")
    (site / "installed.pth").write_text(f"{installed}\n")
    return python


@pytest.fixture(scope="session")
def package_alone(tmp_path_factory: pytest.TempPathFactory) -> Packed:
    return pack(tmp_path_factory.mktemp("zip"))


@pytest.fixture
def stored(spark: Any, tmp_path: Path) -> Path:
    """A folder with a problem in Delta tables, and beside it the overlay made from them in this process's session."""
    from overlay_spark.jobs.design import run_design
    from overlay_spark.lab.plan import plan_workload
    from overlay_spark.lab.workload import run_workload
    from overlay_spark.options import Options, WorkloadOptions
    from overlay_spark.tables.references import Destination

    made = Options(workload=WorkloadOptions(nodes=600, topics=150, least=8, most=12))
    inputs = run_workload(spark, plan_workload(made), Destination.parse(str(tmp_path / "in")), made)
    run_design(spark, inputs, Destination.parse(str(tmp_path / "local")), Options()).close()
    return tmp_path
