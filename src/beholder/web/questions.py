"""What judges were asked of one subject, word by word, and what they said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from beholder.run.answered import GivenAnswer, answers
from beholder.web.items import RunView


@dataclass(frozen=True)
class AskedQuestion:
    """One question of an asker.

    Attributes:
        asker: Who put it.
        messages: Role and words of each message; None where the run kept the answer alone.
        answer: What came back, or None where nothing did.
    """

    asker: str
    messages: tuple[tuple[str, str], ...] | None
    answer: GivenAnswer | None

    def mentions(self, words: str) -> bool:
        """Whether words stand in the question or the answer, in any case of letters."""
        wanted = words.casefold()
        said = self.answer.said if self.answer else ()
        texts = [text for _, text in self.messages or ()] + list(said)
        return any(wanted in text.casefold() for text in texts)


def questions_of(view: RunView, kind: str, position: int) -> list[AskedQuestion]:
    """All questions about one subject, by asker and operation.

    Raises:
        RunError: The store cannot be read.
    """
    found: list[tuple[str, str, tuple[tuple[str, str], ...] | None]] = []
    with view.store() as store:
        for one in view.snapshot.of_kind(kind):
            outcome = store.score(one.name, position)
            detail = outcome.detail if outcome is not None else {}
            found += _noted(one.name, detail.get("questions"), detail.get("answers"))
    known = answers(view.folder, [key for _, key, _ in found])
    questions = [AskedQuestion(asker, words, known.get(key)) for asker, key, words in found]
    names = [one.name for one in view.snapshot.asked]
    return sorted(
        questions,
        key=lambda one: (names.index(one.asker), one.answer.operation if one.answer else ""),
    )


def _noted(
    asker: str, questions: object, keys: object
) -> Iterator[tuple[str, str, tuple[tuple[str, str], ...] | None]]:
    """What an outcome says of its questions; runs of before prompts were kept know keys alone."""
    if isinstance(questions, list):
        for one in questions:
            yield asker, one["key"], tuple((role, text) for role, text in one["messages"])
    elif isinstance(keys, list):
        yield from ((asker, key, None) for key in keys if isinstance(key, str))
