"""Overlay computation as DataFrame operations: no RDD, no JVM handle, nothing unbounded collected."""
