"""What the Sparks that tests start have in common.

``python -m tests.sessions FILE`` keeps in FILE the Java classes that a small design loads; with SHARED_CLASSES set to it
Sparks start a third sooner, and do all else as ever.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from overlay_spark.jobs.session import BRIEF, BRIEF_JAVA

SPARK_HOME = str(Path(pyspark.__file__).parent)
SHARED_CLASSES = "OVERLAY_SPARK_TESTS_SHARED_CLASSES"


def quick_java(minutes: bool = False) -> str:
    """Options of a Java that starts soon; with ``minutes`` of queries before it, compiling them well pays."""
    chosen = "-XX:+TieredCompilation" if minutes else BRIEF_JAVA
    kept = os.environ.get(SHARED_CLASSES, "")
    return f"{chosen} -XX:SharedArchiveFile={kept} -Xlog:disable" if Path(kept).is_file() else chosen


QUICK = {
    **BRIEF,
    "spark.driver.extraJavaOptions": quick_java(),
    "spark.executor.extraJavaOptions": quick_java(),
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Settings that make cold Sparks, in processes of their own, quick; none of them may change a result."""

PROGRAM = """
import sys
from overlay_spark.cli import main
from overlay_spark.jobs import session

session.BRIEF_JAVA += f" -XX:ArchiveClassesAtExit={sys.argv[1]} -Xlog:disable"
code = main(["design", "--subscriptions=csv:s.csv", "--link-costs=csv:l.csv", "--output=out", "--set=session.brief=true"])
import pyspark
gateway = pyspark.SparkContext._gateway
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
sys.exit(code)
"""


def keep_classes(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "s.csv").write_text("node_id,topic_id\na,x\nb,x\na,y\nc,y\n")
        (Path(folder) / "l.csv").write_text("src,dst,cost\na,b,1\na,c,2\n")
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "-c", PROGRAM, str(file.absolute())]
        subprocess.run(command, check=True, cwd=folder, env=environment)


if __name__ == "__main__":
    keep_classes(Path(sys.argv[1]))
