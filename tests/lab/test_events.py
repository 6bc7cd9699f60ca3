"""What an event log says was shuffled, and when."""

from __future__ import annotations

import json

from overlay_spark.lab.events import BYTES, ROWS, Shuffled, event_log, shuffled_between


def stage(ended, rows=None, n_bytes=None):
    told = [{"Name": name, "Value": value} for name, value in ((ROWS, rows), (BYTES, n_bytes)) if value is not None]
    about = {"Completion Time": ended, "Accumulables": [{"Name": "internal.metrics.resultSize", "Value": 5}, *told]}
    return json.dumps({"Event": "SparkListenerStageCompleted", "Stage Info": about})


def test_shuffled_between__adds_up_the_stages_that_ended_meanwhile(tmp_path):
    (tmp_path / "eventlog_v2_x").mkdir()
    other = json.dumps({"Event": "SparkListenerTaskEnd"})
    lines = [stage(999, 7, 70), stage(1001, 1, 10), other, stage(2000, 2, 20), stage(2500), stage(2600, 4, 40)]
    (tmp_path / "eventlog_v2_x" / "events_1").write_text("\n".join(lines))
    (tmp_path / "eventlog_v2_x" / "appstatus").touch()
    assert shuffled_between(tmp_path, [1.0, 2.0, 3.0, 4.0]) == [Shuffled(3, 30), Shuffled(4, 40), Shuffled(0, 0)]


def test_event_log__is_plain_text_in_the_folder(tmp_path):
    settings = event_log(tmp_path)
    assert (settings["spark.eventLog.dir"], settings["spark.eventLog.compress"]) == (str(tmp_path), "false")
