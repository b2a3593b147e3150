"""People's graphs and answers about presence, held against ours; values by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import Request, Scripted
from beholder.errors import DataError
from beholder.judges import LLMJudge
from beholder.kinds.agreement.annotated import (
    compare_graphs,
    read_answers,
    read_graphs,
    score_annotated,
    verification,
)
from beholder.language.reading import GraphReader
from beholder.metrics.posh.published_graph import PublishedGraph

TEXT = "A tall man holds a red cup. He smiles near the dog."


def span(words: str) -> list[int]:
    return [TEXT.index(words), TEXT.index(words) + len(words)]


def entity(*mentions: str, **attributes: str) -> dict[str, Any]:
    """An entity; attributes are ``name=words``."""
    return {
        "head": mentions[0],
        "heads": list(mentions),
        "attributes": list(attributes.values()),
        "attribute_sentence_idxs": {
            words: [0] for words in attributes.values()
        },
        "attribute_text_spans": {
            words: [span(words)] for words in attributes.values()
        },
        "text_spans": [span(words) for words in mentions],
    }


def relation(subject: int, words: str, object_number: int) -> dict[str, Any]:
    row = {
        "subject": subject,
        "object": object_number,
        "relation": words,
        "sentence_idxs": [0],
    }
    return {**row, "text_spans": [span(words)]}


GOLD = {
    "entities": [
        entity("man", "He", a="tall", b="smiles"),
        entity("cup", a="red"),
        entity("dog"),
    ],
    "relations": [relation(0, "holds", 1), relation(0, "near", 2)],
}
CANDIDATE = {
    # "He" is another's, "tall" the cup's, "smiles" is missed, and the dog is near the cup
    "entities": [
        entity("man"),
        entity("cup", a="tall", b="red"),
        entity("He"),
        entity("dog"),
    ],
    "relations": [relation(0, "holds", 1), relation(3, "near", 1)],
}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_scores_of_elements_and_of_their_attachment() -> None:
    scores = compare_graphs(
        PublishedGraph.of_public(GOLD), PublishedGraph.of_public(CANDIDATE)
    )
    entities, attributes, relations = (
        scores[kind] for kind in ("entity", "attribute", "relation")
    )
    assert (entities.precision, entities.recall) == (0.75, 1.0)
    assert entities.f1 == pytest.approx(6 / 7)
    assert entities.shares == {"coref": 0.75}  # man, cup, dog; not He
    assert attributes.precision == 1.0
    assert attributes.recall == pytest.approx(2 / 3)
    assert attributes.shares == {"head": 0.5}  # red, not tall
    assert (relations.precision, relations.recall, relations.f1) == (
        1.0,
        1.0,
        1.0,
    )
    assert relations.shares == {"head": 0.5, "tail": 0.5}


def test_relations_that_nothing_is_written_for_match_by_their_words() -> None:
    silent = {
        **relation(0, "holds", 1),
        "relation": "part of",
        "text_spans": [],
    }
    gold = PublishedGraph.of_public({**GOLD, "relations": [silent]})
    for words, share in (("part of", 1.0), ("of", 0.0)):
        relation_row = {
            **silent,
            "relation": words,
            "text_spans": [span("near")],
        }
        candidate = PublishedGraph.of_public(
            {**GOLD, "relations": [relation_row]}
        )
        assert compare_graphs(gold, candidate)["relation"].recall == share


def test_a_graph_held_against_itself_is_right_and_an_empty_one_has_no_shares() -> (
    None
):
    gold, nothing = PublishedGraph.of_public(GOLD), PublishedGraph((), ())
    for scores in compare_graphs(gold, gold).values():
        assert (scores.precision, scores.recall, scores.f1) == (1.0, 1.0, 1.0)
        assert set(scores.shares.values()) == {1.0}
    for scores in compare_graphs(gold, nothing).values():
        assert (scores.precision, scores.recall, scores.f1) == (None, 0.0, 0.0)
        assert set(scores.shares.values()) == {None}


def test_a_file_of_graphs_is_scored_as_the_mean_over_texts(
    tmp_path: Path,
) -> None:
    text = "A dog sleeps."
    dog = {**entity("dog"), "text_spans": [[2, 5]]}
    empty = {
        "entities": [dog, {**dog, "text_spans": [[0, 1]]}],
        "relations": [],
    }
    path = write(
        tmp_path / "a.jsonl",
        {"text": TEXT, "graph": GOLD},
        {"text": text, "graph": empty},
    )
    scores = score_annotated(read_graphs(path), GraphReader("reference"))
    assert scores["entity"].recall == pytest.approx((1.0 + 0.5) / 2)
    assert scores["entity"].shares["coref"] == 1.0
    assert scores["relation"].shares == {
        "head": 1.0,
        "tail": 1.0,
    }  # the second text has none


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"text": "A dog."},
            "missing required field `graph`; expected text, graph",
        ),
        (
            {"text": "A dog.", "graph": {"entities": []}},
            "graph: the graph has no 'relations'",
        ),
        (
            {"text": "A dog.", "graph": {"entities": 3, "relations": []}},
            "graph cannot be read",
        ),
        (
            {
                "text": "A dog.",
                "graph": {"entities": [{"head": 1}], "relations": []},
            },
            "graph cannot be read",
        ),
        ([1], "Expected `object`, got `array`"),
    ],
)
def test_a_row_without_an_annotated_graph_is_an_error(
    row: object, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", {"text": TEXT, "graph": GOLD}, row)
    with pytest.raises(DataError) as caught:
        read_graphs(path)
    assert caught.value.line == 2
    assert message in str(caught.value)


def answer(
    words: str, side: str, present: bool, **further: object
) -> dict[str, object]:
    fixed = {"kind": "entity", "text": words, "target": f"about {words}"}
    return {**fixed, "side": side, "present": present, **further}


ROWS = [
    answer("man", "candidate", True, grade=4.5),
    answer("cup", "candidate", False, grade=2.5),
    answer("dog", "candidate", False, grade=1),
    answer("tree", "reference", True, grade=1.5),
    answer("hat", "reference", False),
]


def test_a_judge_is_held_against_peoples_answers(tmp_path: Path) -> None:
    def says(request: Request) -> str:
        return "1" if "about hat" in request.messages[-1].text else "5"

    backend = Scripted(says)
    answers = read_answers(write(tmp_path / "a.jsonl", *ROWS))
    verifications = verification(LLMJudge(backend, samples=1), answers)
    assert len(backend.requests) == 1, "only what has no grade is asked"
    assert [side.n for side in verifications.values()] == [3, 2, 5]
    mistakes, omissions, overall = verifications.values()
    # At 2: the cup counts as present. Absent: 1 of 1 right, 1 of 2 found: F1 2/3; present: 2/3.
    assert mistakes.used.f1 == pytest.approx(2 / 3)
    assert (mistakes.best.f1, mistakes.best.threshold) == (1.0, 4.5)
    # The tree is missed: absent 1 of 2, all found: 2/3; present: none found, 0.
    assert omissions.used.f1 == pytest.approx((2 / 3 + 0) / 2)
    assert omissions.best.f1 == 1.0
    assert omissions.best.threshold == 1.5
    # Absent: 2 right of 3 told, 2 of 3 found; present: 1 of 2, 1 of 2.
    assert overall.used.f1 == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {**ROWS[0], "side": "left"},
            "Invalid enum value 'left' - at `$.side`; expected kind, text, target,"
            " side (candidate or reference)",
        ),
        (
            {**ROWS[0], "kind": "thing"},
            "Invalid enum value 'thing' - at `$.kind`",
        ),
        (
            {**ROWS[0], "present": "yes"},
            "Expected `bool`, got `str` - at `$.present`",
        ),
        (
            {**ROWS[0], "grade": 6},
            "Expected `float` <= 5.0 - at `$.grade`",
        ),
    ],
)
def test_a_row_without_an_answer_is_an_error(
    row: object, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        read_answers(write(tmp_path / "a.jsonl", row))
    assert caught.value.line == 1
    assert message in str(caught.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="contains no rows"):
        read_answers(write(tmp_path / "a.jsonl"))
