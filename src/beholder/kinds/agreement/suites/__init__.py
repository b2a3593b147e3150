"""Suites: made texts whose right order is known, scored by metrics."""
