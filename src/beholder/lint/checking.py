"""Apply the rules to pictures, on all cores if there are many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beholder.base.processes import end_with_parent, map_in_processes
from beholder.base.threads import one_blas_thread
from beholder.errors import DataError
from beholder.lint import context as context  # these register their checks
from beholder.lint import dates as dates
from beholder.lint import file_names as file_names
from beholder.lint import notation as notation
from beholder.lint import texts
from beholder.lint.choice import Choice
from beholder.lint.collection import Traits
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import CHECKS, Hit, LintSetting, rules
from beholder.lint.sources import as_unread
from beholder.lint.wording import words

WORTH_WORKERS = 4_000
"""Pictures from which starting worker processes (about a second) pays."""
_BLOCK = 500
"""Pictures that a worker receives at once."""


class Check(NamedTuple):
    """Results of the rules for one picture.

    Attributes:
        hits: Ids of rules with what they found.
        traits: What its text is compared by; None for a picture without one.
        error: A rule that failed; None if all went well.
    """

    hits: Sequence[tuple[str, Hit]]
    traits: Traits | None
    error: DataError | None


def check_all(
    pictures: Sequence[Occurrence],
    setting: LintSetting,
    choice: Choice,
    workers: int | None,
) -> Iterator[Check]:
    """Yield the check of each picture, in order; equal for any number of workers.

    Args:
        pictures: What is checked.
        setting: Profile, platform, vocabulary and lengths.
        choice: Which rules count.
        workers: Worker processes; None for one on each core if there are many pictures.

    Raises:
        RunError: A worker process died.
    """
    if workers is None:
        is_worth = len(pictures) >= WORTH_WORKERS
        workers = (os.cpu_count() or 1) if is_worth else 1
    if workers > 1:
        yield from _check_in_processes(pictures, setting, choice, workers)
        return
    with one_blas_thread():
        for picture in pictures:
            yield _check(picture, setting, choice)


def _check_in_processes(
    pictures: Sequence[Occurrence],
    setting: LintSetting,
    choice: Choice,
    workers: int,
) -> Iterator[Check]:
    blocks = (
        pictures[start : start + _BLOCK]
        for start in range(0, len(pictures), _BLOCK)
    )
    advice = "check fewer files at once, or use --workers 1"
    for checks in map_in_processes(
        _check_block, blocks, workers, advice, _start_worker, setting, choice
    ):
        yield from checks


_of_worker: tuple[LintSetting, Choice] | None = None
"""Setting and choice of a worker process, which serves one check."""


def _start_worker(setting: LintSetting, choice: Choice) -> None:
    global _of_worker
    end_with_parent()
    _of_worker = setting, choice


def _check_block(pictures: Sequence[Occurrence]) -> list[Check]:
    assert _of_worker is not None
    setting, choice = _of_worker
    with one_blas_thread():
        return [_check(picture, setting, choice) for picture in pictures]


def _check(picture: Occurrence, setting: LintSetting, choice: Choice) -> Check:
    hits: list[tuple[str, Hit]] = []
    traits, error = None, None
    try:
        hits = list(find_hits(picture, setting, choice))
        if picture.text and not picture.decorative:
            traits = Traits.from_occurrence(picture)
    except Exception as fault:  # a rule fails on one picture of many
        error = as_unread(picture.file, fault)
    # Of a large table, the derived texts would fill the memory.
    picture.forget()
    return Check(hits, traits, error)


def find_hits(
    occurrence: Occurrence, setting: LintSetting, choice: Choice
) -> Iterator[tuple[str, Hit]]:
    """Yield what the rules that look at one picture find, with the ids of the rules."""
    for name, what, severity in occurrence.structural:
        # A part of a rule that has a severity of its own, as ALT001.empty.
        severity = choice.severity.get(name, severity)
        if severity != "off":
            yield name.partition(".")[0], Hit(what, severity=severity)
    # Declared as decorative, or reported in full by the reader.
    if occurrence.declared:
        return
    if occurrence.decorative:
        museum = setting.profile == "museum" and occurrence.element != "svg"
        if words(occurrence.caption):
            what = "is marked as decorative, and has a caption"
            yield "ALT005", Hit(what, evidence={"caption": occurrence.caption})
        elif museum:
            yield "ALT005", Hit("is marked as decorative")
        return
    if not occurrence.text:
        if (
            occurrence.raw
            and occurrence.element != "row"
            and occurrence.text_from != "descr"
        ):
            yield "ALT002", Hit("has a text of blanks only")
        else:
            yield "ALT001", Hit("has no alternative text")
        return
    for rule, check in sorted(CHECKS.items()):
        # A rule that is switched off still runs if it covers others: these
        # must not appear in its place.
        if choice.excludes(rule) and not rules()[rule].covers:
            continue
        if texts.scannable(occurrence, rule) and (
            hit := check(occurrence, setting)
        ):
            yield rule, hit
