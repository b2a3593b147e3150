"""``beholder.bidirectional``: people against models, from a run that scored both directions."""

from __future__ import annotations

from pathlib import Path

from beholder.api import Run
from beholder.kinds.bidirectional.observe import observe
from beholder.kinds.bidirectional.settings import Columns, StudySettings
from beholder.kinds.bidirectional.study import Study, study


def bidirectional(
    run: Run | str | Path,
    *,
    metric: str | None = None,
    columns: Columns | None = None,
    settings: StudySettings | None = None,
) -> Study:
    """Compare the inventions, omissions and choices of people and models; asks no judge.

    Args:
        run: A run with ``dcscore(direction='both')``, or its directory.
        metric: The metric, if the run has several of that kind.
        columns: Names of the run's group columns and ratings; None takes the default names.
        settings: The random sample and the limits of difficulty; None takes the defaults.

    Returns:
        All tables that the data allow, and why others are missing.

    Raises:
        ConfigError: No metric of the run scores in both directions, or a rating is no number.
        RunError: The folder is not a run of scores.
    """
    folder = run.path if isinstance(run, Run) else Path(run)
    return study(
        observe(folder, columns, metric_name=metric),
        settings or StudySettings(),
    )
