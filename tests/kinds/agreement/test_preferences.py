"""Labels of pairs in data of one's own: which of two texts is better."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.errors import ConfigError
from beholder.kinds.agreement.load import JudgedSet, load
from toy.cases import each_case

PAIRS = (
    ("A red train crosses a bridge.", "A ship.", "A red train on a bridge."),
    (
        "A dog sleeps.",
        "A dog runs on the beach.",
        "A brown dog runs on a beach.",
    ),
    ("Snow.", "Two cats sit on a wall.", "Two cats on a stone wall."),
)


def judged(folder: Path, answers: Sequence[Any], **fields: Any) -> JudgedSet:
    path = folder / "pairs.jsonl"
    rows = [
        {
            "id": number,
            "candidate": first,
            "candidate_b": second,
            "references": [reference],
            "judgments": {"preferred": answer},
            **fields,
        }
        for number, ((first, second, reference), answer) in enumerate(
            zip(PAIRS, answers, strict=True)
        )
    ]
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return load(str(path))


SYSTEMS = {"group": {"system": "Blip"}, "system_b": "llava"}


@each_case(
    ("answers", "expected"),
    [
        ((1, -1, -1), [1, -1, -1]),
        (("1", "-1", "-1"), [1, -1, -1]),
        ((1, 2, 2), [1, -1, -1]),
        ((True, False, False), [1, -1, -1]),
        (("A", "b", "B"), [1, -1, -1]),
        (("first", "second", " Second "), [1, -1, -1]),
        (("model_a", "model_b", "model_b"), [1, -1, -1]),
        ((1, 0, -1), [1, 0, -1]),
        (("A", "tie", "B"), [1, 0, -1]),
        (("A", None, "B"), [1, None, -1]),
        (([1, -1, 1], [0, 1], [-1]), [1, -1, 1, 0, 1, -1]),
        (([1, None], [1], [-1]), [1, 1, -1]),
    ],
)
def test_preferences_are_read_in_their_usual_forms(
    tmp_path: Path, answers: Sequence[Any], expected: Sequence[float | None]
) -> None:
    loaded_set = judged(tmp_path, answers)
    measures = {
        measure.name: measure
        for measure in loaded_set.measures(["preferred"], "spearman")
    }
    assert all(measure.paired for measure in measures.values())
    ties = 0 in expected
    name = "accuracy with ties, preferred" if ties else "accuracy, preferred"
    labels = [
        label
        for item in loaded_set.items
        for label in measures[name].labels(item)
    ]
    assert labels == [
        preference for preference in expected if preference is not None
    ]
    decided_labels = [
        label
        for item in loaded_set.items
        for label in measures["accuracy, preferred"].labels(item)
    ]
    assert decided_labels == [
        preference for preference in expected if preference
    ]


def test_the_names_of_the_systems_are_preferences(tmp_path: Path) -> None:
    loaded_set = judged(tmp_path, ("blip", "llava", "LLaVA"), **SYSTEMS)
    (measure,) = loaded_set.measures((), "spearman")
    assert [list(measure.labels(item)) for item in loaded_set.items] == [
        [1],
        [-1],
        [-1],
    ]


def test_degrees_have_a_correlation_beside_the_accuracy(
    tmp_path: Path,
) -> None:
    loaded_set = judged(tmp_path, (2, -1, -2))
    assert [
        (measure.name, measure.kind, measure.paired)
        for measure in loaded_set.measures((), "tau-b")
    ] == [
        ("accuracy, preferred", "accuracy", True),
        ("tau-b, preferred", "tau-b", True),
    ]


@pytest.mark.parametrize(
    ("answers", "kind", "reason"),
    [
        ((1, 0, 0), "spearman", "0 may mean a tie or the second text"),
        ((5, 3, 4), "spearman", "from 3 to 5 .* leave candidate_b out"),
        (("A", "C", "B"), "spearman", "of item '1' is 'C'"),
        (("blip", "llava", "llava"), "spearman", "names of the two systems"),
        ((1, -1, 1), "verdicts", "their labels are preferences"),
        (
            (None, None, None),
            "spearman",
            "no pair has a judgment|the pairs have no judgments",
        ),
    ],
)
def test_other_answers_are_refused(
    tmp_path: Path, answers: Sequence[Any], kind: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        judged(tmp_path, answers).measures((), kind)


def test_a_metric_that_decides_as_people_do_is_always_right(
    tmp_path: Path,
) -> None:
    # By ROUGE-L against the references, the second text is better in pairs 2 and 3 alone.
    loaded_set = judged(tmp_path, (1, -1, -1))
    report = beholder.agree(
        tmp_path / "pairs.jsonl", ["rouge"], resamples=0, out=tmp_path / "run"
    )
    (section,) = report.sections
    assert section.data.measure.name == "accuracy, preferred"
    assert section.rows[0].found.value == 1.0
    assert (
        loaded_set.notes[-1] == "pairs: 3 rows have a second text, candidate_b"
    )
