"""The built-in judge on criteria whose state is known: met, contradicted, not mentioned.

The texts are the descriptions of the minimal pairs that come with the package, and their
paraphrases. Criteria of each are the sentences of the description (met), the sentence of its
altered version with the wrong fact (contradicted), and the first sentence of the description of
another picture (not mentioned). Printed: the share of each that the judge puts into each state.
Run: ``python benchmarks/criteria_builtin.py``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from beholder import Item
from beholder.kinds.agreement.suites.files import Pair, read_pairs
from beholder.metrics import metric
from beholder.records import ItemScore
from beholder.text import splitter

STATES = ("met", "contradicted", "not_mentioned")


def criteria(pair: Pair, other_pair: Pair) -> list[dict[str, str]]:
    """Return the criteria of a text, each with its true state for an id."""
    stated, altered, elsewhere = (
        [segment.text_in(text) for segment in splitter("rules").split(text)]
        for text in (pair.reference, pair.altered, other_pair.reference)
    )
    criteria_rows = [("met", sentence) for sentence in stated]
    criteria_rows += [
        ("contradicted", sentence)
        for sentence in altered
        if sentence not in stated
    ]
    criteria_rows += [("not_mentioned", elsewhere[0])]
    return [
        {"id": f"{state} {n}", "text": text}
        for n, (state, text) in enumerate(criteria_rows)
    ]


def report(pairs: Sequence[Pair], texts: Sequence[str]) -> None:
    """Print what the judge says of each text's criteria, by their true state."""
    other_pairs = [*pairs[len(pairs) // 2 :], *pairs[: len(pairs) // 2]]
    items = [
        Item(pair.id, text, meta={"criteria": criteria(pair, other_pair)})
        for pair, other_pair, text in zip(
            pairs, other_pairs, texts, strict=True
        )
    ]
    verdicts_by_state: dict[str, Counter[str]] = defaultdict(Counter)
    for item_score in metric("checklist").score(items):
        assert isinstance(item_score, ItemScore), item_score
        for unit in item_score.units:
            verdicts_by_state[str(unit.detail["id"]).split()[0]][
                str(unit.verdict)
            ] += 1
    for true in STATES:
        n = verdicts_by_state[true].total()
        shares = ", ".join(
            f"{state} {verdicts_by_state[true][state] / n:.3f}"
            for state in STATES
        )
        print(f"  {true} ({n}): {shares}")


def main() -> None:
    path = files("beholder.kinds.agreement.suites") / "minimal_pairs.jsonl"
    pairs = read_pairs(Path(str(path)))
    print("text: the description itself")
    report(pairs, [pair.reference for pair in pairs])
    print("text: the description in other words")
    report(pairs, [pair.paraphrase for pair in pairs])


if __name__ == "__main__":
    main()
