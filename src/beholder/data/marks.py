"""Labels of people about texts, and how marks are read, by data set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from beholder.data.read import read_items
from beholder.errors import DataError
from beholder.options import DataOptions
from beholder.records import Item, Side, Span
from beholder.text.tokenize import words

Label: TypeAlias = Literal["mistakes", "omissions"]
SIDES: tuple[tuple[Label, Side], ...] = (
    ("mistakes", "candidate"),
    ("omissions", "reference"),
)

SCORE_OF: Mapping[str, str] = {
    "mistakes": "precision",
    "omissions": "recall",
    "overall_quality": "f1",
}
"""Score of a metric by the label of people that it is compared with."""


class JudgedFact(msgspec.Struct, frozen=True):
    """A statement and its verdicts by annotator, as ``beholder annotate export`` writes them."""

    text: str
    verdicts: dict[str, str]

    @property
    def agreed(self) -> str:
        """Verdict of more than half of the annotators, true or false, else unsure."""
        verdicts = [*self.verdicts.values()]
        return next(
            (
                v
                for v in ("true", "false")
                if 2 * verdicts.count(v) > len(verdicts)
            ),
            "unsure",
        )


MetaT = TypeVar("MetaT")


def exported_rows(
    path: Path, form: type[MetaT], *, textless: bool = False
) -> Iterator[tuple[Item, MetaT]]:
    """Yield the items of ``beholder annotate export`` with their ``meta`` as ``form``.

    Pictures are not opened.

    Raises:
        DataError: A row is wrong, or has another form.
    """
    # An export has absolute paths; no picture is opened here, so they may
    # point anywhere.
    anywhere = DataOptions(media_root=Path(path.absolute().anchor))
    for item in read_items(path, anywhere, textless=textless):
        if isinstance(item, DataError):
            raise item
        try:
            yield item, msgspec.convert(dict(item.meta), form)
        except msgspec.ValidationError as error:
            raise DataError(str(path), f"row {item.id}: {error}") from None


@dataclass(frozen=True)
class MarkProtocol:
    """Rules for reading the marks of a set.

    Attributes:
        part: Name of the parts that are marked, in the plural.
        parts: Ranges of the parts of a text of an item.
        several: Score of a part that several units of a metric touch.
        runs: Whether runs of parts are compared with the marked spans.
        per_text: Whether the published figures are means over texts.
    """

    part: str
    parts: Callable[[Item, str], Sequence[Span]]
    several: Literal["lowest", "highest"]
    runs: bool = True
    per_text: bool = False


_WORD = re.compile(
    r"[A-Za-z0-9]+(?:[-'.@_][A-Za-z0-9]+)*|[@#]\w+|[\u4e00-\u9fff\u3040-\u30ff]+"
)
"""Tokens of DetailVerifyBench: compounds, mentions, runs of Chinese or Japanese letters."""

_WORDS = MarkProtocol("words", lambda item, text: words(text), "highest")
_TOKENS = MarkProtocol(
    "words",
    lambda item, text: [match.span() for match in _WORD.finditer(text)],
    "highest",
    per_text=True,
)
_SENTENCES = MarkProtocol(
    "sentences",
    lambda item, text: [
        (int(start), int(end)) for start, end in item.judgments["sentences"]
    ],
    "lowest",
    runs=False,
)

MARKED: Mapping[str, MarkProtocol] = {
    "docent_granular": _WORDS,
    "detailverifybench": _TOKENS,
    "detailverifybench_synthetic": _TOKENS,
    "docci_critique": _SENTENCES,
    "alignbench": _SENTENCES,
    "haldec_bench": _SENTENCES,
}
"""Sets whose labels are marks; they have no protocol of item scores."""
