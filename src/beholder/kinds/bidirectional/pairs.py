"""A model's text and people's texts about one picture, with what was found in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["har", "mar"]
"""``har``: the model's text against people's; ``mar``: people's text against the model's."""

DIRECTIONS: tuple[Direction, ...] = ("har", "mar")


@dataclass(frozen=True, slots=True)
class Fact:
    """A unit of a text.

    Attributes:
        text: The unit in words.
        subject: Identifier of what it is about (``dog_0``), or an empty text.
        relevant: Whether it says what can be seen.
        verified: Whether picture or other text supports it; None where it was not asked.
        matches: Places of the units of the other side that say the same, as judged from here.
        voice: For people's units, which of ``TextPair.references`` they stand in.
    """

    text: str
    subject: str = ""
    relevant: bool = True
    verified: bool | None = None
    matches: tuple[int, ...] = ()
    voice: int = 0


@dataclass(frozen=True, slots=True)
class TextPair:
    """One item of a run.

    Attributes:
        id: Its id.
        image: Key of the picture.
        system: Who wrote the candidate.
        candidate: The model's text.
        references: The people's texts.
        dataset: Its data set; empty where the run names none.
        language: Its language; empty likewise.
        category: Category of the picture; empty likewise.
        values: Scores such as ``har_f1``; empty where the item failed.
        model_facts: Units of the candidate.
        human_facts: Units of the references.
        model_ratings: People's ratings of the candidate.
        human_ratings: People's ratings of the reference.
        model_raters: Who gave the ratings of the candidate, in their order; empty if not known.
        human_raters: Who gave those of the reference.
        others: Scores of other metrics per direction, by name.
        chosen: Which of ``references`` the values of a direction are about; a direction that is
            not named is about each of them.
        failure: Why there are no values.
    """

    id: str
    image: str
    system: str
    candidate: str = ""
    references: tuple[str, ...] = ()
    dataset: str = ""
    language: str = ""
    category: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    model_facts: tuple[Fact, ...] = ()
    human_facts: tuple[Fact, ...] = ()
    model_ratings: tuple[float, ...] = ()
    human_ratings: tuple[float, ...] = ()
    model_raters: tuple[str, ...] = ()
    human_raters: tuple[str, ...] = ()
    others: Mapping[Direction, Mapping[str, float]] = field(default_factory=dict)
    chosen: Mapping[Direction, int] = field(default_factory=dict)
    failure: str | None = None

    def value(self, direction: Direction, name: str) -> float | None:
        """A score such as ``f1`` in one direction, or None."""
        return self.values.get(f"{direction}_{name}")

    def voices(self, direction: Direction) -> tuple[int, ...]:
        """Places of the references that the values of a direction are about."""
        one = self.chosen.get(direction)
        return tuple(range(max(1, len(self.references)))) if one is None else (one,)

    def told(self, direction: Direction) -> Iterator[tuple[list[Fact], list[int]]]:
        """For each reference: the units under test, and the places of those they are held against.

        Only of references that the values of the direction are about.
        """
        for voice in self.voices(direction):
            human = [place for place, fact in enumerate(self.human_facts) if fact.voice == voice]
            if direction == "har":
                yield list(self.model_facts), human
            else:
                tested = [self.human_facts[place] for place in human]
                yield tested, list(range(len(self.model_facts)))


Stratum: TypeAlias = tuple[dict[str, str], list[TextPair]]


def strata(pairs: Sequence[TextPair]) -> Iterator[Stratum]:
    """Pairs by data set and language, which are never mixed; with the columns that name them."""
    for dataset in ordered(pair.dataset for pair in pairs):
        for language in ordered(pair.language for pair in pairs):
            found = [p for p in pairs if (p.dataset, p.language) == (dataset, language)]
            if found:
                yield {"dataset": dataset, "language": language}, found


def by_system(pairs: Sequence[TextPair]) -> dict[str, list[TextPair]]:
    """Pairs per system, in the order in which systems appear."""
    found: dict[str, list[TextPair]] = {}
    for pair in pairs:
        found.setdefault(pair.system, []).append(pair)
    return found


def by_image(pairs: Sequence[TextPair]) -> dict[str, list[TextPair]]:
    """Pairs per picture."""
    found: dict[str, list[TextPair]] = {}
    for pair in pairs:
        found.setdefault(pair.image, []).append(pair)
    return found


def having(
    pairs: Sequence[TextPair], direction: Direction, name: str
) -> list[tuple[TextPair, float]]:
    """Pairs that have a score, with it."""
    return [(p, value) for p in pairs if (value := p.value(direction, name)) is not None]


def ordered(values: Iterator[str]) -> list[str]:
    """Different values in the order in which they appear."""
    return list(dict.fromkeys(values))


def main_sample(pairs: Sequence[TextPair], random: str) -> tuple[list[TextPair], str]:
    """The random sample where the run has one, else all pairs; and words that say which."""
    drawn = [pair for pair in pairs if pair.category == random]
    if drawn:
        return drawn, f"Over the random sample (category {random!r})."
    return list(pairs), "Over all pictures of the run."
