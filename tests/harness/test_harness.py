"""Metrics in the forms that harnesses call, without the harnesses: values by hand."""

from __future__ import annotations

import pytest

from beholder.errors import ConfigError, RunError
from beholder.harness.lmms import captions
from beholder.harness.testing import assert_score
from beholder.harness.tracking import numbers
from beholder.records import Estimate, Interval, MetricResult

# F1 of words against "a red dog": 2 of 2 and 2 of 3 -> 0.8; 1 of 2 and 1 of 3 -> 0.4
TEXTS = ["red dog", "red cat"]
REFERENCE = "a red dog"


def test_blank_references_are_none() -> None:
    process, _ = captions("rouge", references="answer")
    assert process({"answer": [" ", REFERENCE]}, ["x"])["rouge"][
        "references"
    ] == [REFERENCE]


def test_a_task_of_lmms_eval_collects_and_scores_at_the_end() -> None:
    process, mean = captions("rouge", references="answer", value="rouge_1")
    first = process({"answer": [REFERENCE], "id": 3}, [TEXTS[0]])
    second = process({"answer": REFERENCE, "id": 4}, [TEXTS[1]])
    assert first == {
        "rouge": {"candidate": "red dog", "references": ["a red dog"]}
    }
    assert mean([first["rouge"], second["rouge"]]) == pytest.approx(0.6)
    with pytest.raises(RunError, match="the candidate is empty"):
        mean([process({"answer": REFERENCE}, [])["rouge"]])


def test_a_task_of_lmms_eval_may_take_a_value_of_the_whole_set() -> None:
    # Word precision 3/4 over both texts, no brevity penalty (4 words for 4): corpus BLEU-1
    process, mean = captions(
        "bleu", references="answer", value="corpus_bleu_1"
    )
    rows = [
        ({"answer": "red dog"}, ["red dog"]),
        ({"answer": "a dog"}, ["a cat"]),
    ]
    assert mean([process(*row)["bleu"] for row in rows]) == pytest.approx(0.75)


def test_an_assertion_tells_score_bound_and_what_is_wrong() -> None:
    score = assert_score(
        TEXTS[0], REFERENCE, of="rouge", value="rouge_1", at_least=0.8
    )
    assert score.values["rouge_1"] == pytest.approx(0.8)
    with pytest.raises(
        AssertionError, match=r"^rouge\.rouge_1 is 0\.400, below 0\.5$"
    ):
        assert_score(
            TEXTS[1], REFERENCE, of="rouge", value="rouge_1", at_least=0.5
        )
    with pytest.raises(AssertionError, match=r"is 0\.800, above 0\.7"):
        assert_score(
            TEXTS[0], REFERENCE, of="rouge", value="rouge_1", at_most=0.7
        )
    with pytest.raises(
        AssertionError, match=r"(?s)below 0\.99.*contradicted: .*red"
    ):
        assert_score(
            "A red dog sleeps.",
            "A brown dog sleeps.",
            of="posh",
            at_least=0.99,
        )
    with pytest.raises(
        ConfigError,
        match="no corpus_bleu_1 for this text; it has bleu, bleu_1",
    ):
        assert_score("a", "b", of="bleu", value="corpus_bleu_1", at_least=0)
    with pytest.raises(ConfigError, match="needs a bound"):
        assert_score("a", "b")


def test_trackers_get_means_with_the_ends_of_intervals() -> None:
    result = MetricResult(
        "posh",
        {
            "f1": Estimate(0.5, Interval(0.4, 0.6), 9),
            "precision": Estimate(0.7, None, 1),
        },
        9,
        2,
        "s",
    )
    assert numbers("posh", result) == {
        "posh.n_failed": 2.0,
        "posh.f1": 0.5,
        "posh.f1.low": 0.4,
        "posh.f1.high": 0.6,
        "posh.precision": 0.7,
    }
