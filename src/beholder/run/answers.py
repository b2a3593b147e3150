"""The answers of judges in a run: its own store, the shared cache behind it, and its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from beholder.backends import Usage
from beholder.judges import AnswerFile, Answers, Budget
from beholder.judges.answers import FACTS_LAST
from beholder.judges.telling import Judging
from beholder.run.store_file import FILE_NAME


@contextmanager
def run_answers(
    folder: Path,
    cache: Path | None,
    max_cost: float | None = None,
    *,
    heard: Callable[[Usage], None] = lambda usage: None,
) -> Iterator[tuple[Answers, Budget]]:
    """Open what judges of a run keep their answers in; for ``Tools(answers=..., budget=...)``.

    Args:
        folder: The run directory.
        cache: File of the shared cache, or None for no cache.
        max_cost: US dollars that all starts of this run together may spend; None for no limit.
        heard: Told the tokens of each answer that was asked for now.

    Raises:
        RunError: A file cannot be opened.
    """
    own = AnswerFile(folder / FILE_NAME)
    shared = None if cache is None else AnswerFile(cache, facts_last=FACTS_LAST)
    try:
        yield Answers(own, shared, heard), Budget(max_cost, spent=own.cost())
    finally:
        own.close()
        if shared is not None:
            shared.close()


def run_judging(folder: Path) -> Judging:
    """What the judges of a run were asked, and how sure they were.

    Raises:
        RunError: The file cannot be opened.
    """
    own = AnswerFile(folder / FILE_NAME)
    try:
        return own.judging()
    finally:
        own.close()
