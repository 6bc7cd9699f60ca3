"""The flags that programs on a cluster get, the tables they leave, and those that a run here leaves."""

from __future__ import annotations

from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.options import Options
from overlay_spark.tables import catalog
from overlay_spark.tables.references import Destination
from tests import plain_delta
from tests.cluster.submitting import ROOT

PIPELINE, REFRESH = (ROOT / "pipelines" / name for name in ("design_overlay.py", "refresh_overlay.py"))
OVERLAY = (catalog.OVERLAY_LINKS, catalog.OVERLAY_TOPICS, catalog.OVERLAY_NODES)
INPUTS = (catalog.SUBSCRIPTIONS, catalog.NODES)
IN_ROUNDS = ("design.engine=frames", "frames.finish_in_task=0", "frames.least_band=5000")
IN_PARTS = ("design.engine=divide", "divide.part_nodes=60", "divide.least_nodes=10", "divide.join_nodes=120")


def arguments(folder, *settings, output="out"):
    return (
        *("--subscriptions", f"delta:{folder}/in/subscriptions"),
        *("--nodes", f"delta:{folder}/in/nodes", "--coordinates", "--output", f"{folder}/{output}"),
        *(flag for setting in settings for flag in ("--set", setting)),
    )


def inputs_in(folder):
    place = Destination.parse(f"{folder}/in")
    return Inputs(**{table.name: place.table(table.name) for table in INPUTS})


def design_here(spark, folder, name, *settings):
    """In this process's session; gives back the tables."""
    options = Options.load(None, settings)
    run_design(spark, inputs_in(folder), Destination.parse(f"{folder}/{name}"), options).close()
    return tables(folder / name)


def tables(folder, *more):
    place = Destination.parse(str(folder))
    return {table.name: plain_delta.sorted_rows(place.table(table.name)) for table in (*OVERLAY, *more)}


def links_but_stages(found):
    columns = catalog.OVERLAY_LINKS.schema.names
    return [row[: columns.index("stage")] + row[columns.index("stage") + 1 :] for row in found["overlay_links"]]


def stages_of(found):
    return {row[catalog.OVERLAY_LINKS.schema.names.index("stage")] for row in found["overlay_links"]}


def executors_of(tasks):
    return {task["Task Info"]["Executor ID"] for task in tasks if task["Task End Reason"]["Reason"] == "Success"}


def failed(submission):
    ends = submission.events("TaskEnd")
    return [end["Task End Reason"] for end in ends if end["Task End Reason"]["Reason"] != "Success"]
