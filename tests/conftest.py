"""One Spark session for all tests that need one, started by the first of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHANGEABLE = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.ansi.enabled": "true",
}
"""Settings that a test may change, with the values every test starts from."""

CASES = Path(__file__).parent / "cases"
GOLDEN = sorted(CASES.glob("*.json"))


@pytest.fixture(params=GOLDEN, ids=[path.stem for path in GOLDEN])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A golden case: interests, costs (multiples of 1/1024) and what each algorithm must give."""
    return json.loads(request.param.read_text())


@pytest.fixture(scope="session")
def _session() -> Iterator[Any]:
    from overlay_spark.jobs import session as sessions
    from overlay_spark.options import SessionOptions
    from tests.sessions import quick_java

    sessions.BRIEF_JAVA = quick_java(minutes=True)
    session = sessions.open_session(SessionOptions(cores="2", brief=True, driver_memory="2g"))
    for name, value in CHANGEABLE.items():
        session.conf.set(name, value)
    yield session
    session.stop()


@pytest.fixture
def spark(_session: Any) -> Iterator[Any]:
    yield _session
    _session.catalog.clearCache()
    for name, value in CHANGEABLE.items():
        _session.conf.set(name, value)


@pytest.fixture
def workspace(spark: Any) -> Iterator[Any]:
    from overlay_spark.frames.workspace import Workspace
    from overlay_spark.options import WorkspaceOptions

    opened = Workspace(spark, WorkspaceOptions())
    yield opened
    opened.close()


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A session that offers neither cache nor checkpoints, as serverless Spark does; lists what was refused."""
    from pyspark.errors import AnalysisException
    from pyspark.sql.classic.dataframe import DataFrame

    refused: list[str] = []

    def refusal(name: str) -> Any:
        def refuse(*_: Any, **__: Any) -> None:
            refused.append(name)
            raise AnalysisException(f"[NOT_SUPPORTED_WITH_SERVERLESS] {name} is not supported on serverless compute.")

        return refuse

    for name in ("persist", "cache", "checkpoint", "localCheckpoint"):
        monkeypatch.setattr(DataFrame, name, refusal(name))
    return refused
