"""The answers of judges in a run: its own store, the shared cache behind it, and its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from beholder.backends import Usage
from beholder.judges import AnswerFile, Answers, Budget
from beholder.judges.answer_database import AnswerDatabase
from beholder.judges.answers import FACTS_LAST, AnswerCache
from beholder.judges.summary import Judging
from beholder.postgres import Address
from beholder.run.store_file import FILE_NAME


@contextmanager
def run_answers(
    folder: Path,
    cache: Path | Address | None,
    max_cost: float | None = None,
    *,
    heard: Callable[[Usage], None] = lambda usage: None,
) -> Iterator[tuple[Answers, Budget]]:
    """Open what judges of a run keep their answers in; for ``Tools(answers=..., budget=...)``.

    Args:
        folder: The run directory.
        cache: File or database of the shared cache, or None for no cache.
        max_cost: US dollars that all starts of this run together may spend; None for no limit.
        heard: Receives the tokens of each new answer.

    Raises:
        RunError: A file cannot be opened, or the database cannot be reached.
    """
    with ExitStack() as stack:
        own = stack.enter_context(closing(AnswerFile(folder / FILE_NAME)))
        shared = None if cache is None else stack.enter_context(closing(open_cache(cache)))
        yield Answers(own, shared, heard), Budget(max_cost, spent=own.cost())


def open_cache(place: Path | Address) -> AnswerCache:
    """The cache that runs share, in a file or a database.

    Raises:
        RunError: It cannot be used.
    """
    if isinstance(place, Path):
        return AnswerFile(place, facts_last=FACTS_LAST, private=True)
    return AnswerDatabase(place)


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
