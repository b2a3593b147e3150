"""``score_graphs`` beside what the public scorer asked and gave for real pairs of texts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import ItemError
from beholder.metrics.posh.published import score_graphs

RECORDS = json.loads(
    gzip.decompress(
        (Path(__file__).parents[2] / "vectors" / "posh.json.gz").read_bytes()
    )
)
TOLERANCE = 2e-5  # probabilities are recorded with six digits

CUP = {
    "head": "cup",
    "heads": ["cup"],
    "quantity": "",
    "attributes": ["red"],
    "attribute_sentence_idxs": {"red": [0]},
}
GRAPH = {
    "entities": [
        CUP,
        {**CUP, "head": "man", "heads": ["man"], "attributes": []},
    ],
    "relations": [
        {"subject": 1, "object": 0, "relation": "near", "sentence_idxs": [0]}
    ],
}


@pytest.mark.parametrize("record", RECORDS)
def test_questions_and_scores_are_those_of_the_public_scorer(
    record: Mapping[str, Any],
) -> None:
    recorded = {
        (kind, *words, side): probabilities
        for kind, words, side, probabilities in record["answers"]
    }
    questions: list[tuple[str, ...]] = []

    def answer(*question: str) -> Sequence[float]:
        questions.append(question)
        return recorded[question]  # type: ignore[no-any-return]  # KeyError: not asked there

    scores = score_graphs(
        record["candidate_graph"], record["reference_graph"], answer
    )
    assert scores._asdict() == pytest.approx(record["expected"], abs=TOLERANCE)
    assert len(set(questions)) == len(questions) <= record["calls"]["q"]


def test_a_small_pair_by_hand() -> None:
    # Six components, all graded 4 in the candidate's graph; in the reference's the cup is absent,
    # so that the relation and "red" count 1.
    def answer(
        kind: str, text: str, subject: str, object: str, side: str
    ) -> list[float]:
        absent = side == "candidate" and "cup" in text
        return [1, 0, 0, 0, 0] if absent else [0, 0, 0, 1, 0]

    scores = score_graphs(GRAPH, GRAPH, answer)
    assert scores.precision == pytest.approx(4 / 5)
    assert scores.recall == pytest.approx((1 + 4 + 1 + 1) / 4 / 5)
    assert scores.f1 == pytest.approx(2 * 0.8 * 0.35 / 1.15)


def test_probabilities_need_not_sum_to_1_and_the_threshold_is_a_parameter() -> (
    None
):
    def answer(*question: str) -> list[float]:
        return [0, 2, 0, 2, 0] if question[0] == "entity" else [0, 0, 0, 0, 7]

    assert score_graphs(GRAPH, GRAPH, answer).precision == pytest.approx(
        (3 + 3 + 5 + 5) / 4 / 5
    )
    above = score_graphs(GRAPH, GRAPH, answer, threshold=3.5)
    assert above.precision == pytest.approx((3 + 3 + 1 + 1) / 4 / 5)


def test_candidate_names_can_be_rewritten() -> None:
    questions = []

    def answer(
        kind: str, text: str, subject: str, object: str, side: str
    ) -> list[float]:
        questions.append((kind, text, subject))
        return [0, 0, 0, 0, 1] if "the" in text + subject else [0, 0, 1, 0, 0]

    score_graphs(GRAPH, GRAPH, answer, rewrite=lambda phrase: f"the {phrase}")
    assert questions[:4] == [
        ("entity", "cup", ""),
        ("entity", "man", ""),
        ("entity", "the red cup", ""),
        ("attribute", "red", "the red cup"),
    ]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"entities": []}, "no 'relations'"),
        (
            {**GRAPH, "entities": [{"head": "cup"}]},
            "no 'attribute_sentence_idxs'",
        ),
        ({**GRAPH, "entities": [CUP]}, r"'near'.*\(1, 0\).*there are 1"),
        (
            {
                **GRAPH,
                "entities": [{**CUP, "attribute_sentence_idxs": {"red": []}}],
            },
            "no sentence",
        ),
        (
            {**GRAPH, "entities": [{**CUP, "quantity": "two"}]},
            "'cup' has the quantity 'two'",
        ),
    ],
)
def test_what_is_no_public_graph_is_refused(
    graph: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(ItemError, match=message):
        score_graphs(graph, GRAPH, lambda *_: [0, 0, 0, 0, 1])


@pytest.mark.parametrize(
    "probabilities", [[0, 0, 0, 0, 0], [1, 1], [-1, 0, 0, 0, 2]]
)
def test_what_is_no_answer_is_refused(probabilities: list[float]) -> None:
    with pytest.raises(ItemError, match=r"probabilities of 1 to 5, got"):
        score_graphs(GRAPH, GRAPH, lambda *_: probabilities)
