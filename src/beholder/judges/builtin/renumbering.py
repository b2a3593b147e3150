"""Numbers of statements in the words of the texts that they are about: "six" for "half a dozen"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.reading import analysed_claims
from beholder.language.numerals import number


def renumbered(
    claims: Sequence[AnalysedText], texts: Iterable[AnalysedText]
) -> Sequence[AnalysedText]:
    """Claims whose amounts are worded as the texts word the same numbers.

    Statements are held against texts by their words, too, and a number has many.

    Args:
        claims: The statements as read.
        texts: What they are held against.
    """
    written = {
        entity.quantity.lower(): value
        for text in texts
        for entity in text.graph.entities
        if entity.quantity is not None and (value := number(entity.quantity)) is not None
    }
    if not written:
        return claims
    return [_worded_as(claim, written) for claim in claims]


def _worded_as(claim: AnalysedText, written: dict[str, float]) -> AnalysedText:
    text = claim.graph.text
    spans = {span for unit in claim.units if unit.quantity for span in unit.spans}
    for start, end in sorted(spans, reverse=True):
        said = text[start:end].lower()
        if said in written:
            continue
        value = number(said)
        other = next((words for words, known in written.items() if known == value), None)
        if other is not None:
            text = f"{text[:start]}{other}{text[end:]}"
    return claim if text == claim.graph.text else analysed_claims.of([text])[0]
