"""Doubt about parts of a scene graph: features and logistic by hand, and what judges leave out."""

from __future__ import annotations

import math

import pytest

from beholder.judges.builtin import findings
from beholder.judges.builtin.reading import analysed
from beholder.language import certainty, parse, scene_graph
from beholder.language.document import Word


def word(index: int, *margins: float) -> Word:
    return Word(
        index,
        "dog",
        "dog",
        "NOUN",
        "NN",
        "nsubj",
        0,
        4 * index,
        4 * index + 3,
        0,
        margins,
    )


def test_features_are_the_least_margins_within_their_range() -> None:
    values = certainty.features(
        [word(5, 12.0, 4.0, 1.0), word(6, 4.0, 12.0, -5.0)], [word(2, 1, 1, 1)]
    )
    # 4 m / (4 + m): of 12 it is 3, of 4 it is 2, of 1 it is 0.8; below 0 no less than -2.
    assert values == pytest.approx(
        (1.0, 2.0, 2.0, -2.0, 0.8, 0.8, 0.8, 3 / 15, 0.0)
    )


def test_three_words_are_long_and_what_is_far_counts_as_fifteen_words() -> (
    None
):
    words = [word(i, math.inf, 0.0, -1.0) for i in (30, 31, 32)]
    assert certainty.features(words, [word(0)]) == (
        1.0,
        4.0,
        0.0,
        -1.0,
        0.0,
        0.0,
        0.0,
        1.0,
        1.0,
    )


def test_doubt_is_a_logistic_of_the_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        certainty._WEIGHTS, "attribute", [math.log(3), 0, 0, -1, 0, 0, 0, 0, 0]
    )
    assert certainty.doubt("attribute", (1, 9, 9, 0, 9, 9, 9, 9, 9)) == 0.75
    assert (
        certainty.doubt("attribute", (1, 9, 9, math.log(3), 9, 9, 9, 9, 9))
        == 0.5
    )


def test_parsers_without_margins_leave_no_doubt() -> None:
    assert certainty.features([word(0), word(1)]) == ()
    assert certainty.doubt("relation", ()) == 0.0


def test_a_coordination_of_two_readings_is_in_more_doubt_than_a_plain_sentence() -> (
    None
):
    plain = scene_graph(parse("A black dog sleeps on the sofa."))
    torn = scene_graph(
        parse(
            "A man with dark hair and a dark jacket sits, looking toward the door."
        )
    )
    assert max(a.doubt for a in plain.attributes) < 0.2
    assert max(r.doubt for r in torn.relations) > max(
        r.doubt for r in plain.relations
    )


def test_doubtful_units_are_left_out_unless_the_other_text_nearly_repeats_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = analysed("A black dog sleeps on the sofa.")
    monkeypatch.setattr(findings, "MISREAD", 0.0)
    opposite = findings.find(
        source, analysed("Two cats play in a green garden.")
    )
    same = findings.find(source, analysed("A black dog sleeps on the sofa."))
    assert all(finding.excused for finding in opposite)
    assert not any(finding.excused for finding in same)
    monkeypatch.setattr(findings, "MISREAD", 2.0)
    assert not any(
        f.excused for f in findings.find(source, analysed("A dog. A sofa."))
    )
