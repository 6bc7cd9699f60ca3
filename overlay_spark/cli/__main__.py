"""``python -m overlay_spark.cli`` is ``overlay-spark``."""

import sys

from overlay_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())
