"""What tables look like, and how they are read and written. Knows Spark's types, but no algorithm."""
