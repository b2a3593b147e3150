"""One wrong fact against a true paraphrase: does a metric put the paraphrase above?

Each row has a description and two versions of it: ``altered``, nearly the same words with one fact
made wrong, and ``paraphrase``, other words that say the same. A metric that rewards equal words
puts the wrong version above. The pairs that come with the package cover twenty kinds of wrong
facts; they were written without knowledge of the metrics and the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from beholder.errors import DataError
from beholder.kinds.agreement.suites.comparison import version
from beholder.records import Item


class Pair(msgspec.Struct, frozen=True):
    """A description and two versions of it.

    Attributes:
        id: Its name.
        kind: What is wrong: ``colour``, ``roles``, ``negation`` ...
        reference: The description.
        altered: The same with one wrong fact.
        paraphrase: The same in other words.
        changed: The words of ``altered`` that are wrong.
    """

    id: str
    kind: str
    reference: str
    altered: str
    paraphrase: str
    changed: str = ""


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a JSON Lines file.

    Raises:
        DataError: The file cannot be read, or a line is no such pair.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(str(path), error.strerror or str(error)) from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(msgspec.json.decode(line, type=Pair))
        except msgspec.DecodeError as error:
            expected = "expected id, kind, reference, altered and paraphrase"
            raise DataError(f"{path}, line {number}", f"{error}; {expected}") from None
    return found


def versions(pairs: Sequence[Pair]) -> list[Item]:
    """Both versions of each description, with the description for reference."""
    return [
        changed
        for pair in pairs
        for item in [Item(id=pair.id, candidate=pair.reference)]
        for changed in (
            version(item, "paraphrase", "valid", pair.paraphrase),
            version(item, pair.kind, "invalid", pair.altered),
        )
    ]
