"""Metrics: each a frozen dataclass with a name, a signature, and two steps (gather, score)."""

from __future__ import annotations

from beholder import spec
from beholder.errors import ConfigError
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.params import param, params
from beholder.metrics.tools import Tools
from beholder.registry import Registry

__all__ = ["METRICS", "Metric", "Tools", "ValueInfo", "metric", "param", "params"]

METRICS: Registry[Metric] = Registry(  # type: ignore[type-arg]
    kind="metric",
    base=Metric,
    builtin={
        "vcs": "beholder.metrics.vcs:VCS",
        "vcs_short": "beholder.metrics.vcs:VCSShort",
    },
    group="beholder.metrics",
)


def metric(text: str) -> Metric:  # type: ignore[type-arg]
    """Build a metric from its text form.

    Args:
        text: For example ``"vcs"`` or ``"vcs(rules='paper', lct=1)"``.

    Raises:
        ConfigError: An unknown metric or parameter, or a bad value; names the closest match.
    """
    parsed = spec.parse(text)
    cls = METRICS.get(parsed.name)
    if parsed.argument is not None:
        raise ConfigError(
            f"{text!r}: a metric takes named arguments, as in {parsed.name}(key=value)"
        )
    known = [p.name for p in params(cls)]
    for option in parsed.options:
        if option not in known:
            raise ConfigError(
                f"{parsed.name} has no parameter {option!r}; it has: {', '.join(known)}"
            )
    return cls(**parsed.options)
