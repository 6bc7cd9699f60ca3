"""What cold Sparks, started by tests in processes of their own, have in common."""

from __future__ import annotations

from pathlib import Path

import pyspark

from overlay_spark.jobs.session import BRIEF, BRIEF_JAVA

SPARK_HOME = str(Path(pyspark.__file__).parent)

QUICK = {
    **BRIEF,
    "spark.driver.extraJavaOptions": BRIEF_JAVA,
    "spark.executor.extraJavaOptions": BRIEF_JAVA,
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Settings that make these cold Sparks quick; none of them may change a result."""
