"""spark-submit this file with the flags of ``overlay-spark refresh``."""

import sys

from overlay_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["refresh", *sys.argv[1:]]))
