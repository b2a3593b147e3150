"""People and models describe the same pictures, compared in both directions."""

from beholder.run.kind import Command, Feature

FEATURE = Feature(
    name="bidirectional",
    commands=(
        Command(
            "bidirectional",
            "beholder.kinds.bidirectional.command:bidirectional",
            place=14,
        ),
    ),
    templates="beholder.kinds.bidirectional",
)
