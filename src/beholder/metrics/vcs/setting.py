"""What the arithmetic of VCS depends on besides the similarities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.errors import ConfigError

Rules: TypeAlias = Literal["fixed", "paper", "package", "head"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Parameters of scoring, under the names the metrics give them; checked when made.

    Attributes:
        rules: Rule set: ``fixed``, ``paper``, ``package`` (1.0.0) or ``head`` (of its repository).
        lct: Local chronology tolerance in window units, 0 or more; 0 is strict.
        context_cutoff: Best similarity, 0..1, from which near-best matches are considered.
        context_window_control: Above 0; larger leaves fewer near-best matches.
        nas_blend_factor: -1..1, of the head rules alone.
        nas_coverage_cutoff: Above 0 and up to 1, of the head rules alone.
    """

    rules: Rules = "fixed"
    lct: float = 0
    context_cutoff: float = 0.6
    context_window_control: float = 4.0
    nas_blend_factor: float = 0.0
    nas_coverage_cutoff: float = 0.5

    def __post_init__(self) -> None:
        _check_range("lct", self.lct, 0)
        _check_range("context_cutoff", self.context_cutoff, 0, 1)
        _check_range("context_window_control", self.context_window_control, 0, above=True)
        _check_range("nas_blend_factor", self.nas_blend_factor, -1, 1)
        _check_range("nas_coverage_cutoff", self.nas_coverage_cutoff, 0, 1, above=True)
        if self.rules != "head":
            for name, default in (("nas_blend_factor", 0.0), ("nas_coverage_cutoff", 0.5)):
                if getattr(self, name) != default:
                    raise ConfigError(
                        f"{name}={getattr(self, name)!r} has no effect under "
                        f"rules={self.rules!r}: leave it out, or set rules='head'"
                    )


def _check_range(
    name: str, value: object, low: float, high: float = math.inf, *, above: bool = False
) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        inside = (low < value if above else low <= value) and value <= high
        if inside and math.isfinite(value):
            return
    least = f"above {low}" if above else f"from {low}"
    most = "" if high == math.inf else f" up to {high}"
    raise ConfigError(f"{name}={value!r}: expected a number {least}{most}")
