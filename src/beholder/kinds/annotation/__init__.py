"""Annotation: people judge in the browser; tasks, studies, agreement, and results for commands.

The pages are in ``beholder.kinds.annotation.pages``.
"""
