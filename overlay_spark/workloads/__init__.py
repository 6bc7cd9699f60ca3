"""Seeded workloads: a value depends on the seed and its row's number only, never on how rows are split."""
