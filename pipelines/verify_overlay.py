"""spark-submit this file with the flags of ``overlay-spark verify``."""

import sys

from overlay_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["verify", *sys.argv[1:]]))
