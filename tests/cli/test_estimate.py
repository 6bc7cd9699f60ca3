from __future__ import annotations

import pytest

from overlay_spark.cli.estimate import print_estimate
from overlay_spark.results import EngineEstimate, Estimate


def engine(name, refusal=None, driver_bytes=0):
    return EngineEstimate(
        name=name,
        candidates=7,
        tasks=1000,
        task_bytes=3 << 29,
        driver_bytes=driver_bytes,
        time_class="seconds",
        refusal=refusal,
    )


@pytest.mark.parametrize(
    "is_exact, is_sampled, fits, told",
    [
        (True, False, True, ("counted", "Engine: one or two.")),
        (False, True, True, ("about", "Engine: one or two.")),
        (False, False, False, ("at most", "one or two.")),
    ],
)
def test_print_estimate__tells_what_each_engine_takes(is_exact, is_sampled, fits, told, capsys):
    found = Estimate(
        nodes=1000,
        topics=1,
        subscriptions=60_000,
        candidates=499_500,
        is_exact=is_exact,
        is_sampled=is_sampled,
        engine="one",
        fits=fits,
        choice="one or two.",
        engines=(engine("one"), engine("other", "No.", 1 << 30)),
    )
    print_estimate(found, "8g")
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "nodes 1,000",
        "topics 1",
        "subscriptions 60,000",
        f"candidate links 499,500 {told[0]}",
        "",
        "Engines (design.task_memory allows 8g a task):",
        "tasks a task driver time, roughly",
        "one 1,000 1.50 GiB - seconds fits",
        "other 1,000 1.50 GiB 1.00 GiB seconds is not taken",
        "",
        told[1],
    ]
