"""Metrics that ask a judge: for a number, for a grade, or about the facts of a text."""
