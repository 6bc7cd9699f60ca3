"""spark-submit this file with the flags of ``overlay-spark design``.

overlay-spark pack makes the file that workers need, and prints the whole command.
"""

import sys

from overlay_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["design", *sys.argv[1:]]))
