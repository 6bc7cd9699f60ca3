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
            Rule(f"{name}_is_not_empty", f"length(`{name}`) > 0", "that are empty", "Ids need at least one character."),
            Rule(
                f"{name}_is_utf8",
                f"is_valid_utf8(`{name}`)",
                "that are not valid UTF-8",
                "Re-encode these ids as UTF-8 where they come from.",
            ),
            Rule(
                f"{name}_was_decoded_right",
                f"NOT contains(`{name}`, '\\uFFFD')",
                "that hold U+FFFD, the mark of bytes read in a wrong encoding",
                "Save the source as UTF-8 and read it again.",
            ),
        ),
    )


def _cost(name: str = "cost", doc: str = "what the link costs, in your unit") -> Column:
    return Column(
        name,
        "double",
        doc,
        rules=(
            Rule(f"{name}_is_a_number", f"NOT isnan(`{name}`)", "that are NaN", "Correct or remove these rows."),
            Rule(
                f"{name}_is_finite",
                f"isnan(`{name}`) OR abs(`{name}`) < {INFINITY}",
                "that are infinite",
                "Costs must be finite; leave out links that may not be used.",
            ),
            Rule(
                f"{name}_is_positive",
                f"`{name}` > 0 OR `{name}` = -{INFINITY}",
                "that are not above 0",
                "Costs must be positive; remove or correct these rows.",
            ),
        ),
    )  # fmt: skip


def _count(name: str, doc: str, type: str = "int", *, nullable: bool = False) -> Column:
    return Column(
        name,
        type,
        doc,
        nullable,
        rules=(Rule(f"{name}_is_not_negative", f"`{name}` >= 0", "that are negative", "Counts start at 0."),),
    )


COORDINATES = Column(
    "coordinates",
    "array<double>",
    "where it is: needed with --coordinates",
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
            "that hold null, or text that is no number",
            "Correct these rows.",
        ),
        Rule(
            "coordinates_are_finite",
            f"array_max(`coordinates`) < {INFINITY} AND array_min(`coordinates`) > -{INFINITY}",
            "that hold NaN or an infinity",
            "Correct these rows.",
        ),
    ),
)

HEIGHT = Column(
    "height",
    "double",
    "cost of the way from it to the network, added to every link; none is 0",
    nullable=True,
    rules=(
        Rule(
            "height_is_finite_and_not_negative",
            f"`height` >= 0 AND `height` < {INFINITY}",
            "that are negative, NaN or infinite",
            "Correct these rows.",
        ),
    ),
)

NO_LOOPS = Rule(
    "src_is_not_dst",
    "`src` <> `dst`",
    "that link a node with itself",
    "A link joins two nodes; remove these rows.",
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    "who wants what",
    (_id("node_id", "a broker"), _id("topic_id", "a topic that this broker's subscribers want")),
    key=("node_id", "topic_id"),
    role="in",
)

NODES = Table(
    "nodes",
    "the brokers; optional with listed costs",
    (
        _id("node_id", "a broker"),
        _id("site", "where it runs: needed with site costs", nullable=True),
        COORDINATES,
        HEIGHT,
    ),
    key=("node_id",),
    role="in",
)

LINK_COSTS = Table(
    "link_costs",
    "the links that may be used and what each costs",
    (_id("src", "one end"), _id("dst", "the other end"), _cost()),
    key=("src", "dst"),
    role="in",
    pair=("src", "dst"),
    rules=(NO_LOOPS,),
)

SITE_COSTS = Table(
    "site_costs",
    "what a link between two sites costs, and one within a site (site_a = site_b)",
    (_id("site_a", "the site of one end"), _id("site_b", "the site of the other end"), _cost()),
    key=("site_a", "site_b"),
    role="in",
    pair=("site_a", "site_b"),
)

LINKS = Table(
    "links",
    "an overlay to verify: any table with these columns, overlay_links among them",
    (_id("src", "one end"), _id("dst", "the other end"), _cost()),
    key=(),
    role="overlay",
)

OVERLAY_LINKS = Table(
    "overlay_links",
    "the overlay",
    (
        _id("src", "one end, the lesser id"),
        _id("dst", "the other end"),
        _cost(),
        _count("shared_topics", "topics that both ends want"),
        _count("contribution", "topics whose components this link joined when it was picked"),
        Column("stage", "string", "which step picked it: single"),
        _count("pick", "when it was picked, from 0", "bigint"),
    ),
    key=("src", "dst"),
    rules=(Rule("src_is_before_dst", "`src` < `dst`", "whose src is not before dst", "Swap the ends."),),
)

OVERLAY_TOPICS = Table(
    "overlay_topics",
    "what the overlay is to each topic",
    (
        _id("topic_id", "a topic"),
        _count("nodes", "nodes that want it"),
        _count("links", "overlay links between them"),
        _count("components", "components they form: 1 in a valid overlay"),
        _count("diameter", "most hops between two of its nodes; null where not measured", nullable=True),
        Column("weighted_diameter", "double", "the same in cost", nullable=True),
    ),
    key=("topic_id",),
)  # fmt: skip

OVERLAY_NODES = Table(
    "overlay_nodes",
    "what the overlay asks of each node",
    (
        _id("node_id", "a broker"),
        _count("topics", "topics it wants"),
        _count("degree", "links it keeps"),
        Column("weighted_degree", "double", "what they cost in all"),
    ),
    key=("node_id",),
)

RUNS = Table(
    "runs",
    "one row for every run, refused and failed ones too",
    (
        Column("run_id", "string", "unique name of the run"),
        Column("job", "string", "design, verify, ..."),
        Column("algorithm", "string", "what computed the overlay", nullable=True),
        Column("engine", "string", "and where", nullable=True),
        Column("options", "string", "all options, as JSON"),
        Column("seed", "bigint", "of algorithms that draw"),
        Column("inputs", "string", "what was read, with table versions, as JSON"),
        Column("started", "timestamp", "when the run began"),
        Column("finished", "timestamp", "when it ended"),
        Column("status", "string", "done, refused, refuted or failed"),
        Column("message", "string", "why, where it is not done", nullable=True),
        Column("metrics", "string", "figures of the result, as JSON", nullable=True),
        Column("package_version", "string", "of overlay-spark"),
    ),
    key=("run_id",),
)

EXPERIMENTS = Table(
    "experiments",
    "figures of benchmarks and experiments",
    (
        Column("experiment", "string", "which one"),
        Column("figure", "string", "which of its tables or plots"),
        Column("series", "string", "what was run"),
        Column("x", "double", "at which value of what the figure varies; null for a mean over all", nullable=True),
        Column("seed", "bigint", "of the workload; -1 for a mean over all"),
        Column("metric", "string", "what was measured"),
        Column("value", "double", "and how much it was"),
        Column("paper_value", "double", "what the paper states", nullable=True),
    ),
    key=("experiment", "figure", "series", "x", "seed", "metric"),
)

TABLES = (
    SUBSCRIPTIONS,
    NODES,
    LINK_COSTS,
    SITE_COSTS,
    LINKS,
    OVERLAY_LINKS,
    OVERLAY_TOPICS,
    OVERLAY_NODES,
    RUNS,
    EXPERIMENTS,
)


def as_markdown() -> str:
    """The table of tables, as the README shows it."""
    lines = ["| table | what it holds | columns | key |", "|---|---|---|---|"]
    for table in TABLES:
        columns = ", ".join(f"{c.name} {c.type}{'?' if c.nullable else ''}" for c in table.columns)
        lines.append(f"| {table.name} ({table.role}) | {table.doc} | {columns} | {', '.join(table.key)} |")
    return "\n".join(lines)
