"""The whole study: every table that the pairs have data for, and why the others are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from beholder.errors import ConfigError
from beholder.kinds.bidirectional import rates, ratings, scores, selectivity
from beholder.kinds.bidirectional.pairs import (
    Pairs,
    ordered,
    restrict_to_common,
)
from beholder.kinds.bidirectional.settings import StudySettings
from beholder.tables import Omitted, Table


@dataclass(frozen=True)
class Study:
    """A study in both directions.

    Attributes:
        pairs: The pairs whose pictures all systems of their set describe.
        main: The pairs of the main tables: the random sample, or all.
        settings: The settings.
        tables: The tables, in the order to read them.
        omitted: Parts that the data do not allow, with the reason.
    """

    pairs: Pairs
    main: Pairs
    settings: StudySettings
    tables: tuple[Table, ...]
    omitted: tuple[Omitted, ...]

    def table(self, name: str) -> Table | None:
        """Return a table by name, or None if the study has no such table."""
        return next(
            (table for table in self.tables if table.name == name), None
        )


Part: TypeAlias = tuple[str, str | None, Callable[[], Table]]
"""Title, reason why it is omitted (or None), and the function that makes its table."""


def study(pairs: Pairs, settings: StudySettings | None = None) -> Study:
    """Make all tables that the pairs have data for.

    Raises:
        ConfigError: There is no pair.
    """
    if not pairs:
        raise ConfigError(
            "the run has no item that was scored or failed; run the same command again to finish it"
        )
    how = settings or StudySettings()
    # Categories of hard pictures would distort the main tables: with a random sample they are over
    # that alone.
    pairs, unequal = restrict_to_common(pairs)
    main = [pair for pair in pairs if pair.category == how.random] or list(
        pairs
    )
    tables: list[Table] = []
    omitted: list[Omitted] = []
    for title, reason, make in _parts(pairs, main, how):
        table = make() if reason is None else None
        if table is not None and table.rows:
            tables.append(replace(table, notes=(*table.notes, *unequal)))
        else:
            omitted.append(
                Omitted(title, reason or "the run has no scores for it")
            )
    return Study(pairs, main, how, tuple(tables), tuple(omitted))


def _parts(pairs: Pairs, main: Pairs, how: StudySettings) -> Iterator[Part]:
    """Yield the tables over the random sample (or all pairs), by category, and of ratings."""

    def unless(met: bool, reason: str) -> str | None:
        return None if met else reason

    # Main tables, tables by category over all pairs, tables of people's ratings: in the order of
    # the page. A reason takes the place of a table that the data do not allow.
    note = "Over all pictures of the run."
    if main[0].category == how.random:
        note = f"Over the random sample (category {how.random!r})."
    one_system = unless(
        len({pair.system for pair in main}) > 1, "the run has one system"
    )
    no_units = unless(
        any(pair.human_facts for pair in main), "the run has no units"
    )
    one_dataset = unless(
        len({(pair.image, pair.dataset) for pair in main})
        > len({pair.image for pair in main}),
        "no picture is in two data sets; beholder caption --dataset NAME makes another of"
        " captions of another length",
    )
    one_language = unless(
        len({pair.language for pair in main}) > 1,
        "the run has one language; beholder translate makes another",
    )
    yield from (
        ("Scores", None, lambda: scores.score_table(main, note)),
        (
            "Tests against the best system",
            one_system,
            lambda: scores.best_table(main, note),
        ),
        (
            "One direction against the other",
            None,
            lambda: scores.direction_table(main, note),
        ),
        (
            "Hallucination and omission",
            None,
            lambda: rates.rate_table(main, note),
        ),
        ("Length of the texts", None, lambda: rates.length_table(main, note)),
        ("Subjects", no_units, lambda: selectivity.subject_table(main)),
        (
            "Contents that one side alone mentions",
            no_units,
            lambda: selectivity.content_table(main),
        ),
        (
            "Pictures by selectivity",
            no_units,
            lambda: selectivity.image_table(main),
        ),
        (
            "Change between data sets",
            one_dataset,
            lambda: rates.dataset_table(main),
        ),
        (
            "Change between languages",
            one_language,
            lambda: rates.language_table(main, note),
        ),
    )
    categories = ordered(pair.category for pair in pairs if pair.category)
    named_categories = [name for name in categories if name != how.random]
    no_category = unless(
        bool(named_categories),
        "no item has a category; beholder classify gives them one",
    )
    comparison_category = (
        how.random
        if how.random == scores.REST or how.random in categories
        else None
    )
    title = (
        "Categories"
        if comparison_category
        else "Categories (without a random sample)"
    )
    one_speaker = unless(
        _has_several_speakers(pairs),
        "no picture is described by several people",
    )
    yield from (
        (
            "Difficulty",
            None,
            lambda: scores.difficulty_table(pairs, how.cuts, categories),
        ),
        (
            title,
            no_category,
            lambda: scores.category_table(
                pairs, named_categories, comparison_category
            ),
        ),
        (
            "Rates by category",
            no_category,
            lambda: rates.category_rate_table(pairs, categories),
        ),
        (
            "Consensus of speakers",
            one_speaker,
            lambda: selectivity.consensus_table(pairs, categories),
        ),
        (
            "Selectivity",
            None,
            lambda: selectivity.selectivity_table(pairs, categories),
        ),
    )
    if named_categories and comparison_category is None:
        reason = (
            f"no category is called {how.random!r}; name it with --random, or take all other"
            f" pictures with --random {scores.REST}"
        )
        title = "Categories against a random sample"
        yield (
            title,
            reason,
            lambda: scores.category_table(pairs, named_categories, None),
        )
    unrated = unless(
        any(pair.model_ratings or pair.human_ratings for pair in pairs),
        "no item has ratings of people in its judgments",
    )
    one_side = unrated or unless(
        any(pair.model_ratings and pair.human_ratings for pair in pairs),
        "no item has ratings of both texts",
    )
    yield from (
        ("People's ratings", unrated, lambda: ratings.rating_table(pairs)),
        (
            "Ratings: model minus people",
            one_side,
            lambda: ratings.gap_table(pairs, categories),
        ),
        (
            "Agreement with people's ratings",
            unrated,
            lambda: ratings.correlation_table(pairs),
        ),
    )


def _has_several_speakers(pairs: Pairs) -> bool:
    """Return whether several people describe a picture of one data set and language."""
    texts = {
        (p.dataset, p.language, p.image, text)
        for p in pairs
        for text in p.references
    }
    return len(texts) > len({text[:3] for text in texts})
