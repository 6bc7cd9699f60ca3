"""spark-submit this file with the flags of ``overlay-spark design``.

spark-submit --py-files overlay_spark-*.whl pipelines/design_overlay.py --subscriptions table:main.bus.subscriptions ...
"""

import sys

from overlay_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["design", *sys.argv[1:]]))
