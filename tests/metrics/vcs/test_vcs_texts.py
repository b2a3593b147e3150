"""From texts to units: splitting, chunks, spans, several references."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Sequence

import numpy as np
import pytest

from beholder import VCS
from beholder.aio import run_sync
from beholder.asking.tools import Tools
from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.records import Item, ItemFailure, ItemScore


class WordTools(Tools):
    """Embeds a text as its counts of letters, so that similarities can be reckoned by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def identity(
        self, kind: str, spec: str, operations: Collection[str] | None = None
    ) -> str:
        if kind == "embedder":
            return "letters@1"
        return super().identity(kind, spec, operations)

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        self.asked.extend(texts)
        counts = np.array(
            [
                [text.lower().count(letter) for letter in "abcd"]
                for text in texts
            ]
        )
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        return np.asarray(counts / np.maximum(lengths, 1), dtype=np.float32)


def score(
    candidate: str, references: Sequence[str], metric: VCS | None = None
) -> ItemScore:
    return (metric or VCS()).score_text(
        candidate, references, tools=WordTools()
    )


def test_units_are_the_sentences_with_their_places_and_matches() -> None:
    candidate, reference = "Bbb. Aaa!", "  Aaa. Bbb. Ccc."
    item_score = score(candidate, [reference], VCS(lct=0))
    assert [
        (unit.side, unit.text, unit.spans) for unit in item_score.units
    ] == [
        ("candidate", "Bbb.", ((0, 4),)),
        ("candidate", "Aaa!", ((5, 9),)),
        ("reference", "Aaa.", ((2, 6),)),
        ("reference", "Bbb.", ((7, 11),)),
        ("reference", "Ccc.", ((12, 16),)),
    ]
    # Ratio 3/2: candidate windows [0, 2) and [1, 3); reference windows 0, 0..1, 1.
    assert [dict(unit.detail) for unit in item_score.units] == [
        {"match": 1, "window": [0, 2], "distance": 0},
        {"match": 0, "window": [1, 3], "distance": 1},
        {"match": 1, "window": [0, 1], "distance": 1},
        {"match": 0, "window": [0, 2], "distance": 0},
        {"match": 1, "window": [1, 2], "distance": 0},
    ]
    assert [unit.score for unit in item_score.units] == pytest.approx(
        [1, 1, 1, 1, 0]
    )
    verdicts = [unit.verdict for unit in item_score.units]
    assert verdicts == [
        "match",
        "out_of_order",
        "out_of_order",
        "match",
        "unmatched",
    ]
    assert [unit.reference_index for unit in item_score.units] == [
        None,
        None,
        0,
        0,
        0,
    ]


def test_chunks_join_neighbouring_sentences_and_span_them() -> None:
    tools = WordTools()
    item = Item(id="1", candidate="Aaa.  Bbb. Ccc.", references=("Ddd.",))
    evidence = run_sync(VCS(chunk_size=2).gather(item, tools))
    assert evidence.candidate.spans == ((0, 10), (11, 15))
    assert evidence.candidate.chunks.shape == (2, 4)
    assert tools.asked == ["Aaa. Bbb.", "Ccc.", item.candidate, "Ddd.", "Ddd."]


def test_best_reference_counts_by_default_and_the_mean_when_asked() -> None:
    candidate, references = (
        "Aaa. Bbb.",
        ["Ccc. Ddd.", "Aaa. Bbb.", "Bbb. Aaa."],
    )
    best = score(candidate, references)
    assert best.values["vcs"] == pytest.approx(1)
    assert best.detail["reference_index"] == 1
    assert {
        unit.reference_index for unit in best.units if unit.side == "reference"
    } == {1}
    each = [score(candidate, [reference]).values for reference in references]
    mean = score(candidate, references, VCS(references="mean"))
    for name, value in mean.values.items():
        assert value == pytest.approx(sum(values[name] for values in each) / 3)
    assert "references:mean" in mean.signature
    assert "embedder:letters@1" in mean.signature


@pytest.mark.parametrize(
    ("candidate", "references", "message"),
    [
        ("  \n", ["Aaa."], "the candidate is empty"),
        (".", ["Aaa."], "the candidate has no word"),
        ("Aaa.", ["?! ..."], "reference 1 has no words"),
        ("Aaa.", [], "needs references"),
        ("Aaa.", ["Aaa.", " "], "reference 2 has no words"),
        (
            "Aaa.",
            ["Aaa.", "Zzz."],
            "embedder 'ordered' knows no word of the reference 2",
        ),
    ],
)
def test_an_empty_or_unknown_text_is_a_failure_with_a_reason(
    candidate: str, references: list[str], message: str
) -> None:
    with pytest.raises(ItemError, match=message):
        score(candidate, references)
    item = Item(id="1", candidate=candidate, references=tuple(references))
    (result,) = VCS().score([item], tools=WordTools())
    assert isinstance(result, ItemFailure)
    assert message in result.message


def test_evidence_pickles_and_scores_the_same() -> None:
    item = Item(
        id="1", candidate="Aaa. Bbb. Aab.", references=("Aaa. Bbb.", "Bbb.")
    )
    metric = VCS()
    evidence = run_sync(metric.gather(item, WordTools()))
    again = pickle.loads(pickle.dumps(evidence))
    assert (
        metric.score_item(item, again).values
        == metric.score_item(item, evidence).values
    )


def test_identical_texts_score_one_whatever_their_length() -> None:
    for text in ("Aaa.", "Aaa. Bbb.", "Aaa. Bbb. Aaa. Abb. Acc."):
        assert score(text, [text]).values["vcs"] == pytest.approx(1, abs=1e-6)
