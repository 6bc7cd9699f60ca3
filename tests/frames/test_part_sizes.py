"""Sizes of parts: of so many nodes as there may be in a task, never of more than there are."""

from __future__ import annotations

from dataclasses import replace

from overlay_spark.frames.estimates import A_SITE_PAIR, INTERPRETER, Size
from overlay_spark.frames.part_sizes import bytes_of_task, size_in_parts
from overlay_spark.options import DivideOptions, Options

WHOLE = Size(nodes=100_000, topics=1000, subscriptions=6_000_000, candidates=4 * 10**9, is_exact=False, is_sampled=True)
CHOSEN = Options(divide=DivideOptions(part_nodes=8000, join_nodes=2000))


def test_size_in_parts__is_of_the_largest_task_and_of_the_drivers_own():
    size = size_in_parts(WHOLE, CHOSEN)
    assert size.task_bytes == size.part_bytes > size.driver_bytes == size.join_bytes > INTERPRETER
    assert size.task_bytes < WHOLE.task_bytes
    assert size.tasks == 25
    assert (size.candidates, size.is_exact, size.is_sampled) == (400_000_000, False, False)  # a bound, not a sample
    larger = replace(CHOSEN, divide=DivideOptions(part_nodes=16_000))
    assert size_in_parts(WHOLE, larger).task_bytes > size.task_bytes


def test_size_in_parts__of_a_problem_that_fits_one_part_is_the_problems():
    small = Size(nodes=500, topics=9, subscriptions=3000, candidates=7000, is_exact=True)
    size = size_in_parts(small, CHOSEN)
    assert (size.tasks, size.candidates, size.is_exact) == (1, 7000, True)
    assert size.task_bytes == small.task_bytes
    assert size.time_class == "seconds"


def test_bytes_of_task__counts_ties_listed_links_and_costs_between_sites_among_its_nodes():
    plain = bytes_of_task(WHOLE, 1000, 60_000)
    tied = replace(WHOLE, tied=10**9)
    assert bytes_of_task(tied, 1000, 60_000) > plain
    assert bytes_of_task(replace(WHOLE, listed=10**8), 1000, 60_000) > plain
    sites = bytes_of_task(replace(WHOLE, site_pairs=300), 1000, 60_000)
    assert sites == plain + 300 * A_SITE_PAIR
    assert bytes_of_task(replace(WHOLE, site_pairs=10**9), 1000, 60_000) == plain + 10**6 * A_SITE_PAIR
