"""The whole study: every table that the pairs have data for, and why the others are missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from beholder.benchmarks.bidirectional import selectivity
from beholder.benchmarks.bidirectional.categories import REST, category_rate_table, category_table
from beholder.benchmarks.bidirectional.difficulty import difficulty_table
from beholder.benchmarks.bidirectional.languages import language_table
from beholder.benchmarks.bidirectional.pairs import Pair, main_sample, ordered
from beholder.benchmarks.bidirectional.rates import length_table, rate_table
from beholder.benchmarks.bidirectional.ratings import correlation_table, gap_table, rating_table
from beholder.benchmarks.bidirectional.scores import direction_table, score_table, test_table
from beholder.benchmarks.bidirectional.table import Omitted, Table
from beholder.errors import ConfigError


@dataclass(frozen=True)
class Settings:
    """How the study is made.

    Attributes:
        random: Category of the random sample; ``rest`` compares each category with all others.
        cuts: F1 or recall below which a text is hard, and from which it is easy; None for tertiles.
    """

    random: str = "random"
    cuts: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.cuts is not None and not 0.0 <= self.cuts[0] <= self.cuts[1] <= 1.0:
            raise ConfigError(f"cuts {self.cuts}: expected two numbers from 0 to 1, the lower first")


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

    pairs: Sequence[Pair]
    main: Sequence[Pair]
    settings: Settings
    tables: tuple[Table, ...]
    omitted: tuple[Omitted, ...] = field(default=())

    def table(self, name: str) -> Table | None:
        """A table by name, or None."""
        return next((table for table in self.tables if table.name == name), None)


def study(pairs: Sequence[Pair], settings: Settings | None = None) -> Study:
    """Make all tables.

    Raises:
        ConfigError: There is no pair.
    """
    if not pairs:
        raise ConfigError("the run has no item that was scored or failed; finish it first")
    how = settings or Settings()
    main, note = main_sample(pairs, how.random)
    categories = [name for name in ordered(pair.category for pair in pairs) if name]
    named = [name for name in categories if name != how.random]
    against = how.random if how.random == REST or how.random in categories else None
    tables: list[Table] = []
    omitted: list[Omitted] = []

    def add(reason: str | None, *makes: Callable[[], Table]) -> None:
        for make in makes:
            table = make() if reason is None else None
            if table is not None and table.rows:
                tables.append(table)
            else:
                omitted.append(Omitted(_TITLES[len(tables) + len(omitted)], reason or "no data"))

    few_systems = len({pair.system for pair in main}) < 2
    add(None, lambda: score_table(main, note))
    add("the run has one system" if few_systems else None, lambda: test_table(main, note))
    add(None, lambda: direction_table(main, note), lambda: rate_table(main, note))
    add(None, lambda: length_table(main, note))
    add(None, lambda: difficulty_table(pairs, how.cuts, categories))
    no_category = None if named else "no item has a category; beholder classify gives them one"
    add(
        no_category,
        lambda: category_table(pairs, named, against),
        lambda: category_rate_table(pairs, categories),
    )
    add(
        None if _speakers(pairs) else "no picture is described by several people",
        lambda: selectivity.consensus_table(pairs, categories),
    )
    no_units = None if any(pair.human_facts for pair in pairs) else "the run has no units"
    add(
        no_units,
        lambda: selectivity.selectivity_table(main, []),
        lambda: selectivity.subject_table(main),
        lambda: selectivity.content_table(main),
        lambda: selectivity.image_table(main),
    )
    rated = any(pair.model_ratings or pair.human_ratings for pair in pairs)
    no_rating = None if rated else "no item has ratings of people (judgments)"
    both = any(pair.model_ratings and pair.human_ratings for pair in pairs)
    add(no_rating, lambda: rating_table(pairs))
    add(
        no_rating or (None if both else "no item has ratings of both texts"),
        lambda: gap_table(pairs, categories),
    )
    add(no_rating, lambda: correlation_table(pairs))
    one_language = len({pair.language for pair in pairs}) < 2
    add(
        "the run has one language; beholder translate makes another" if one_language else None,
        lambda: language_table(main, note),
    )
    if named and against is None:
        omitted.append(
            Omitted(
                "Categories against a random sample",
                f"no category is called {how.random!r}: name it with --random, or compare with all"
                f" other pictures by --random {REST}",
            )
        )
    return Study(pairs, main, how, tuple(tables), tuple(omitted))


_TITLES = (
    "Scores",
    "Tests against the best system",
    "One direction against the other",
    "Hallucination and omission",
    "Length of the texts",
    "Difficulty",
    "Categories",
    "Hallucination and omission by category",
    "Consensus of speakers",
    "What one side says and the other does not",
    "Subjects",
    "Contents that one side alone mentions",
    "Pictures by selectivity",
    "People's ratings",
    "Ratings: model minus people",
    "Agreement with people's ratings",
    "Change between languages",
)


def _speakers(pairs: Sequence[Pair]) -> bool:
    texts: dict[tuple[str, str, str], set[str]] = {}
    for pair in pairs:
        known = texts.setdefault((pair.dataset, pair.language, pair.image), set())
        known |= set(pair.references)
        if len(known) > 1:
            return True
    return False
