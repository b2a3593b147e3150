"""Human judgments: tasks, studies of several annotators, agreement, and results for commands.

The pages on which people judge are ``beholder.kinds.annotation.pages``.
"""
