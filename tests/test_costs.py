import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay_spark import costs as module
from overlay_spark.costs import LISTED, MAX_UNITS, SITES
from tests import naive
from tests.strategies import SEEDS, instances

UNITS = [1e-6, 1e-3, 1 / 1024, 0.1, 0.5, 1.0, 2.0, 2.5, 1000.0, 3e-7]
DECIMAL_UNITS = [1e-9, 1e-6, 1e-3, 0.1, 1.0]


def rows_of(costs):
    return list(zip(costs.src.tolist(), costs.dst.tolist(), costs.values.tolist(), strict=True))


@given(SEEDS, st.dictionaries(st.tuples(st.integers(0, 20), st.integers(21, 40)), st.integers(1, MAX_UNITS)))
def test_listed_costs__are_the_same_in_any_order_and_orientation(seed, table):
    rng = np.random.default_rng(seed)
    rows = np.array([(u, v, cost) for (u, v), cost in table.items()], np.int64).reshape(-1, 3)
    rows = rng.permutation(rows)
    ends = rng.permuted(rows[:, :2], axis=1)
    costs = module.listed_costs(ends[:, 0], ends[:, 1], rows[:, 2])
    assert costs.kind == LISTED
    assert rows_of(costs) == sorted((u, v, cost) for (u, v), cost in table.items())


def test_listed_costs__have_the_dtypes_kernels_are_compiled_for():
    costs = module.listed_costs(np.array([1]), np.array([0]), np.array([5]))
    assert (costs.src.dtype, costs.dst.dtype, costs.values.dtype) == (np.int32, np.int32, np.int64)
    assert (costs.sites.dtype, costs.table.dtype, costs.table.ndim) == (np.int32, np.int64, 2)


def test_cost_models__share_one_type_and_layout():
    listed = module.listed_costs(np.array([0]), np.array([1]), np.array([5]))
    sites = module.site_costs(np.array([0, 1, 0]), np.array([[1, 2], [2, 3]]))
    empty = module.listed_costs(*np.empty((3, 0), np.int64))
    points = module.point_costs(np.zeros((4, 2), np.float32)[::2], [1, 2], 1e-6)
    forms = {
        tuple((type(field), getattr(field, "dtype", None), np.ndim(field)) for field in costs)
        for costs in (listed, sites, points, empty)
    }
    assert len(forms) == 1
    assert all(field.flags.c_contiguous for costs in (listed, sites, points, empty) for field in costs[1:-1])


def test_site_costs__become_contiguous_whatever_they_were():
    table = np.asfortranarray(np.array([[1, 2], [2, 3]], np.int32))
    costs = module.site_costs(np.arange(4)[::2] // 2, table)
    assert costs.kind == SITES
    assert costs.sites.tolist() == [0, 1]
    assert costs.table.tolist() == [[1, 2], [2, 3]]
    assert costs.table.flags.c_contiguous
    assert costs.table.dtype == np.int64


def test_matrix_costs__make_every_node_its_own_site():
    costs = module.matrix_costs(np.array([[0, 7], [7, 0]]))
    assert costs.sites.tolist() == [0, 1]
    assert costs.table[costs.sites[0], costs.sites[1]] == 7


def test_uniform__keeps_the_links_and_forgets_their_costs():
    listed = module.listed_costs(np.array([2, 0]), np.array([1, 2]), np.array([5, 9]))
    assert rows_of(module.uniform(listed)) == [(0, 2, 1), (1, 2, 1)]
    assert rows_of(listed) == [(0, 2, 9), (1, 2, 5)]
    for costs in (
        module.matrix_costs(np.array([[0, 7], [7, 0]])),
        module.point_costs(np.array([[0.0], [7.0]]), np.zeros(2), 1.0),
    ):
        assert module.cost_row(costs, 0)[1] == 7
        assert module.cost_row(module.uniform(costs), 0).tolist() == [1, 1]


@given(instances(listed=False, max_topics=3))
def test_cost_row__is_what_each_link_costs(instance):
    for u in range(instance.n_nodes):
        row = module.cost_row(instance.costs, u).tolist()
        others = [v for v in range(instance.n_nodes) if v != u]
        assert [row[v] for v in others] == [naive.cost_between(instance.costs, u, v) for v in others]


@pytest.mark.parametrize(
    "cost, expected", [(0.4, 0), (0.5, 1), (1.49, 1), (1.5, 2), (2.5, 3), (float(MAX_UNITS), MAX_UNITS)]
)
def test_to_units__rounds_halves_up(cost, expected):
    units = module.to_units(np.array([cost]), 1.0)
    assert units.tolist() == [expected]
    assert units.dtype == np.int64


@pytest.mark.parametrize("unit", UNITS)
@given(units=st.lists(st.integers(1, MAX_UNITS), max_size=20))
def test_units__survive_the_way_out_and_back(unit, units):
    units = np.array(units, np.int64)
    assert module.to_units(module.from_units(units, unit), unit).tolist() == units.tolist()


@pytest.mark.parametrize("unit", DECIMAL_UNITS)
@given(digits=st.integers(1, 10**11))
def test_costs__with_the_units_decimals_come_back_as_they_were(unit, digits):
    cost = digits / round(1 / unit)  # the double nearest to the decimal number
    assert module.from_units(int(module.to_units(np.array([cost]), unit)[0]), unit) == cost


@pytest.mark.parametrize(
    "unit, expected",
    [(1e-6, (1e6, True)), (1 / 1024, (1024.0, True)), (1.0, (1.0, True)), (2.0, (2.0, False)), (0.3, (0.3, False))],
)
def test_from_units_factor__divides_where_the_inverse_is_whole(unit, expected):
    assert module.from_units_factor(unit) == expected


def test_from_units__takes_one_number_or_many():
    assert module.from_units(100_000, 1e-6) == 0.1
    assert module.from_units(np.array([100_000, 300_000]), 1e-6).tolist() == [0.1, 0.3]
    assert module.from_units(3, 2.5) == 7.5
