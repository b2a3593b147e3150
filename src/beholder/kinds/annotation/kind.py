"""The kind of work in which people judge texts and pictures in the browser."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="annotation",
    commands=(
        Command(
            "annotate", "beholder.kinds.annotation.command:app", is_group=True
        ),
    ),
    templates="beholder.kinds.annotation",
)
