"""Every table of the project, declared once."""

from __future__ import annotations

from overlay_spark.tables.contract import Column, Rule, Table

INFINITY = "double('Infinity')"


def _id(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(
        name,
        "string",
        doc,
        nullable,
        rules=(
            Rule(
                f"{name}_is_not_empty",
                f"length(`{name}`) > 0",
                "that [is|are] empty",
                "Ids need at least one character.",
            ),
            Rule(
                f"{name}_is_utf8",
                f"is_valid_utf8(`{name}`)",
                "that [is|are] not valid UTF-8",
                "Encode [this id|these ids] as UTF-8 at the source.",
            ),
            Rule(
                f"{name}_was_decoded_right",
                f"NOT contains(`{name}`, '\\uFFFD')",
                "that hold[s|] U+FFFD, the mark of bytes read in a wrong encoding",
                "Save the source as UTF-8 and read it again.",
            ),
        ),
    )


def _cost(name: str = "cost", doc: str = "cost of the link, in your unit") -> Column:
    return Column(
        name,
        "double",
        doc,
        rules=(
            Rule(
                f"{name}_is_a_number",
                f"NOT isnan(`{name}`)",
                "that [is|are] NaN",
                "Correct or remove [this row|these rows].",
            ),
            Rule(
                f"{name}_is_finite",
                f"isnan(`{name}`) OR abs(`{name}`) < {INFINITY}",
                "that [is|are] infinite",
                "Costs must be finite; leave out links that may not be used.",
            ),
            Rule(
                f"{name}_is_positive",
                f"`{name}` > 0 OR `{name}` = -{INFINITY}",
                "that [is|are] not above 0",
                "Costs must be positive; remove or correct [this row|these rows].",
            ),
        ),
    )  # fmt: skip


def _count(name: str, doc: str, type: str = "int", *, nullable: bool = False) -> Column:
    return Column(
        name,
        type,
        doc,
        nullable,
        rules=(Rule(f"{name}_is_not_negative", f"`{name}` >= 0", "that [is|are] negative", "Counts start at 0."),),
    )


COORDINATES = Column(
    "coordinates",
    "array<double>",
    "where the node is; needed when costs are distances",
    nullable=True,
    rules=(
        Rule(
            "coordinates_are_not_empty",
            "array_size(`coordinates`) > 0",
            "without a number",
            "Give one number for each dimension.",
        ),
        Rule(
            "coordinates_are_all_given",
            "array_size(array_compact(`coordinates`)) = array_size(`coordinates`)",
            "that hold[s|] null, or text that is not a number",
            "Correct [this row|these rows].",
        ),
        Rule(
            "coordinates_are_finite",
            f"coalesce(array_max(`coordinates`) < {INFINITY} AND array_min(`coordinates`) > -{INFINITY}, true)",
            "that hold[s|] NaN or an infinity",
            "Correct [this row|these rows].",
        ),
    ),
)

HEIGHT = Column(
    "height",
    "double",
    "cost of its way into the network, added to each of its links; null counts as 0",
    nullable=True,
    rules=(
        Rule(
            "height_is_finite_and_not_negative",
            f"`height` >= 0 AND `height` < {INFINITY}",
            "that [is|are] negative, NaN or infinite",
            "Correct [this row|these rows].",
        ),
    ),
)

NO_LOOPS = Rule(
    "src_is_not_dst",
    "`src` <> `dst`",
    "that link[s|] a node with itself",
    "A link joins two nodes; remove [this row|these rows].",
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    "one row per subscription: this node wants this topic",
    (_id("node_id", "a broker"), _id("topic_id", "a topic its subscribers want")),
    key=("node_id", "topic_id"),
    role="in",
)

NODES = Table(
    "nodes",
    "one row per node; not needed with listed costs",
    (
        _id("node_id", "a broker"),
        _id("site", "where it runs; needed with site costs", nullable=True),
        COORDINATES,
        HEIGHT,
    ),
    key=("node_id",),
    role="in",
)

LINK_COSTS = Table(
    "link_costs",
    "one row per link that may be used",
    (_id("src", "one end"), _id("dst", "the other end"), _cost()),
    key=("src", "dst"),
    role="in",
    pair=("src", "dst"),
    rules=(NO_LOOPS,),
)

SITE_COSTS = Table(
    "site_costs",
    "one row per pair of sites: the cost of a link between them, or within one (site_a = site_b)",
    (_id("site_a", "site of one end"), _id("site_b", "site of the other end"), _cost()),
    key=("site_a", "site_b"),
    role="in",
    pair=("site_a", "site_b"),
)

LINKS = Table(
    "links",
    "an overlay to verify: overlay_links, or any table with these columns",
    (_id("src", "one end"), _id("dst", "the other end"), _cost()),
    key=(),
    role="overlay",
)

OVERLAY_LINKS = Table(
    "overlay_links",
    "one row per link of the overlay",
    (
        _id("src", "one end: the lesser id"),
        _id("dst", "the other end"),
        _cost(),
        _count("shared_topics", "topics that both ends want"),
        _count("contribution", "topics in which it joined two components when it was picked"),
        Column("stage", "string", "the step that picked it"),
        _count("pick", "its place in the order of picks, from 0", "bigint"),
    ),
    key=("src", "dst"),
    rules=(Rule("src_is_before_dst", "`src` < `dst`", "whose src is not before dst", "Swap the ends."),),
)

OVERLAY_TOPICS = Table(
    "overlay_topics",
    "one row per topic: its nodes and links in the overlay",
    (
        _id("topic_id", "a topic"),
        _count("nodes", "nodes that want it"),
        _count("links", "overlay links between them"),
        _count("components", "components they form; 1 in a valid overlay"),
        _count("diameter", "most hops between two of its nodes; null if not measured", nullable=True),
        Column(
            "weighted_diameter", "double", "greatest cost between two of its nodes; null if not measured", nullable=True
        ),
    ),
    key=("topic_id",),
)  # fmt: skip

OVERLAY_NODES = Table(
    "overlay_nodes",
    "one row per node: its topics and links in the overlay",
    (
        _id("node_id", "a broker"),
        _count("topics", "topics it wants"),
        _count("degree", "links it has"),
        Column("weighted_degree", "double", "total cost of these links"),
        _count("part_id", "the part it was solved in; null where all was solved at once", nullable=True),
        Column("representative", "boolean", "whether it stands for its part where parts are joined"),
    ),
    key=("node_id",),
)

OVERLAY_BACKUPS = Table(
    "overlay_backups",
    "one row per node and backup: who may take over its links, kept between refreshes of small overlays",
    (_id("node_id", "a broker"), _id("backup_id", "its backup"), _count("layer", "which of its covers, from 0")),
    key=("node_id", "backup_id"),
    role="state",
)

OVERLAY_STATE = Table(
    "overlay_state",
    "what the next refresh needs to know of this overlay, packed; without it, all tables are read",
    (_count("pack", "its place, from 0"), Column("packed", "binary", "many rows as one, in Arrow's stream format")),
    key=("pack",),
    role="state",
)

OVERLAY_CHANGES = Table(
    "overlay_changes",
    "one row per link that a refresh added or removed, in the order to apply them: additions first",
    (
        Column("run_id", "string", "the run that committed the links"),
        _count("step", "place in the order, from 0", "bigint"),
        Column("action", "string", "add or remove"),
        *OVERLAY_LINKS.columns[:3],
    ),
    key=("run_id", "step"),
)

RUNS = Table(
    "runs",
    "one row per run, including those refused and failed",
    (
        Column("run_id", "string", "id of the run"),
        Column("job", "string", "what was run, such as design or verify"),
        Column("algorithm", "string", "algorithm of the overlay", nullable=True),
        Column("engine", "string", "engine that ran the algorithm", nullable=True),
        Column("options", "string", "options in effect, as JSON"),
        Column("seed", "bigint", "seed of algorithms that draw at random"),
        Column("inputs", "string", "tables read and their versions, as JSON"),
        Column("started", "timestamp", "when it began"),
        Column("finished", "timestamp", "when it ended; when it began while it is running"),
        Column("status", "string", "running, done, refused, refuted, failed or killed"),
        Column("message", "string", "why it is not done; where it runs while it is running", nullable=True),
        Column("metrics", "string", "figures of the result, as JSON", nullable=True),
        Column("package_version", "string", "version of overlay-spark"),
        Column("generation", "bigint", "generation of the overlay it computed, from 0", nullable=True),
    ),
    key=("run_id",),
)

EXPERIMENTS = Table(
    "experiments",
    "one row per figure of a benchmark or an experiment",
    (
        Column("experiment", "string", "experiment or benchmark"),
        Column("figure", "string", "figure or table in it"),
        Column("series", "string", "what was run"),
        Column("x", "double", "value of what is varied; null for a mean over all", nullable=True),
        Column("seed", "bigint", "of the workload; -1 for a mean over all"),
        Column("metric", "string", "what was measured"),
        Column("value", "double", "measured value"),
        Column("paper_value", "double", "value in the paper", nullable=True),
    ),
    key=("experiment", "figure", "series", "x", "seed", "metric"),
)

GIVEN = (SUBSCRIPTIONS, NODES, LINK_COSTS, SITE_COSTS, LINKS)
OVERLAY = (OVERLAY_LINKS, OVERLAY_TOPICS, OVERLAY_NODES, OVERLAY_BACKUPS, OVERLAY_STATE, OVERLAY_CHANGES)
TABLES = (*GIVEN, *OVERLAY, RUNS, EXPERIMENTS)


def as_markdown() -> str:
    """The table of tables, as the README shows it."""
    lines = ["| table | what it holds | columns | key |", "|---|---|---|---|"]
    for table in TABLES:
        columns = ", ".join(f"{c.name} {c.type}{'?' if c.nullable else ''}" for c in table.columns)
        lines.append(f"| {table.name} ({table.role}) | {table.doc} | {columns} | {', '.join(table.key)} |")
    return "\n".join(lines)
