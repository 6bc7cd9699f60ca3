"""Compiled loops over flat arrays. Nothing here knows of Spark, of tables or of options."""
