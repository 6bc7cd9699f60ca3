"""What the README and the configuration say is what the code has."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from overlay_spark import engines
from overlay_spark.algorithms import registry
from overlay_spark.cli import main
from overlay_spark.lab import readme
from overlay_spark.options import Options

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def section(name: str) -> str:
    """The part of the README between two marks."""
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", README, re.DOTALL)
    assert found, f"README.md has no part between <!-- {name} --> and <!-- end -->"
    return found[1]


def test_readme__has_the_tables_that_the_code_declares():
    assert readme.rewritten(README) == README, "run: python -m overlay_spark.lab.readme"


def test_readme__has_words_and_layers():
    words = [
        line.split(" | ")[0].strip("| ") for line in README.split("## Words")[1].split("## Inside")[0].splitlines()
    ]
    assert len([word for word in words if word and word not in ("word", "---|---")]) == 15
    layers = re.findall(r"^\d+\. (.*)$", README.split("## Inside")[1].split("### To add")[0], re.MULTILINE)
    named = set(re.findall(r"`(\w+)(?:/|\.py)`", " ".join(layers)))
    rooms = {path.stem for path in (ROOT / "overlay_spark").iterdir() if path.suffix in ("", ".py")}
    assert len(layers) == 10
    assert named - {"pipelines"} == rooms - {"__init__", "__pycache__"}


RECIPE = README.split("### To add an algorithm")[1].split("## Reading")[0]


def test_recipe__names_places_there_are():
    places = re.findall(r"`((?:overlay_spark|tests)/[\w/<>.]*)`", RECIPE)
    assert len(places) >= 5
    for place in places:
        assert (ROOT / place.replace("<name>", "greedy")).exists(), place
    assert "python -m overlay_spark.lab.readme" in RECIPE


def test_recipe__is_complete(monkeypatch, capsys):
    """An algorithm or a step that is registered is known wherever names are taken, listed or shown."""
    new = replace(registry.ALGORITHMS[0], name="mirrored", paper_name="MirMAW")
    step = replace(registry.STEPS[0], name="polish", does="polishes")
    monkeypatch.setattr(registry, "ALGORITHMS", (*registry.ALGORITHMS, new))
    monkeypatch.setattr(registry, "STEPS", (*registry.STEPS, step))
    engines.require_known(Options().designing("MirMAW", then="polish"))
    assert "| mirrored | MirMAW |" in readme.rewritten(README)
    assert "| polish | polishes |" in readme.rewritten(README)
    assert main(["algorithms"]) == 0
    assert "mirrored, in the papers MirMAW" in capsys.readouterr().out


@pytest.mark.spark
def test_readme__example_runs(spark):
    code = section("example").removeprefix("```python\n").removesuffix("```")
    assert len(code.splitlines()) <= 12
    names = {"spark": spark}
    exec(code, names)
    assert names["overlay"].metrics.links == 2


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
