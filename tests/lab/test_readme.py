"""The README's generated parts."""

from __future__ import annotations

import pytest

from overlay_spark.lab import readme
from tests.architecture.test_docs import README


def test_rewritten__leaves_a_right_page_alone_and_mends_a_wrong_one():
    assert readme.rewritten(README) == README
    assert readme.rewritten(README.replace("| GrMAW |", "| GreedyMAW |")) == README


def test_rewritten__refuses_a_page_without_a_part():
    with pytest.raises(ValueError, match="no part between <!-- steps --> and"):
        readme.rewritten(README.replace("<!-- steps -->", ""))
