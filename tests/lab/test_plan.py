import pytest

from overlay_spark.errors import OptionError
from overlay_spark.lab.plan import plan_workload
from overlay_spark.options import Options, WorkloadOptions
from overlay_spark.workloads.interests import Interests


def planned(**workload):
    return plan_workload(Options(workload=WorkloadOptions(**workload)))


@pytest.mark.parametrize(
    "costs, kinds", [("plane", (False, False)), ("clusters", (False, True)), ("pairs", (True, False))]
)
def test_plan__says_what_has_costs_of_its_own(costs, kinds):
    made = planned(costs=costs)
    assert (made.has_link_costs, made.has_site_costs) == kinds
    assert made.points is None


def test_plan__of_measured_points_has_them(tmp_path):
    (tmp_path / "points.csv").write_text("node,x,y\n0,1.5,2.0\n1,8.0,3.0\n")
    made = planned(costs="file", file=str(tmp_path / "points.csv"))
    assert made.points.points.tolist() == [[1.5, 2.0], [8.0, 3.0]]
    assert (made.has_link_costs, made.has_site_costs) == (False, False)


def test_plan__of_measured_sites_has_no_points(tmp_path):
    (tmp_path / "sites.csv").write_text("r,a,b\na,0,7\nb,7,0\n")
    made = planned(costs="file", file=str(tmp_path / "sites.csv"), inner=0.5)
    assert made.has_site_costs
    assert made.measured.table.tolist() == [[0.5, 7.0], [7.0, 0.5]]
    with pytest.raises(OptionError, match=r"sites\.csv: has costs between sites, and this needs coordinates"):
        _ = made.points


def test_plan__draws_interests_as_the_options_say():
    said = {"topics": 40, "least": 3, "most": 9, "exponent": 1.5, "law": "zipf", "alpha": 1.5}
    assert planned(sizes="power", **said, seed=6).interests == Interests(sizes="power", **said)
    assert planned(sizes="power", **said, seed=6).seed == 6
    assert planned(sizes="bernoulli", topics=7, mean=2.5).interests == Interests(sizes="bernoulli", topics=7, mean=2.5)
