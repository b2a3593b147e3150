"""Runs: plan, execute, store and resume the scoring of a data set."""
