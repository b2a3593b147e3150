"""What the Python functions of the package share: ``Run``, printed results, ``judge``."""

from beholder.api.run import Run, judge

__all__ = ["Run", "judge"]
