"""The only place that makes a Spark session.

The active session is taken; else, under spark-submit or Spark Connect, the one they provide; else a local one is
made, with Delta, and with GraphFrames where it can be had. A session that was given is checked for what jobs need.
"""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from overlay_spark.errors import SetupError
from overlay_spark.jobs.jars import DELTA_VERSION, local_jars
from overlay_spark.jobs.workers import require_workers
from overlay_spark.options import SessionOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

SUPPORTED_SPARK = ("4.0", "4.1", "4.2")
LEAST_JAVA = 17
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

FAST_START = (
    "-XX:+UseParallelGC -XX:NewSize=256m -XX:MetaspaceSize=256m "
    "-XX:Tier4InvocationThreshold=25000 -XX:Tier4MinInvocationThreshold=3000 -XX:Tier4CompileThreshold=75000 "
    "-XX:Tier4BackEdgeThreshold=200000"
)
"""Most of a short local run is a cold JVM: collect in parallel, and not because few classes were expected; compile well
what is called five times as often as Java waits for, so that compiling takes less from the run itself."""

ROOMY = {
    "spark.buffer.pageSize": "4m",  # else 64m: each sort or aggregation of a task clears one, however few its rows
    "spark.sql.codegen.cache.maxEntries": "2000",  # a design compiles more than the 100 that are kept otherwise
}
"""What repeated small queries gain by: less memory cleared, nothing compiled twice."""

BRIEF_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""Java has less room for code where it compiles lightly only: a session that went on would throw it away and compile it
again, for a fifth of its time."""
BRIEF = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""For runs of a minute: compile Java lightly and queries not at all, plan each query once. Large tables lose by it."""

Say = Callable[[str], None]


def open_session(
    options: SessionOptions | None = None, say: Say = log.info, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A session that reads and writes Delta tables; ``say`` hears what takes long or is missing.

    ``settings`` are Spark's own, for a session that is made here.
    """
    version = spark_version()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return _checked(active)
    if "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ:
        return _checked(SparkSession.builder.appName("overlay_spark").getOrCreate())
    require_java()
    return _local_session(options or SessionOptions(), version, say, settings or {})


def spark_version() -> str:
    """The installed Spark line, such as 4.1; one this package does not know is refused."""
    try:
        import pyspark
    except ImportError as error:
        raise SetupError(
            "Spark is not installed in this Python. On your own machine: pip install 'overlay-spark[local]'. "
            "On a cluster use the Python that comes with its Spark."
        ) from error
    if importlib.util.find_spec("pandas") is None:
        raise SetupError(
            "pandas is not installed in this Python, and Spark's Arrow functions need it. Run: pip install pandas."
        )
    line = ".".join(pyspark.__version__.split(".")[:2])
    if line not in SUPPORTED_SPARK:
        raise SetupError(
            f"pyspark {pyspark.__version__} is installed, but overlay-spark works with Spark "
            f"{', '.join(SUPPORTED_SPARK)}. Install one of these: pip install 'pyspark[connect]~=4.1.0'."
        )
    return line


def _checked(session: SparkSession) -> SparkSession:
    """A session that was given, if it has what jobs need."""
    require_delta(session)
    if not _runs_this_python(session):
        require_workers(session)
    return session


def _runs_this_python(session: SparkSession) -> bool:
    """Whether tasks run on this machine, with the Python that runs this."""
    if _is_connect(session):
        return False
    context = session.sparkContext
    return bool(re.match(r"local(\[|$)", context.master or "")) and shutil.which(context.pythonExec) == sys.executable


def require_delta(session: SparkSession) -> SparkSession:
    """The session given, if it can read and write Delta tables."""
    from overlay_spark.tables import delta
    from overlay_spark.tables.references import Reference

    advice = f"Start Spark with {' '.join(delta_flags(spark_version()))}."
    try:
        delta.exists(session, Reference("delta", tempfile.gettempdir()))
    except Exception as error:  # py4j's or Connect's
        if "DATA_SOURCE_NOT_FOUND" not in str(error):
            raise
        raise SetupError(f"This Spark session has no Delta Lake jar. {advice}") from error
    if "DATABRICKS_RUNTIME_VERSION" in os.environ or _is_connect(session):
        return session  # what extensions there are is the server's affair
    if DELTA_EXTENSION not in (session.conf.get("spark.sql.extensions", "") or ""):
        raise SetupError(f"This Spark session has the Delta Lake jar, but not its extension. {advice}")
    return session


def delta_flags(spark_line: str) -> tuple[str, ...]:
    """The flags of spark-submit that bring Delta Lake to a Spark of this line."""
    return (
        *("--packages", f"io.delta:delta-spark_{spark_line}_2.13:{DELTA_VERSION}"),
        *("--conf", f"spark.sql.extensions={DELTA_EXTENSION}"),
        *("--conf", f"spark.sql.catalog.spark_catalog={DELTA_CATALOG}"),
    )


def _is_connect(session: SparkSession) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


def require_java() -> int:
    """The version of Java, 17 or newer; else one message that says what was found."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    where = f"JAVA_HOME is {home}" if home else "no java on the PATH"
    advice = f"Install Java {LEAST_JAVA} or newer (for example OpenJDK 17) and set JAVA_HOME to it."
    try:
        found = subprocess.run([java or "java", "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"Spark needs Java, and none was found ({where}). {advice}") from error
    match = re.search(r'version "(\d+)(?:\.(\d+))?', found.stderr + found.stdout)
    major = 0 if match is None else int(match[2] or 0) if match[1] == "1" else int(match[1])
    if major < LEAST_JAVA:
        seen = match[0].removeprefix("version ").strip('"') if match else "of an unknown version"
        raise SetupError(f"Spark needs Java {LEAST_JAVA} or newer, but {java} is {seen}. {advice}")
    return major


def _local_session(options: SessionOptions, version: str, say: Say, also: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    jars = local_jars(options, version, say)
    folder = tempfile.mkdtemp(prefix="overlay-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    cores = os.cpu_count() or 1 if options.cores == "*" else int(options.cores)
    memory = options.driver_memory or _half_of_memory()
    settings: dict[str, bool | float | int | str | None] = {
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.checkpoint.dir": f"{folder}/checkpoints",
        "spark.cleaner.referenceTracking.cleanCheckpoints": "true",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": " ".join(
            [
                FAST_START,
                f"-Xms{memory}",  # reserved, not taken: a heap that grows collects all of itself each time
                *([BRIEF_JAVA] if options.brief else []),
                f"-Dlog4j2.configurationFile={_log_settings(folder)}",
            ]
        ),
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.session.timeZone": "UTC",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # call sites: three calls to the JVM for each of ours
        "spark.databricks.delta.snapshotPartitions": "1",  # logs of a local run are short; each part is a task
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **ROOMY,
    }
    if options.brief:
        settings.update(BRIEF)
    settings.update(also)
    builder = SparkSession.builder.appName("overlay_spark").master(f"local[{options.cores}]")
    session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _log_settings(folder: str) -> str:
    """A log4j file that lets errors through only, from the first line the JVM writes.

    What fails in a task comes back as an error of the query, so Spark's own lines on it would only say it again.
    """
    path = Path(folder) / "log4j2.properties"
    path.write_text(
        "logger.task.name = org.apache.spark.executor.Executor\nlogger.task.level = off\n"
        "logger.tasks.name = org.apache.spark.scheduler.TaskSetManager\nlogger.tasks.level = off\n"
        "rootLogger.level = error\nrootLogger.appenderRef.stderr.ref = stderr\n"
        "appender.stderr.type = Console\nappender.stderr.name = stderr\nappender.stderr.target = SYSTEM_ERR\n"
        "appender.stderr.layout.type = PatternLayout\n"
        "appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex\n"
    )
    return str(path)


def _half_of_memory() -> str:
    """Half of this machine's memory, between 1 and 16 GiB: the other half is for Python workers."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return "2g"
    return f"{min(16 * 1024, max(1024, total // 2 // 1024**2))}m"
