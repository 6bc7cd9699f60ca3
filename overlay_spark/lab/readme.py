"""The tables of the README, as the code declares them: ``python -m overlay_spark.lab.readme`` writes them anew."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from overlay_spark.algorithms import registry
from overlay_spark.tables import catalog

PARTS: dict[str, Callable[[], str]] = {
    "algorithms": registry.algorithms_as_markdown,
    "steps": registry.steps_as_markdown,
    "tables": catalog.as_markdown,
}
"""What stands between ``<!-- name -->`` and ``<!-- end -->``."""


def rewritten(text: str) -> str:
    """The page with every such part as it should be."""
    for name, part in PARTS.items():
        found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", text, re.DOTALL)
        if found is None:
            raise ValueError(f"the page has no part between <!-- {name} --> and <!-- end -->")
        text = text[: found.start(1)] + part() + text[found.end(1) :]
    return text


if __name__ == "__main__":
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "README.md")
    page.write_text(rewritten(page.read_text()))
