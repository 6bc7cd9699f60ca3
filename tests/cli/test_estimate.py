from types import SimpleNamespace

import pytest

from overlay_spark.cli.estimate import print_estimate


@pytest.mark.parametrize(
    "is_exact, is_sampled, fits, told",
    [
        (True, False, True, ("counted", "kernel engine fits", "Engine: kernel or not.")),
        (False, True, True, ("about", "kernel engine fits", "Engine: kernel or not.")),
        (False, False, False, ("at most", "kernel engine does not fit", "kernel or not.")),
    ],
)
def test_print_estimate__tells_what_and_whether_it_fits(is_exact, is_sampled, fits, told, capsys):
    found = SimpleNamespace(
        nodes=1000,
        topics=1,
        subscriptions=60_000,
        candidates=499_500,
        is_exact=is_exact,
        is_sampled=is_sampled,
        task_bytes=3 << 29,
        engine="kernel",
        fits=fits,
        time_class="seconds",
        choice="kernel or not.",
    )
    print_estimate(found, "8g")
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "nodes 1,000",
        "topics 1",
        "subscriptions 60,000",
        f"candidate links 499,500 {told[0]}",
        "memory of the solving task 1.50 GiB about; design.task_memory allows 8g",
        "time to solve seconds roughly",
        *told[1:],
    ]
