"""``beholder metrics`` and ``beholder show``: what there is, from the registry."""

from __future__ import annotations

from beholder.terminal.printing import tell, tell_tables


def metrics() -> None:
    """List the metrics.

    Example: `beholder metrics`
    """
    from rich.table import Table

    from beholder.metrics import METRICS
    from beholder.metrics.describe import first_line

    table = Table("metric", "what", "values")
    for name in METRICS.names():
        cls = METRICS.get(name)
        table.add_row(name, first_line(cls), ", ".join(value.name for value in cls.values))
    tell_tables(table)


def show(name: str, /) -> None:
    """Explain a metric: formula, source, values, parameters, signature; or print a judge's prompt.

    Example: `beholder show vcs`

    Args:
        name: A metric, or an operation of judges.
    """
    from rich.markdown import Markdown

    from beholder.judges.templates import Templates
    from beholder.metrics import METRICS
    from beholder.metrics.describe import describe

    prompts = Templates()
    if name in prompts.names() and name not in METRICS.names():
        prompt = prompts[name]
        tell(f"{prompt.name}.v{prompt.version}@{prompt.digest}")
        for section, text in prompt.sections.items():
            tell(f"\n[{section}]\n{text}")
        return
    tell_tables(Markdown(describe(METRICS.get(name))))
