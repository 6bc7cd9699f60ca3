from argparse import Namespace

from overlay_spark.cli.parsing import inputs_of, options_of, with_flags, with_workload_flags
from overlay_spark.options import Options


def test_flags__win_over_set_and_set_over_the_file(tmp_path):
    (tmp_path / "o.toml").write_text("[design]\nseed = 1\nalgorithm = 'trees'\nengine = 'kernel'\n")
    options = options_of(Namespace(config=str(tmp_path / "o.toml"), set=["design.seed=2", "design.algorithm=GM"]))
    chosen = with_flags(options, "design", seed=3, algorithm=None).design
    assert (chosen.seed, chosen.algorithm, chosen.engine) == (3, "GM", "kernel")


def test_with_workload_flags__a_file_gives_the_costs_unless_they_are_said():
    made = with_workload_flags(Options(), file="a.csv", costs=None, seed=4).workload
    assert (made.costs, made.file, made.seed) == ("file", "a.csv", 4)
    assert with_workload_flags(Options(), file=None, costs="pairs").workload.costs == "pairs"


def test_inputs_of__names_the_tables_given():
    given = Namespace(
        subscriptions="csv:s.csv", nodes="delta:n", link_costs=None, site_costs="table:a.b", coordinates=False
    )
    inputs = inputs_of(given)
    assert {table.name: str(place) for table, place in inputs.by_table().items()} == {
        "subscriptions": "csv:s.csv",
        "nodes": "delta:n",
        "site_costs": "table:a.b",
    }
