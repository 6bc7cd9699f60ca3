"""What the README and the configuration say is what the code has."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from overlay_spark.algorithms import registry
from overlay_spark.options import Options

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def section(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", README, re.DOTALL)
    assert found, f"README.md has no part between <!-- {name} --> and <!-- end -->"
    return found[1]


def test_readme__has_the_table_of_tables():
    from overlay_spark.tables import catalog

    assert section("tables") == catalog.as_markdown()


def test_readme__has_the_table_of_algorithms():
    assert section("algorithms") == registry.as_markdown()


@pytest.mark.spark
def test_readme__example_runs(spark):
    code = section("example").removeprefix("```python\n").removesuffix("```")
    assert len(code.splitlines()) <= 12
    names = {"spark": spark}
    exec(code, names)
    assert names["overlay"].metrics["links"] == 2


def test_default_toml__lists_every_option_with_its_default():
    given = tomllib.loads((ROOT / "conf" / "default.toml").read_text())
    expected = {
        section: {key: value for key, value in values.items() if value is not None}
        for section, values in Options().to_mapping().items()
    }
    assert given == json.loads(json.dumps(expected))
    text = (ROOT / "conf" / "default.toml").read_text()
    for values in Options().to_mapping().values():
        for key in values:
            assert re.search(rf"^(# )?{key} = ", text, re.MULTILINE), key


@pytest.mark.parametrize("path", sorted((ROOT / "conf").glob("*.toml")), ids=lambda p: p.name)
def test_configurations__are_accepted(path):
    assert isinstance(Options.load(path), Options)
