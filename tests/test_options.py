import dataclasses
import re

import pytest

from overlay_spark.errors import OptionError
from overlay_spark.options import (
    ChurnOptions,
    ComponentOptions,
    CostOptions,
    DesignOptions,
    FramesOptions,
    KernelOptions,
    MetricsOptions,
    Options,
    RefreshOptions,
    SessionOptions,
    WorkloadOptions,
    WorkspaceOptions,
)


def write(folder, text):
    path = folder / "options.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_load__of_nothing_is_the_defaults():
    assert Options.load() == Options()


def test_load__reads_sections_and_keeps_the_other_defaults(tmp_path):
    path = write(tmp_path, '[design]\nalgorithm = "trees"\nseed = 7\n\n[costs]\nunit = 0.5\n')
    assert Options.load(path) == Options(design=DesignOptions(algorithm="trees", seed=7), costs=CostOptions(unit=0.5))
    assert Options.load(str(path)) == Options.load(path)


def test_load__lets_overrides_win_over_the_file_and_later_ones_over_earlier(tmp_path):
    path = write(tmp_path, "[design]\nseed = 7\nalgorithm = 'trees'\n")
    options = Options.load(path, ["design.seed=8", " design.seed = 9 ", "kernel.band=5"])
    assert options.design == DesignOptions(algorithm="trees", seed=9)
    assert options.kernel.band == 5


@pytest.mark.parametrize(
    "override, value",
    [
        ("design.algorithm=GrMAW", "GrMAW"),
        ("design.algorithm='GrMAW'", "GrMAW"),
        ('design.algorithm="GrMAW"', "GrMAW"),
        ("design.bound=primal_dual", "primal_dual"),
        ("design.bound=a=b", "a=b"),
        ("design.then=reverse_delete", ("reverse_delete",)),
        ("design.then=['a', 'b']", ("a", "b")),
        ("workspace.handover_rows=10", 10),
        ("costs.unit=1e-3", 0.001),
        ("session.brief=true", True),
        ("session.driver_memory=4g", "4g"),
        ("design.seed=9223372036854775807", 2**63 - 1),
    ],
)
def test_overrides__are_toml_values_or_bare_words(override, value):
    section, key = override.partition("=")[0].split(".")
    assert getattr(getattr(Options.load(overrides=[override]), section), key) == value


@pytest.mark.parametrize("override", ["", "design", "design.seed", "seed=1", ".seed=1", "design.=1", "=1"])
def test_overrides__without_section_key_and_value_are_refused(override):
    with pytest.raises(OptionError, match=r"must look like section\.key=value"):
        Options.load(overrides=[override])


@pytest.mark.parametrize(
    "override, hint",
    [
        ("desing.seed=1", "unknown section [desing]. Did you mean 'design'?"),
        ("design.sead=1", "unknown key design.sead. Did you mean 'seed'?"),
        ("design.seed.x=1", "unknown key design.seed.x. Did you mean 'seed'?"),
        (
            "qqq.seed=1",
            "unknown section [qqq]. Known: churn, components, costs, degrees, design, divide, frames, kernel, metrics, refresh, session, workload, workspace.",
        ),
        (
            "design.qqq=1",
            "unknown key design.qqq. Known: algorithm, bound, engine, exact_candidates, seed, task_memory, then.",
        ),
    ],
)
def test_unknown_names__are_refused_with_the_nearest_or_all_known_ones(override, hint):
    with pytest.raises(OptionError, match=re.escape(hint)):
        Options.load(overrides=[override])


@pytest.mark.parametrize(
    "section, values, message",
    [
        ("design", {"seed": "1"}, "design.seed must be of type int, got '1'."),
        ("design", {"seed": 1.0}, "design.seed must be of type int, got 1.0."),
        ("design", {"seed": True}, "design.seed must be of type int, got True."),
        ("design", {"algorithm": 3}, "design.algorithm must be of type str, got 3."),
        ("design", {"bound": 3}, "design.bound must be of type str or nothing, got 3."),
        ("design", {"then": 3}, "design.then must be a list of names, got 3."),
        ("design", {"then": ["a", 3]}, "design.then must be a list of names, got ['a', 3]."),
        ("session", {"cores": 1.5}, "session.cores must be of type int or str, got 1.5."),
        ("costs", {"unit": "1"}, "costs.unit must be of type float, got '1'."),
        ("costs", {"unit": False}, "costs.unit must be of type float, got False."),
        ("session", {"brief": 1}, "session.brief must be of type bool, got 1."),
        ("refresh", {"redesign_on_hole": "yes"}, "refresh.redesign_on_hole must be of type bool, got 'yes'."),
    ],
)
def test_values__of_another_type_are_refused(section, values, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        Options.from_mapping({section: values})


def test_values__that_are_whole_are_taken_for_a_float():
    unit = Options.from_mapping({"costs": {"unit": 2}}).costs.unit
    assert (unit, type(unit)) == (2.0, float)


def test_sections__must_be_sections():
    with pytest.raises(OptionError, match=re.escape("here: 'design' must be a section, like [design].")):
        Options.from_mapping({"design": "trees"}, where="here")


def test_load__says_where_the_fault_is(tmp_path):
    path = write(tmp_path, "[design]\nsead = 1\n")
    with pytest.raises(OptionError, match=re.escape(f"{path}: unknown key design.sead")):
        Options.load(path)


@pytest.mark.parametrize("content", [b"[design\n", b"seed == 1", b"[design]\nseed = 1\nseed = 2\n", b"\xff\xfe"])
def test_load__refuses_what_is_not_toml(tmp_path, content):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(OptionError, match=re.escape(f"{path}: is not valid TOML (")):
        Options.load(path)


def test_load__refuses_a_file_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(OptionError, match=re.escape(f"{path}: cannot be read (")):
            Options.load(path)


@pytest.mark.parametrize(
    "cls, values",
    [
        (DesignOptions, {"seed": -1}),
        (DesignOptions, {"seed": 2**63}),
        (DesignOptions, {"task_memory": "0g"}),
        (DesignOptions, {"task_memory": "8 GB"}),
        (WorkloadOptions, {"seed": -1}),
        (WorkspaceOptions, {"handover_rows": 0}),
        (CostOptions, {"unit": 0.0}),
        (CostOptions, {"unit": -1.0}),
        (CostOptions, {"unit": float("nan")}),
        (CostOptions, {"unit": float("inf")}),
        (KernelOptions, {"band": -1}),
        (FramesOptions, {"band_share": 0.0}),
        (FramesOptions, {"band_share": 1.1}),
        (FramesOptions, {"least_band": 0}),
        (FramesOptions, {"topic_rows": 0}),
        (FramesOptions, {"finish_in_task": -1}),
        (FramesOptions, {"broadcast_subscriptions": -1}),
        (FramesOptions, {"most_candidates": 0}),
        (ChurnOptions, {"objective": "links"}),
        (ChurnOptions, {"backups": "all"}),
        (ChurnOptions, {"pick": "first"}),
        (ChurnOptions, {"coverage": 0}),
        (ChurnOptions, {"exchange": -1}),
        (ComponentOptions, {"method": "spark"}),
        (ComponentOptions, {"huge_topic": 0}),
        (ComponentOptions, {"contract_above": 0}),
        (MetricsOptions, {"diameter_max_nodes": -1}),
        (RefreshOptions, {"most_added": -0.1}),
        (RefreshOptions, {"most_removed": -1.0}),
        (RefreshOptions, {"most_recosted": float("nan")}),
        (RefreshOptions, {"most_nodes_lost": -0.5}),
        (RefreshOptions, {"most_drift": -0.01}),
        (RefreshOptions, {"backups_up_to": -1}),
        (SessionOptions, {"cores": "0"}),
        (SessionOptions, {"cores": "-2"}),
        (SessionOptions, {"cores": "many"}),
        (SessionOptions, {"cores": ""}),
        (SessionOptions, {"cores": 0}),
        (SessionOptions, {"driver_memory": "much"}),
    ],
)
def test_option_values__out_of_range_are_refused_by_name_with_what_was_found(cls, values):
    ((key, value),) = values.items()
    with pytest.raises(OptionError, match=rf"\w+\.{key} must (be|look like) .*got .*{re.escape(str(value))}"):
        cls(**values)


def test_option_values__at_the_borders_are_taken():
    assert DesignOptions(seed=2**63 - 1).seed == 2**63 - 1
    assert FramesOptions(finish_in_task=0, broadcast_subscriptions=0, band_share=1.0).finish_in_task == 0
    assert (ChurnOptions(coverage=1).coverage, ChurnOptions(exchange=0).exchange) == (1, 0)
    assert RefreshOptions(most_added=0.0, most_nodes_lost=5.0, backups_up_to=0).most_added == 0.0
    assert KernelOptions(band=0).band == MetricsOptions(diameter_max_nodes=0).diameter_max_nodes == 0
    assert [SessionOptions(cores=cores).cores for cores in ("*", "1", "16")] == ["*", "1", "16"]


def test_to_mapping__is_read_back_as_the_same_options():
    options = Options(
        design=DesignOptions(algorithm="trees", engine="kernel", seed=3, then=("reverse_delete",), bound="primal_dual"),
        costs=CostOptions(unit=0.25),
        session=SessionOptions(cores="2", brief=True, jars="here"),
    )
    assert Options.from_mapping(options.to_mapping()) == options
    assert Options.from_mapping(Options().to_mapping()) == Options()


def test_options__cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Options().design.seed = 1
