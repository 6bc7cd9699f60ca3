"""The input check: every fault in full words, and how much there is where nothing is wrong."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from overlay_spark.errors import InputError
from overlay_spark.frames.inputs import Counts, check_input, input_audits
from overlay_spark.problems import CoordinateCosts, ListedCosts, OverlayProblem, SiteCosts
from overlay_spark.tables import catalog
from overlay_spark.tables.audit import report

pytestmark = pytest.mark.spark

INFINITY, NAN = float("inf"), float("nan")
SUBSCRIPTIONS = [("a", "x"), ("b", "x"), ("c", "x")]
LINK_COSTS = [("a", "b", 1.0), ("b", "c", 2.0)]
SITES = [("a", "s"), ("b", "s"), ("c", "t")]
SITE_COSTS = [("s", "s", 1.0), ("t", "s", 3.0)]
POINTS = [("a", None, [0.0, 0.0]), ("b", None, [1.0, 0.0]), ("c", None, [1.0, 1.0])]


def given(spark, table, rows):
    """A frame of this table that may hold null anywhere; values of the last columns may be left out."""
    fields = list(to_arrow_schema(table.schema))
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    return spark.createDataFrame(pa.table({f.name: pa.array(c, f.type) for f, c in zip(fields, columns, strict=False)}))


def problem(spark, subscriptions=SUBSCRIPTIONS, nodes=None, link_costs=None, site_costs=None):
    costs = CoordinateCosts()
    if link_costs is not None:
        costs = ListedCosts(given(spark, catalog.LINK_COSTS, link_costs))
    elif site_costs is not None:
        costs = SiteCosts(given(spark, catalog.SITE_COSTS, site_costs))
    known = None if nodes is None else given(spark, catalog.NODES, nodes)
    return OverlayProblem(given(spark, catalog.SUBSCRIPTIONS, subscriptions), costs, known)


FAULTS = {
    "one bad subscription of each kind": (
        {
            "subscriptions": [*SUBSCRIPTIONS, (None, "x"), ("a", ""), ("a", "x"), ("\ufffd", "x")],
            "link_costs": LINK_COSTS,
        },
        {
            "node_id_is_given": "Table 'subscriptions': column 'node_id' has 1 row that is null (first: node_id=None, topic_id='x'). Fill in or remove this row.",
            "node_id_was_decoded_right": "Table 'subscriptions': column 'node_id' has 1 row that holds U+FFFD, the mark of bytes read in a wrong encoding (first: node_id='\ufffd', topic_id='x'). Save the source as UTF-8 and read it again.",
            "topic_id_is_not_empty": "Table 'subscriptions': column 'topic_id' has 1 row that is empty (first: node_id='a', topic_id=''). Ids need at least one character.",
            "key_is_unique": "Table 'subscriptions' has 2 rows whose (node_id, topic_id) occurs more than once (first: node_id='a', topic_id='x'). Keep one of each.",
        },
    ),
    "many bad subscriptions": (
        {
            "subscriptions": [
                *SUBSCRIPTIONS,
                (None, "x"),
                (None, "y"),
                ("a", ""),
                ("b", ""),
                ("\ufffd", "x"),
                ("\ufffd", "y"),
            ],
            "link_costs": LINK_COSTS,
        },
        {
            "node_id_is_given": "Table 'subscriptions': column 'node_id' has 2 rows that are null (first: node_id=None, topic_id='x'; node_id=None, topic_id='y'). Fill in or remove these rows.",
            "node_id_was_decoded_right": "Table 'subscriptions': column 'node_id' has 2 rows that hold U+FFFD, the mark of bytes read in a wrong encoding (first: node_id='\ufffd', topic_id='x'; node_id='\ufffd', topic_id='y'). Save the source as UTF-8 and read it again.",
            "topic_id_is_not_empty": "Table 'subscriptions': column 'topic_id' has 2 rows that are empty (first: node_id='a', topic_id=''; node_id='b', topic_id=''). Ids need at least one character.",
        },
    ),
    "no rows": (
        {"subscriptions": [], "link_costs": [], "nodes": []},
        {
            "subscriptions": "Table 'subscriptions' is empty. Give at least one row (node_id, topic_id).",
            "link_costs": "Table 'link_costs' is empty. Give at least one row (src, dst, cost).",
            "nodes": "Table 'nodes' is empty. Give at least one row (node_id).",
        },
    ),
    "one bad link of each kind": (
        {"link_costs": [*LINK_COSTS, ("a", "c", None), ("a", "d", NAN), ("a", "e", INFINITY), ("a", "f", 0.0), ("a", "g", 4e-7), ("a", "h", 1e7), ("a", "a", 1.0), ("b", "a", 1.5)]},
        {
            "cost_is_given": "Table 'link_costs': column 'cost' has 1 row that is null (first: src='a', dst='c', cost=None). Fill in or remove this row.",
            "cost_is_a_number": "Table 'link_costs': column 'cost' has 1 row that is NaN (first: src='a', dst='d', cost=nan). Correct or remove this row.",
            "cost_is_finite": "Table 'link_costs': column 'cost' has 1 row that is infinite (first: src='a', dst='e', cost=inf). Costs must be finite; leave out links that may not be used.",
            "cost_is_positive": "Table 'link_costs': column 'cost' has 1 row that is not above 0 (first: src='a', dst='f', cost=0.0). Costs must be positive; remove or correct this row.",
            "src_is_not_dst": "Table 'link_costs' has 1 row that links a node with itself (first: src='a', dst='a', cost=1.0). A link joins two nodes; remove this row.",
            "cost_is_not_lost": "Table 'link_costs': column 'cost' has 1 row that is less than half of costs.unit = 1e-06 and would count as 0 (first: src='a', dst='g', cost=4e-07). Set a smaller costs.unit, or correct this row.",
            "cost_is_not_too_large": "Table 'link_costs': column 'cost' has 1 row that is more than 1099511627776 times costs.unit = 1e-06 (first: src='a', dst='h', cost=10000000.0). Set a larger costs.unit, or correct this row.",
            "pair_is_unique": "Table 'link_costs' has 2 rows whose pair (src, dst) is given more than once (first: src='a', dst='b'). A pair may be given once, or once in each direction at the same cost; remove the others.",
        },
    ),
    "many bad links": (
        {"link_costs": [*LINK_COSTS, ("a", "b", 1.0), ("c", "b", 2.0), ("b", "c", 2.0), ("a", "c", INFINITY), ("a", "d", -INFINITY), ("a", "e", -1.0), ("a", "f", 0.0)]},
        {
            "cost_is_finite": "Table 'link_costs': column 'cost' has 2 rows that are infinite (first: src='a', dst='c', cost=inf; src='a', dst='d', cost=-inf). Costs must be finite; leave out links that may not be used.",
            "cost_is_positive": "Table 'link_costs': column 'cost' has 2 rows that are not above 0 (first: src='a', dst='e', cost=-1.0; src='a', dst='f', cost=0.0). Costs must be positive; remove or correct these rows.",
            "pair_is_unique": "Table 'link_costs' has 5 rows whose pair (src, dst) is given more than once (first: src='a', dst='b'; src='b', dst='c'). A pair may be given once, or once in each direction at the same cost; remove the others.",
        },
    ),
    "a node and links that do not know each other": (
        {"nodes": [("a",), ("b",), ("idle",)], "link_costs": LINK_COSTS[:1]},
        {
            "node_has_links": "Table 'link_costs' does not know 1 node that shares a topic with others (first: node_id='c'). List links for this node.",
            "node_is_known": "Table 'subscriptions' has 1 row of a node that table 'nodes' does not know (first: node_id='c'). Add this node, or remove its subscriptions.",
        },
    ),
    "many nodes and links that do not know each other": (
        {
            "subscriptions": [*SUBSCRIPTIONS, ("c", "y"), ("d", "x"), ("alone", "z")],
            "nodes": [("a",), ("b",), ("alone",)],
            "link_costs": LINK_COSTS[:1],
        },
        {
            "node_has_links": "Table 'link_costs' does not know 2 nodes that share a topic with others (first: node_id='c'; node_id='d'). List links for these nodes.",
            "node_is_known": "Table 'subscriptions' has 3 rows of nodes that table 'nodes' does not know (first: node_id='c'; node_id='d'). Add these nodes, or remove their subscriptions.",
        },
    ),
    "nodes by themselves": (
        {"nodes": [("a", "s"), ("b", None), ("c", "t"), ("c", "t")], "site_costs": [*SITE_COSTS, ("s", "t", 4.0)]},
        {
            "pair_is_unique": "Table 'site_costs' has 2 rows whose pair (site_a, site_b) is given more than once (first: site_a='s', site_b='t'). A pair may be given once, or once in each direction at the same cost; remove the others.",
            "site_is_given": "Table 'nodes': column 'site' has 1 row that is null (first: node_id='b'). With site costs every node needs a site.",
            "key_is_unique": "Table 'nodes' has 2 rows whose (node_id) occurs more than once (first: node_id='c'). Keep one of each.",
        },
    ),
    "one pair of sites": (
        {"nodes": SITES, "site_costs": SITE_COSTS[:1]},
        {
            "site_pair_has_a_cost": "Table 'site_costs' has no cost for 1 pair of sites in use (first: site_a='s', site_b='t'). Add this row; the cost within a site has site_a = site_b."
        },
    ),
    "many pairs of sites, one within": (
        {"nodes": SITES, "site_costs": [("t", "t", 1.0), ("u", "s", 1.0)]},
        {
            "site_pair_has_a_cost": "Table 'site_costs' has no cost for 2 pairs of sites in use (first: site_a='s', site_b='s'; site_a='s', site_b='t'). Add these rows; the cost within a site has site_a = site_b."
        },
    ),
    "one bad position of each kind": (
        {
            "nodes": [
                ("a", None, [NAN], None),
                ("b", None, [1.0, None], 0.0),
                ("c", None, [], None),
                ("d", None, [1.0], -1.0),
                ("e", None, None, 1.0),
            ]
        },
        {
            "coordinates_are_not_empty": "Table 'nodes': column 'coordinates' has 1 row without a number (first: node_id='c', site=None, coordinates=[], height=None). Give one number for each dimension.",
            "coordinates_are_all_given": "Table 'nodes': column 'coordinates' has 1 row that holds null, or text that is not a number (first: node_id='b', site=None, coordinates=[1.0, None], height=0.0). Correct this row.",
            "coordinates_are_finite": "Table 'nodes': column 'coordinates' has 1 row that holds NaN or an infinity (first: node_id='a', site=None, coordinates=[nan], height=None). Correct this row.",
            "height_is_finite_and_not_negative": "Table 'nodes': column 'height' has 1 row that is negative, NaN or infinite (first: node_id='d', site=None, coordinates=[1.0], height=-1.0). Correct this row.",
            "coordinates_is_given": "Table 'nodes': column 'coordinates' has 1 row that is null (first: node_id='e'). With costs by coordinates every node needs coordinates.",
        },
    ),
    "many bad positions": (
        {
            "nodes": [
                ("a", None, [NAN], NAN),
                ("b", None, [INFINITY], INFINITY),
                ("c", None, None, None),
                ("d", None, None, None),
            ]
        },
        {
            "coordinates_are_finite": "Table 'nodes': column 'coordinates' has 2 rows that hold NaN or an infinity (first: node_id='a', site=None, coordinates=[nan], height=nan; node_id='b', site=None, coordinates=[inf], height=inf). Correct these rows.",
            "height_is_finite_and_not_negative": "Table 'nodes': column 'height' has 2 rows that are negative, NaN or infinite (first: node_id='a', site=None, coordinates=[nan], height=nan; node_id='b', site=None, coordinates=[inf], height=inf). Correct these rows.",
            "coordinates_is_given": "Table 'nodes': column 'coordinates' has 2 rows that are null (first: node_id='c'; node_id='d'). With costs by coordinates every node needs coordinates.",
        },
    ),
    "positions that do not go together": (
        {"nodes": [("a", None, [-6e5, 0.0], 1.0), ("b", None, [6e5, 0.0], 2.0), ("c", None, [1.0], 0.0)]},
        {
            "coordinates_are_in_one_space": "Table 'nodes': column 'coordinates' has 1 row with another number of dimensions than the others (first: node_id='c', dimensions=1). All nodes need coordinates in the same space.",
            "nodes_are_near_enough": "Table 'nodes': columns 'coordinates' and 'height' allow distances of more than 1099511627776 times costs.unit = 1e-06 (across all nodes: distance=1200004.0). Set a larger costs.unit, or correct these columns.",
        },
    ),
    "as many dimensions of either kind": (
        {"nodes": [("a", None, [1.0]), ("b", None, [1.0, 2.0]), ("c", None, [2.0]), ("d", None, [1.0, 1.0])]},
        {
            "coordinates_are_in_one_space": "Table 'nodes': column 'coordinates' has 2 rows with another number of dimensions than the others (first: node_id='b', dimensions=2; node_id='d', dimensions=2). All nodes need coordinates in the same space.",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_input_audits__say_all_that_is_wrong(spark, case):
    tables, expected = FAULTS[case]
    faults = report(*input_audits(problem(spark, **tables))).faults
    assert [fault.text for fault in faults] == list(expected.values())
    if case != "no rows":
        assert [fault.kind for fault in faults] == list(expected)
    else:
        assert {fault.kind for fault in faults} == {"table_is_not_empty"}


def test_input_audits__have_sentences_for_one_and_for_many(spark):
    nodes = [(*row, None) for row in POINTS]
    for tables in ({"link_costs": LINK_COSTS}, {"nodes": SITES, "site_costs": SITE_COSTS}, {"nodes": nodes}):
        alone, together = input_audits(problem(spark, **tables))
        for finding in [finding for audit in [*alone, *together] for finding in audit.findings]:
            one, many = finding.say(1, "-"), finding.say(12, "-")
            if finding.kind in ("table_is_not_empty", "nodes_are_near_enough"):
                continue  # of a whole table, whatever the count
            assert not set("[|]") & set(one + many)
            assert re.search(r" 1 (row|node|pair) (that|without|with|of|whose) ", one), one
            assert re.search(r" 12 (rows|nodes|pairs) (that|without|with|of|whose) ", many), many
            assert not re.search(r"(row|node) that (are|hold|link|share) |\bthese\b|\bthem\b", one), one
            assert not re.search(r"(rows|nodes) that (is|holds|links|shares) |\bthis\b", many), many


@pytest.mark.parametrize(
    "tables, counts",
    [
        ({"link_costs": LINK_COSTS}, Counts(3, 1, 3)),
        ({"subscriptions": [*SUBSCRIPTIONS, ("d", "y")], "link_costs": [*LINK_COSTS, ("b", "a", 1.0), ("u", "v", 1.0)]}, Counts(4, 2, 4)),
        ({"nodes": [("a",), ("b",), ("c",), ("idle",)], "link_costs": LINK_COSTS}, Counts(4, 1, 3)),
        ({"nodes": [*SITES, ("idle", "t")], "site_costs": [*SITE_COSTS, ("t", "t", 1.0)]}, Counts(4, 1, 3)),
        ({"subscriptions": [*SUBSCRIPTIONS, ("a", "y")], "nodes": POINTS}, Counts(3, 2, 4)),
    ],
    ids=["listed", "listed with a node alone", "listed with nodes", "sites", "coordinates"],
)  # fmt: skip
def test_check_input__counts_what_there_is(spark, tables, counts):
    assert check_input(problem(spark, **tables)) == counts


def test_check_input__raises_every_fault_of_the_tables_by_themselves_first(spark):
    tables = {
        "subscriptions": [("a", None), ("a", "x"), ("a", "x")],
        "nodes": [("b",)],
        "link_costs": [("a", "a", -1.0)],
    }
    links = catalog.LINKS.audit(given(spark, catalog.LINKS, [("a", "b", 0.0)]))
    with pytest.raises(InputError) as refusal:
        check_input(problem(spark, **tables), links)
    assert [fault.split(" (first")[0] for fault in refusal.value.faults] == [
        "Table 'subscriptions': column 'topic_id' has 1 row that is null",
        "Table 'subscriptions' has 2 rows whose (node_id, topic_id) occurs more than once",
        "Table 'link_costs': column 'cost' has 1 row that is not above 0",
        "Table 'link_costs' has 1 row that links a node with itself",
        "Table 'links': column 'cost' has 1 row that is not above 0",
    ]
    with pytest.raises(
        InputError, match=r"^Table 'subscriptions' has 3 rows of nodes that table 'nodes' does not know"
    ):
        check_input(problem(spark, nodes=[("z",)], link_costs=LINK_COSTS))


def test_check_input__asks_once_where_nothing_is_wrong(spark, monkeypatch):
    whole = problem(spark, nodes=SITES, site_costs=SITE_COSTS)
    frame, asked = type(whole.subscriptions), []
    collect = frame.collect
    monkeypatch.setattr(frame, "collect", lambda self: asked.append(self) or collect(self))
    check_input(whole)
    assert len(asked) == 1


def test_check_input__says_ids_that_are_not_utf8_as_bytes(spark):
    bad = spark.range(1).select(F.unhex(F.lit("61FF")).cast("string").alias("node_id"), F.lit("x").alias("topic_id"))
    found = problem(spark, link_costs=LINK_COSTS)
    mixed = OverlayProblem(found.subscriptions.union(bad), found.costs)
    with pytest.raises(InputError) as refusal:
        check_input(mixed)
    assert str(refusal.value) == (
        "Table 'subscriptions': column 'node_id' has 1 row that is not valid UTF-8 (first: node_id='0x61FF', "
        "topic_id='x'). Encode this id as UTF-8 at the source."
    )


def test_check_input__uses_the_unit_of_the_problem(spark):
    given_problem = problem(spark, link_costs=LINK_COSTS)
    check_input(OverlayProblem(given_problem.subscriptions, given_problem.costs, unit=2.0))
    with pytest.raises(InputError, match=r"1 row that is less than half of costs.unit = 3 and would count as 0"):
        check_input(OverlayProblem(given_problem.subscriptions, given_problem.costs, unit=3.0))


def test_check_input__of_a_large_height_alone_counts_both_ends(spark):
    nodes = [("a", None, [0.0], 6e5), ("b", None, [0.0], 0.0), ("c", None, [0.0], None)]
    with pytest.raises(InputError, match=r"across all nodes: distance=1200000.0\)"):
        check_input(problem(spark, nodes=nodes))
