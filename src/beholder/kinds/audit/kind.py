"""Audits of references; runs are those of ``scores``."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="audit",
    commands=(
        Command("audit", "beholder.kinds.audit.command:audit", place=8),
    ),
)
