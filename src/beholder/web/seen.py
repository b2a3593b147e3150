"""The pictures that subjects of a run are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from beholder.errors import ItemError
from beholder.media import file_of
from beholder.records import Frame, Item, Reviews, Storyline
from beholder.run import manifest
from beholder.run.answered import GivenAnswer, answers
from beholder.run.thumbs import FOLDER, thumb
from beholder.web.items import RunView
from beholder.web.pictures import SIDES, SmallPictures


def images_of(subject: Any) -> tuple[str, ...]:
    """Paths of the pictures of a subject, as its data write them."""
    if isinstance(subject, Item):
        return subject.images
    if isinstance(subject, Storyline):
        return tuple(frame.image for frame in subject.frames if frame.image)
    if isinstance(subject, Frame | Reviews) and subject.image:
        return (subject.image,)
    return ()


class RunPictures:
    """Pictures of one run: those of its data, or else the small ones that the run keeps.

    Args:
        view: The run.
        media_root: What paths are relative to; None for the folder of the data.
    """

    def __init__(self, view: RunView, media_root: Path | None) -> None:
        self._folder = view.folder
        self._one_a_subject = view.kind != "narratives"  # there, thumbnails are of all frames
        media_root = media_root or manifest.data_folder(view.folder)
        self._found = None if media_root is None else SmallPictures(media_root)
        self._kept = SmallPictures(view.folder / FOLDER)

    def has(self, kind: str, position: int, subject: Any, number: int = 0) -> bool:
        """Whether there may be a picture to show; whether it can be read shows when it is asked."""
        images = images_of(subject)
        if number >= len(images):
            return False
        return self._path(images[number]) or self._thumb(kind, position, number) is not None

    def response(
        self, request: Request, kind: str, position: int, subject: Any, number: int, small: bool
    ) -> Response:
        """A picture of a subject.

        Raises:
            HTTPException: There is none, or it cannot be shown; says why.
        """
        images = images_of(subject)
        if number >= len(images):
            raise HTTPException(404, f"there is no picture {number}")
        side = SIDES[0] if small else SIDES[1]
        try:
            if self._found is not None and self._path(images[number]):
                return self._found.response(request, images[number], side)
            kept = self._thumb(kind, position, number)
            if kept is not None:
                return self._kept.response(request, kept.name, side)
        except ItemError as error:
            raise HTTPException(404, str(error)) from error
        raise HTTPException(
            404, f"{images[number]}: not found; say where pictures lie with --media-root"
        )

    def frame(self, request: Request, number: int) -> Response:
        """A frame of storylines, by its number in the run.

        Raises:
            HTTPException: There is none.
        """
        try:
            return self._kept.response(request, thumb(self._folder, number).name, SIDES[0])
        except ItemError:
            raise HTTPException(404, f"the run keeps no picture of frame {number}") from None

    def _path(self, name: str) -> bool:
        if self._found is None:
            return False
        try:
            return file_of(self._found.root / name).is_file()
        except (OSError, ValueError):  # too long, or a NUL in it
            return False

    def _thumb(self, kind: str, position: int, number: int) -> Path | None:
        own = kind == "picture" or self._one_a_subject
        path = thumb(self._folder, position)
        return path if own and number == 0 and path.is_file() else None


@dataclass(frozen=True)
class AskedQuestion:
    """One question of an asker.

    Attributes:
        asker: Who put it.
        messages: Role and words of each message; None where the run kept the answer alone.
        answer: What came back, or None if nothing did.
    """

    asker: str
    messages: tuple[tuple[str, str], ...] | None
    answer: GivenAnswer | None

    def mentions(self, words: str) -> bool:
        """Whether words occur in the question or the answer, in any case of letters."""
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
    """The questions of an outcome; of runs from before prompts were stored only their keys."""
    if isinstance(questions, list):
        for one in questions:
            yield asker, one["key"], tuple((role, text) for role, text in one["messages"])
    elif isinstance(keys, list):
        yield from ((asker, key, None) for key in keys if isinstance(key, str))
