import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark.errors import OptionError
from overlay_spark.workloads import latencies as module
from tests.strategies import SEEDS

MEASURED = module.MeasuredPoints(np.arange(20.0).reshape(10, 2), np.arange(10.0) % 3)


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=50))
def test_pairs__are_numbered_one_to_one(numbers):
    u, v = module.pairs_numbered(np.array(numbers))
    assert (u >= 0).all()
    assert (u < v).all()
    assert module.pair_numbers(u, v).tolist() == numbers


def test_pairs__of_n_nodes_have_the_first_numbers():
    v, u = np.tril_indices(30, -1)
    assert sorted(module.pair_numbers(u, v).tolist()) == list(range(30 * 29 // 2))


def test_measured_points__stand_once_each_for_the_first_nodes():
    points, heights = MEASURED.place(np.arange(10), seed=4)
    assert sorted(map(tuple, points.tolist())) == sorted(map(tuple, MEASURED.points.tolist()))
    assert points.tolist() != MEASURED.points.tolist()
    assert dict(zip(points[:, 0], heights, strict=True)) == dict(
        zip(MEASURED.points[:, 0], MEASURED.heights, strict=True)
    )


def test_measured_points__are_moved_a_little_for_nodes_beyond_them():
    points, heights = MEASURED.place(np.arange(10, 3000), seed=4)
    measured = np.column_stack([MEASURED.points, MEASURED.heights])
    nearest = np.rint(points[:, 0] / 2).astype(int)  # the row whose first coordinate is nearest
    moved = np.column_stack([points, heights]) - measured[nearest]
    step = module.SMALL_STEP * measured.std(axis=0)
    assert (np.abs(moved) <= step).all()
    assert (np.abs(moved[:, 0]) > 0).all()
    assert (heights >= 0).all()
    assert np.bincount(nearest).min() > 200


@given(SEEDS, st.lists(st.integers(0, 10**9), unique=True, max_size=20), st.integers(0, 20))
def test_all_draws__depend_on_seed_and_number_only(seed, numbers, cut):
    draws = {
        "measured": lambda part: np.column_stack(MEASURED.place(part, seed)),
        "points": lambda part: module.random_points(part, 3, 50.0, seed),
        "sites": lambda part: module.random_sites(part, 7, seed),
        "pairs": lambda part: module.pair_costs(part, 1.0, 9.0, seed),
    }
    numbers = np.array(numbers, np.int64)
    for name, draw in draws.items():
        together = draw(numbers)
        apart = np.concatenate([draw(numbers[:cut]), draw(numbers[cut:])])
        assert together.tolist() == apart.tolist(), name


def test_draws__fill_their_ranges():
    numbers = np.arange(20_000)
    points, costs = module.random_points(numbers, 2, 50.0, 1), module.pair_costs(numbers, 1.0, 9.0, 1)
    for values, low, high in ((points[:, 0], 0, 50), (points[:, 1], 0, 50), (costs, 1, 9)):
        assert low < values.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < values.max() < high
        assert abs(values.mean() - (low + high) / 2) < 0.02 * (high - low)
    assert (np.abs(np.bincount(module.random_sites(numbers, 10, 1)) - 2000) < 300).all()


def test_cluster_costs__are_inner_within_and_spread_around_outer_between():
    a, b = np.triu_indices(30, 1)
    same = np.arange(30)
    assert (module.cluster_costs(same, same, 1.0, 50.0, 0.5, seed=2) == 1.0).all()
    between = module.cluster_costs(a, b, inner=1.0, outer=50.0, spread=0.5, seed=2)
    assert 25 < between.min() < 30
    assert 70 < between.max() < 75
    assert (module.cluster_costs(a, b, 1.0, 50.0, 0.0, 2) == 50.0).all()


def test_read_measured__takes_coordinates_with_and_without_height(tmp_path):
    path = tmp_path / "coords.csv.gz"
    path.write_bytes(gzip.compress(b"node,x_ms,y_ms,height_ms\n0,1.5,2,0.25\n1,-3,4e1,0\n"))
    found = module.read_measured(str(path), within=1.0)
    assert found.points.tolist() == [[1.5, 2.0], [-3.0, 40.0]]
    assert found.heights.tolist() == [0.25, 0.0]
    plain = tmp_path / "plain.csv"
    plain.write_text("node,x\n0,1\n1,2\n")
    assert module.read_measured(str(plain), 1.0).heights.tolist() == [0.0, 0.0]


def test_read_measured__fills_empty_cells_of_a_table_over_one_other_site(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text("region,a,b,c,d\na,0,,5,9\nb,,0,4,1\nc,5,4,0,7\nd,9,1,7,0\n")
    found = module.read_measured(str(path), within=0.5)
    assert found.names == ("a", "b", "c", "d")
    assert found.table.tolist() == [[0.5, 9, 5, 9], [9, 0.5, 4, 1], [5, 4, 0.5, 7], [9, 1, 7, 0.5]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is empty"),
        ("node,x\n", "is not a table of numbers"),
        ("node,x,y\n0,1\n1,2,3\n", "is not a table of numbers"),
        ("node,x\n0,one\n", "is not a table of numbers"),
        ("node,x,y\n0,1,\n", "a number in each cell"),
        ("node,x,height\n0,1,-1\n", "negative heights"),
        ("r,a,b\na,0,-1\nb,-1,0\n", "must be positive"),
        ("r,a,b\na,0,1\nb,2,0\n", "the same in both directions"),
        ("r,a,b,c\na,0,,1\nb,,0,\nc,1,,0\n", "no cost between a and b, and no other site links to both"),
    ],
)
def test_read_measured__refuses_what_it_cannot_use(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(OptionError, match=message):
        module.read_measured(str(path), 1.0)
    with pytest.raises(OptionError, match="cannot be read"):
        module.read_measured(str(tmp_path / "none.csv"), 1.0)


def test_read_measured__refuses_a_damaged_archive(tmp_path):
    (tmp_path / "bad.csv.gz").write_bytes(gzip.compress(b"node,x\n0,1\n")[:12] + b"damaged")
    with pytest.raises(OptionError, match="cannot be read"):
        module.read_measured(str(tmp_path / "bad.csv.gz"), 1.0)
