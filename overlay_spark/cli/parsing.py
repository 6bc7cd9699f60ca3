"""What commands share: their common flags, the options and references these stand for, and exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overlay_spark.errors import OptionError
from overlay_spark.options import Options

if TYPE_CHECKING:
    from overlay_spark.jobs.inputs import Inputs

DONE, REFUSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130

EXIT_CODES = """\
exit codes:
  0 done   1 refused or refuted   2 wrong flag or option   3 failed   130 interrupted
"""
REFERENCES = """\
where tables are read (REF):
  delta:PATH     a Delta table in a folder or object store
  parquet:PATH   Parquet files
  csv:PATH       CSV files with a header line
  table:NAME     a table in a cluster's catalog: table, schema.table or catalog.schema.table
                 (a local session's catalog ends with the session)
where results are written (WHERE):
  FOLDER         Delta tables in this folder, one sub-folder each
  table:SCHEMA   tables in a schema of a cluster's catalog
"""


def add_command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str, epilog: str) -> Any:
    """A command with the flags that all commands with options have."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("--config", metavar="FILE", help="options in a TOML file; conf/default.toml lists them all")
    parser.add_argument(
        "--set", metavar="SECTION.KEY=VALUE", action="append", default=[], help="set one option; overrides --config"
    )
    return parser


def add_problem_flags(parser: Any) -> None:
    """Where the tables of an overlay problem are."""
    parser.add_argument("--subscriptions", metavar="REF", required=True, help="who wants what: node_id, topic_id")
    parser.add_argument("--nodes", metavar="REF", help="the brokers: node_id, site, coordinates, height")
    costs = parser.add_mutually_exclusive_group(required=True)
    costs.add_argument("--link-costs", metavar="REF", help="the links that may be used: src, dst, cost")
    costs.add_argument("--site-costs", metavar="REF", help="costs between the sites of nodes: site_a, site_b, cost")
    costs.add_argument(
        "--coordinates", action="store_true", help="costs are distances between the coordinates of --nodes"
    )


def add_points_flag(parser: Any) -> None:
    """For what is measured on nodes in a plane, unless coordinates were measured."""
    parser.add_argument("--file", metavar="CSV", help="coordinates of a measured set (default: points in a square)")


def options_of(given: argparse.Namespace) -> Options:
    """The configuration file, then --set."""
    return Options.load(given.config, given.set)


def with_flags(options: Options, section: str, **flags: Any) -> Options:
    """The options, with the flags that were given in place of those of one section."""
    chosen = {name: value for name, value in flags.items() if value is not None}
    return replace(options, **{section: replace(getattr(options, section), **chosen)})


def with_workload_flags(options: Options, **flags: Any) -> Options:
    """Flags that stand for options of workloads; a measured set says what costs are, unless that is said too."""
    if flags.get("file") is not None and flags.get("costs") is None:
        flags["costs"] = "file"
    return with_flags(options, "workload", **flags)


def inputs_of(given: argparse.Namespace) -> Inputs:
    """Where the problem's tables are, checked before Spark starts."""
    from overlay_spark.jobs.session import spark_version
    from overlay_spark.tables.references import Reference

    if given.site_costs and not given.nodes:
        raise OptionError("--site-costs needs --nodes, which says at which site each node is.")
    if given.coordinates and not given.nodes:
        raise OptionError("--coordinates needs --nodes, which says where each node is.")
    names = ("subscriptions", "nodes", "link_costs", "site_costs")
    places = {name: Reference.parse(place) for name in names if (place := getattr(given, name))}
    spark_version()  # without Spark the next line would fail, and say less
    from overlay_spark.jobs.inputs import Inputs

    return Inputs(**places)
