"""The whole study: every table that the pairs have data for, and why the others are missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from beholder.errors import ConfigError
from beholder.kinds.bidirectional.categories import REST, category_rate_table, category_table
from beholder.kinds.bidirectional.changes import dataset_table
from beholder.kinds.bidirectional.difficulty import difficulty_table
from beholder.kinds.bidirectional.languages import language_table
from beholder.kinds.bidirectional.pairs import TextPair, main_sample, ordered
from beholder.kinds.bidirectional.rates import length_table, rate_table
from beholder.kinds.bidirectional.ratings import correlation_table, gap_table, rating_table
from beholder.kinds.bidirectional.scores import best_table, direction_table, score_table
from beholder.kinds.bidirectional.selectivity import (
    consensus_table,
    content_table,
    image_table,
    selectivity_table,
    subject_table,
)
from beholder.kinds.bidirectional.settings import StudySettings
from beholder.tables import Omitted, Table


@dataclass(frozen=True)
class Study:
    """What came out.

    Attributes:
        pairs: What it was made of.
        main: The pairs of the main tables: the random sample, or all.
        settings: How.
        tables: The tables, in the order to read them.
        omitted: Parts that the data do not allow, with the reason.
    """

    pairs: Sequence[TextPair]
    main: Sequence[TextPair]
    settings: StudySettings
    tables: tuple[Table, ...]
    omitted: tuple[Omitted, ...]

    def table(self, name: str) -> Table | None:
        """A table by name, or None."""
        return next((table for table in self.tables if table.name == name), None)


Part: TypeAlias = tuple[str, str | None, Callable[[], Table]]
"""Title, why it is left out (or None), and how its table is made."""


def study(pairs: Sequence[TextPair], settings: StudySettings | None = None) -> Study:
    """Make all tables.

    Raises:
        ConfigError: There is no pair.
    """
    if not pairs:
        raise ConfigError("the run has no item that was scored or failed; finish it first")
    how = settings or StudySettings()
    main, note = main_sample(pairs, how.random)
    tables: list[Table] = []
    omitted: list[Omitted] = []
    for title, reason, make in (*_parts(main, note), *_broken_down(pairs, how), *_people(pairs)):
        table = make() if reason is None else None
        if table is not None and table.rows:
            tables.append(table)
        else:
            omitted.append(Omitted(title, reason or "the run has no scores for it"))
    return Study(pairs, main, how, tuple(tables), tuple(omitted))


def _parts(main: Sequence[TextPair], note: str) -> list[Part]:
    one_system = "the run has one system" if len({pair.system for pair in main}) < 2 else None
    no_units = None if any(pair.human_facts for pair in main) else "the run has no units"
    one_dataset = None
    if not _in_two_datasets(main):
        one_dataset = (
            "no picture is in two data sets; beholder caption --dataset NAME makes another of"
            " captions of another length"
        )
    one_language = None
    if len({pair.language for pair in main}) < 2:
        one_language = "the run has one language; beholder translate makes another"
    return [
        ("Scores", None, lambda: score_table(main, note)),
        ("Tests against the best system", one_system, lambda: best_table(main, note)),
        ("One direction against the other", None, lambda: direction_table(main, note)),
        ("Hallucination and omission", None, lambda: rate_table(main, note)),
        ("Length of the texts", None, lambda: length_table(main, note)),
        ("Subjects", no_units, lambda: subject_table(main)),
        ("Contents that one side alone mentions", no_units, lambda: content_table(main)),
        ("Pictures by selectivity", no_units, lambda: image_table(main)),
        ("Change between data sets", one_dataset, lambda: dataset_table(main)),
        ("Change between languages", one_language, lambda: language_table(main, note)),
    ]


def _broken_down(pairs: Sequence[TextPair], how: StudySettings) -> list[Part]:
    categories = [name for name in ordered(pair.category for pair in pairs) if name]
    named = [name for name in categories if name != how.random]
    none = None if named else "no item has a category; beholder classify gives them one"
    against = how.random if how.random == REST or how.random in categories else None
    title = "Categories" if against else "Categories (without a random sample)"
    several = None if _speakers(pairs) else "no picture is described by several people"
    found: list[Part] = [
        ("Difficulty", None, lambda: difficulty_table(pairs, how.cuts, categories)),
        (title, none, lambda: category_table(pairs, named, against)),
        ("Rates by category", none, lambda: category_rate_table(pairs, categories)),
        ("Consensus of speakers", several, lambda: consensus_table(pairs, categories)),
        ("Selectivity", None, lambda: selectivity_table(pairs, categories)),
    ]
    if named and against is None:
        reason = (
            f"no category is called {how.random!r}; name it with --random, or take all other"
            f" pictures with --random {REST}"
        )
        found.append(("Categories against a random sample", reason, found[1][2]))
    return found


def _people(pairs: Sequence[TextPair]) -> list[Part]:
    categories = [name for name in ordered(pair.category for pair in pairs) if name]
    rated = any(pair.model_ratings or pair.human_ratings for pair in pairs)
    none = None if rated else "no item has ratings of people in its judgments"
    one_side = none
    if rated and not any(pair.model_ratings and pair.human_ratings for pair in pairs):
        one_side = "no item has ratings of both texts"
    return [
        ("People's ratings", none, lambda: rating_table(pairs)),
        ("Ratings: model minus people", one_side, lambda: gap_table(pairs, categories)),
        ("Agreement with people's ratings", none, lambda: correlation_table(pairs)),
    ]


def _speakers(pairs: Sequence[TextPair]) -> bool:
    texts: dict[tuple[str, str, str], set[str]] = {}
    for pair in pairs:
        known = texts.setdefault((pair.dataset, pair.language, pair.image), set())
        known |= set(pair.references)
        if len(known) > 1:
            return True
    return False


def _in_two_datasets(pairs: Sequence[TextPair]) -> bool:
    found: dict[str, set[str]] = {}
    for pair in pairs:
        found.setdefault(pair.image, set()).add(pair.dataset)
    return any(len(names) > 1 for names in found.values())
