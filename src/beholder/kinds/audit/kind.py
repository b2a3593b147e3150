"""Audits of references; runs are those of ``scores``."""

from beholder.run.kind import Command, RunKind

KIND: RunKind[None, None, None] = RunKind(
    name="audit",
    commands=(
        Command("audit", "beholder.kinds.audit.command:audit", place=8),
    ),
)
