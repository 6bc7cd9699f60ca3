"""A small problem as CSV files, and the flags that name them."""

from __future__ import annotations

from pathlib import Path


def csv_problem(folder: Path, cost: str = "1.0") -> list[str]:
    """Three nodes and one topic; ``cost`` is that of the link between a and b."""
    (folder / "subscriptions.csv").write_text("node_id,topic_id\na,x\nb,x\nc,x\n")
    (folder / "link_costs.csv").write_text(f"src,dst,cost\na,b,{cost}\nb,c,2.0\na,c,2.5\n")
    return ["--subscriptions", f"csv:{folder}/subscriptions.csv", "--link-costs", f"csv:{folder}/link_costs.csv"]
