"""Whole runs: tables in, tables out, one row in ``runs`` each."""
