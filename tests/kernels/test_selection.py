from overlay_spark.kernels import selection as kernels
from overlay_spark.kernels.bands import new_members, next_band
from overlay_spark.kernels.ranks import COST, new_run
from overlay_spark.kernels.waiting import bin_of
from tests import checks


def test_queue__opens_bins_moves_heads_and_takes_candidates_back():
    costs = checks.matrix([(0, 1, 4), (0, 2, 4), (1, 2, 64)])
    instance = checks.instance_of([[0], [0], [0]], 1, costs)
    run = new_run(instance.growing(), instance.costs, COST)
    band = next_band(run, new_members(run.state), 0, 100)
    queue = kernels.new_queue(band)
    four, eight, last = (bin_of(rank) - run.first_bin for rank in (4.0, 8.0, 64.0))

    def heap():
        return [(queue.ranks[i], queue.codes[i]) for i in range(queue.size[0])]

    kernels.open_bin(run, band, four, queue)
    assert heap() == [(4.0, 1), (4.0, 2)]
    kernels.lower_head(run, band, four + 1, queue, 4.001)  # risen within the bin
    assert heap() == [(4.0, 2), (4.001, 1)]
    kernels.lower_head(run, band, four + 1, queue, 8.0)  # risen beyond it
    assert heap() == [(4.001, 1)]
    kernels.drop_head(queue)
    kernels.put_back(run, band, four + 1, queue, 4.0, 1)
    assert heap() == [(4.0, 1)]
    kernels.drop_head(queue)
    kernels.put_back(run, band, four + 1, queue, 64.0, 1)
    kernels.open_bin(run, band, eight, queue)
    assert heap() == [(4.0, 2)]  # its rank is found anew when its bin is opened
    kernels.open_bin(run, band, last, queue)
    assert heap()[0] == (4.0, 1)
    assert sorted(heap()) == [(4.0, 1), (4.0, 2), (64.0, 5)]
