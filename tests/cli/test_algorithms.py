from overlay_spark.algorithms.registry import ALGORITHMS, BOUNDS, STEPS
from overlay_spark.cli import DONE, main


def test_algorithms__are_listed_with_steps_and_bounds(capsys):
    assert main(["algorithms"]) == DONE
    told = capsys.readouterr().out
    for algorithm in ALGORITHMS:
        assert f"{algorithm.name}, in the papers {algorithm.paper_name}\n" in told
        assert algorithm.guarantee in told
    for named in (*STEPS, *BOUNDS):
        assert f"  {named.name}: " in told
    assert "options    kernel.band" in told
