"""Input that is odd but right is taken as it is; input that cannot be read is refused in one message."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overlay_spark import CoordinateCosts, OverlayProblem, design, verify
from overlay_spark.cli import DONE, REFUSED, main
from overlay_spark.jobs.design import run_design
from overlay_spark.jobs.inputs import Inputs
from overlay_spark.jobs.verify import run_verify
from overlay_spark.options import Options
from overlay_spark.tables import catalog
from overlay_spark.tables.references import Destination, Reference
from tests import plain_delta
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark

ODD = [
    " ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\u200b", " a", "a ", "a b", "a\nb", "'", '"', "''", "`", "\\",
    "\\n", "/", "../x", "a/b", "%00", "\x00", "\x7f", ";", "--", "'; DROP TABLE runs; --", "${x}", "{}", "null", "NULL", "None",
    "NaN", "0", "00", "-1", "1e3", "é", "e\u0301", "ß", "\U0001f600", "\U0001f468\u200d\U0001f469", "\ufeff", "\ud7ff", "x" * 10_000,
]  # fmt: skip


def test_ids__of_any_characters_come_back_as_they_were(spark, tmp_path):
    """Every odd id as a node and as a topic, from Parquet to Delta and back through a verification."""
    assert len(set(ODD)) == len(ODD)
    subscriptions = {"node_id": [*ODD, *ODD], "topic_id": [*ODD, *(["all"] * len(ODD))]}
    nodes = {"node_id": ODD, "coordinates": [[float(i)] for i in range(len(ODD))]}
    pq.write_table(pa.table(subscriptions), tmp_path / "subscriptions.parquet")
    pq.write_table(pa.table(nodes), tmp_path / "nodes.parquet")
    inputs = Inputs(*[Reference("parquet", f"{tmp_path}/{name}.parquet") for name in ("subscriptions", "nodes")])
    output = Destination.parse(str(tmp_path / "out"))
    run_design(spark, inputs, output, Options()).close()
    links = plain_delta.read(output.table("overlay_links"))
    assert {end for row in links for end in (row["src"], row["dst"])} == set(ODD)
    assert len(links) == len(ODD) - 1
    assert all(row["src"].encode() < row["dst"].encode() for row in links)
    topics = plain_delta.read(output.table("overlay_topics"))
    assert {row["topic_id"] for row in topics} == {*ODD, "all"}
    found = run_verify(spark, inputs, output, Options())
    assert found.ok, found.faults


def test_design__of_topics_of_one_node_of_all_nodes_and_of_nodes_without_topics(spark):
    subscriptions = [(node, topic) for node in "abcd" for topic in ("all 1", "all 2")] + [("a", "alone")]
    nodes = [(node, None, [float(i), 0.0]) for i, node in enumerate("abcde")]
    problem = OverlayProblem(
        catalog.SUBSCRIPTIONS.rows(spark, subscriptions), CoordinateCosts(), catalog.NODES.rows(spark, nodes)
    )
    overlay = design(problem)
    assert [row[:2] for row in sorted_rows(overlay.links)] == [("a", "b"), ("b", "c"), ("c", "d")]
    assert sorted_rows(overlay.topics.select("topic_id", "nodes", "components", "diameter")) == [
        ("all 1", 4, 1, 3),
        ("all 2", 4, 1, 3),
        ("alone", 1, 1, 0),
    ]
    assert sorted_rows(overlay.nodes)[-1] == ("e", 0, 0, 0.0, None, False)
    assert verify(problem, overlay.links).ok


@pytest.mark.slow
def test_design__of_a_hundred_thousand_topics(spark, tmp_path):
    n_topics, n_nodes = 100_000, 60
    rng = np.random.default_rng(1)
    topics = np.repeat(np.arange(n_topics), 2)
    nodes = rng.integers(0, n_nodes, n_topics)
    nodes = np.column_stack([nodes, (nodes + 1 + rng.integers(0, n_nodes - 1, n_topics)) % n_nodes]).ravel()
    pq.write_table(pa.table({"node_id": nodes, "topic_id": topics}), tmp_path / "subscriptions.parquet")
    subscriptions = spark.read.parquet(str(tmp_path))
    places = [(str(v), None, rng.uniform(0, 9, 2).tolist()) for v in range(n_nodes)]
    problem = OverlayProblem(subscriptions, CoordinateCosts(), catalog.NODES.rows(spark, places))
    overlay = design(problem)
    assert overlay.metrics.topics == n_topics
    assert overlay.metrics.links == len({tuple(sorted(pair)) for pair in nodes.reshape(-1, 2).tolist()})
    assert overlay.metrics.largest_diameter == 1


def design_csv(tmp_path, subscriptions, link_costs="src,dst,cost\na,b,1.5\nb,c,2\n", out="out"):
    for name, text in (("subscriptions", subscriptions), ("link_costs", link_costs)):
        (tmp_path / f"{name}.csv").write_bytes(text.encode())
    given = [f"--{t.replace('_', '-')}=csv:{tmp_path}/{t}.csv" for t in ("subscriptions", "link_costs")]
    return main(["design", *given, "--output", str(tmp_path / out)])


@pytest.mark.parametrize(
    "subscriptions",
    [
        "\ufeffnode_id,topic_id\na,x\nb,x\nc,x\n",
        "node_id;topic_id\na;x\nb;x\nc;x\n",
        "node_id\ttopic_id\na\tx\nb\tx\nc\tx\n",
        "topic_id|node_id\r\nx|a\r\nx|b\r\nx|c\r\n",
        'node_id,topic_id\n"a",x\n"b","x"\nc,x',
    ],
    ids=["BOM", "semicolons", "tabs", "bars and CRLF", "quotes"],
)
def test_csv__of_other_forms_is_taken(spark, tmp_path, subscriptions):
    assert design_csv(tmp_path, subscriptions) == DONE
    links = Destination.parse(str(tmp_path / "out")).table("overlay_links")
    assert [row[:3] for row in plain_delta.sorted_rows(links)] == [("a", "b", 1.5), ("b", "c", 2.0)]


@pytest.mark.parametrize(
    "subscriptions, link_costs, message",
    [
        (
            "a,x\nb,x\n",
            None,
            "the first line, ['a', 'x'], names no column of table 'subscriptions'. Give a header line",
        ),
        ("node_id,topic_id\na,x\nb\n", None, "Malformed records are detected"),
        ('node_id,topic_id\n"a\nb",x\n', None, "Malformed records are detected"),
        ("node_id,topic_id\na,x\nb,x\n", "src,dst,cost\na,b,cheap\n", "column 'cost' has 1 row that is null"),
        ("", None, "the first line, [], names no column"),
    ],
    ids=["no header", "short line", "newline in quotes", "cost that is no number", "empty file"],
)
def test_csv__that_cannot_be_read_is_refused(spark, tmp_path, capsys, subscriptions, link_costs, message):
    assert design_csv(tmp_path, subscriptions, link_costs or "src,dst,cost\na,b,1\n") == REFUSED
    told = capsys.readouterr().err
    assert message in told
    assert f"{tmp_path}" in told or "Table" in told
    assert "Traceback" not in told
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["runs"]


def test_csv__of_coordinates(spark, tmp_path):
    (tmp_path / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\nc,x\n")
    (tmp_path / "nodes.csv").write_text('node_id,coordinates,height\na,0 0,\nb,"[3.0, 4]",1\nc,(6;8),0.5\n')
    given = [f"--{t}=csv:{tmp_path}/{t}.csv" for t in ("subscriptions", "nodes")]
    assert main(["design", *given, "--coordinates", "--output", str(tmp_path / "out")]) == DONE
    links = Destination.parse(str(tmp_path / "out")).table("overlay_links")
    assert [row[:3] for row in plain_delta.sorted_rows(links)] == [("a", "b", 6.0), ("b", "c", 6.5)]
