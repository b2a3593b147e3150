"""Metrics inside the harnesses where models are evaluated already, each in a module of its own.

A module imports its harness, so it loads where that is installed: ``inspect_scorers`` (found by
inspect_ai through an entry point), ``lmms`` (tasks of lmms-eval), ``tracking`` (MLflow, Weights &
Biases), ``testing`` (pytest).
"""
