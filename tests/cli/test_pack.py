from pathlib import Path

import pytest

import overlay_spark
from overlay_spark.cli import DONE, FAILED, main
from overlay_spark.cli import pack as command
from overlay_spark.errors import SetupError
from overlay_spark.jobs import packing

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_pack__says_how_to_submit(tmp_path, capsys):
    assert main(["pack", str(tmp_path)]) == DONE
    told, file = capsys.readouterr().out, tmp_path / f"overlay_spark-{overlay_spark.__version__}.zip"
    assert file.is_file()
    assert told.startswith(f"Written to {file}, for workers with Python {packing.python_line()} and numpy, pyarrow,")
    assert f"\n  --py-files {file} \\\n  pipelines/design_overlay.py --subscriptions REF" in told


def test_pack__that_fails_says_why_alone(tmp_path, capsys):
    (tmp_path / "taken").touch()
    assert main(["pack", str(tmp_path / "taken")]) == FAILED
    assert capsys.readouterr().err.startswith("overlay-spark: The file for workers cannot be made in ")


@pytest.mark.parametrize(
    "file, flags",
    [
        ("overlay_spark-0.1.0.zip", packing.zip_flags),
        ("overlay_spark-0.1.0-python3.11-linux-x86_64.tar.gz", packing.archive_flags),
    ],
)
def test_readme__has_the_lines_that_are_printed(file, flags):
    path = Path("dist") / file
    command_, *lines, _ = command.submit_lines(packing.Packed(path, flags(path)), "4.1")
    for line in lines:
        assert f"\n  {line} \\\n" in README
    assert f"\n{command_} --master spark://" in README


def test_spark_line__is_one_that_works_where_there_is_no_spark(monkeypatch):
    def refuse():
        raise SetupError("none")

    monkeypatch.setattr(command, "spark_version", refuse)
    assert command.spark_line() == "4.1"
