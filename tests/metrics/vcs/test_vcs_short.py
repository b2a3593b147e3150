"""VCS-short: words, weights, several references."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pytest

import beholder
from beholder import VCS, VCSShort
from beholder.asking.tools import Tools
from beholder.base.fingerprint import digest_classes, file_digests
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.metrics.vcs.short import content_words
from beholder.records import ItemScore

AXES = {
    "dog": (1, 0, 0),
    "cat": (0.8, 0.6, 0),
    "runs": (0, 0, 1),
    "sleeps": (0, 0.6, 0.8),
}
# Shares of sentences of the four words, by the table of beholder.text.frequency, do not matter
# here: weights are set below.
WEIGHTS = {"dog": 1.0, "cat": 1.0, "runs": 0.5, "sleeps": 0.5}


class AxisTools(Tools):
    """Words on few axes; a text is the mean of its words; unknown words are zero."""

    def identity(
        self, kind: str, spec: str, operations: Collection[str] | None = None
    ) -> str:
        return "axes@1"

    async def embed(self, spec: str, texts: Sequence[str]) -> FloatArray:
        rows = []
        for text in texts:
            row = np.sum(
                [AXES.get(word, (0, 0, 0)) for word in text.lower().split()],
                axis=0,
            )
            rows.append(row / max(np.linalg.norm(row), 1e-9))
        return np.array(rows)


@pytest.fixture(autouse=True)
def _weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "beholder.metrics.vcs.short.frequency.weight",
        lambda word: WEIGHTS.get(word, 1.0),
    )


def score(
    candidate: str, references: Sequence[str], metric: VCSShort | None = None
) -> ItemScore:
    return (metric or VCSShort()).score_text(
        candidate, references, tools=AxisTools()
    )


def test_words_are_lower_case_content_words_with_their_places() -> None:
    text = "The Dog, and it's a CAT-like dog!"
    word_texts, spans = content_words(text, "english")
    assert word_texts == ["dog", "cat-like", "dog"]
    assert [text[start:end] for start, end in spans] == [
        "Dog",
        "CAT-like",
        "dog",
    ]
    assert len(content_words(text, "none")[0]) == 7
    assert content_words("It is.", "english")[0] == ["it", "is"]
    assert content_words("红色的狗。", "english")[0] == [
        "红",
        "色",
        "的",
        "狗",
    ]


def test_negations_numbers_and_directions_are_no_stop_words() -> None:
    words = [
        "no",
        "not",
        "without",
        "two",
        "left",
        "right",
        "red",
        "under",
        "above",
    ]
    assert content_words(" ".join(words), "english")[0] == words


def test_default_rules_weight_words_and_count_precision_twice() -> None:
    values = score("cat runs", ["dog runs"]).values
    # dog-cat 0.8, which is 0.75 of the way from the floor 0.2 to 1, weighs 1; runs weighs 1/2.
    local = (0.75 * 1 + 1 * 0.5) / 1.5
    assert values["las_precision"] == pytest.approx(local)
    assert values["las_recall"] == pytest.approx(local)
    assert values["las"] == pytest.approx(local)
    # (0.8, 0.6, 1) and (1, 0, 1): cosine 1.8 / (sqrt 2 * sqrt 2).
    assert values["gas"] == pytest.approx(0.9)
    assert values["sas"] == pytest.approx(2 * local * 0.9 / (local + 0.9))
    assert values["nas"] == 1
    assert values["vcs"] == pytest.approx(values["sas"])
    longer = score("dog", ["dog runs"]).values
    assert longer["las_precision"] == 1
    # Of the reference's weight 1.5, only the word dog is there.
    assert longer["las_recall"] == pytest.approx(1 / 1.5)
    assert longer["las"] == pytest.approx(1.25 * (2 / 3) / (0.25 + 2 / 3))


def test_word_order_takes_off_a_fifth_at_most() -> None:
    straight, turned = (
        score(text, ["dog runs"]).values for text in ("dog runs", "runs dog")
    )
    assert straight["vcs"] == pytest.approx(1)
    assert turned["sas"] == pytest.approx(1)
    assert turned["nas"] == 0
    assert turned["vcs"] == pytest.approx(0.8)


def test_union_takes_each_word_at_its_best_reference() -> None:
    references = ["dog sleeps", "cat runs"]
    union = score("dog runs", references)
    # dog stands in the first reference, runs in the second.
    assert union.values["las_precision"] == pytest.approx(1)
    best = score("dog runs", references, VCSShort(references="best")).values
    # cat runs: (0.75 + 0.5) / 1.5; dog sleeps: (1 + 0.75 * 0.5) / 1.5.
    assert best["las_precision"] == pytest.approx(1.375 / 1.5)
    assert union.detail["reference_index"] == 0
    assert union.values["las_recall"] == best["las_recall"]
    mean = score("dog runs", references, VCSShort(references="mean")).values
    assert mean["las_precision"] == pytest.approx((1.375 + 1.25) / 3)


def test_one_reference_gives_the_same_under_every_reference_rule() -> None:
    scores = [
        score("cat runs", ["dog sleeps"], VCSShort(references=rule)).values
        for rule in ("union", "best", "mean")
    ]
    assert scores[0] == scores[1] == pytest.approx(scores[2])


def test_paper_rules_are_vcs_over_words() -> None:
    words = [
        np.array([AXES[word] for word in text.split()])
        for text in ("dog cat runs", "dog cat sleeps")
    ]
    wholes = [
        text.sum(axis=0) / np.linalg.norm(text.sum(axis=0)) for text in words
    ]
    for rules in ("paper", "package", "head"):
        literal = VCS(rules=rules, lct=1).score_embeddings(*words, *wholes)
        metric = VCSShort(rules=rules, lct=1)
        item_score = score("the dog the cat sleeps", ["dog cat runs"], metric)
        assert item_score.values["vcs"] > 0.5
        assert item_score.values == pytest.approx(dict(literal.values))


def test_a_word_equals_itself_where_the_embedder_does_not_know_it() -> None:
    assert score("zyx dog", ["zyx dog"]).values["vcs"] == pytest.approx(1)
    assert (
        score("zyx dog", ["zyx dog"], VCSShort(rules="paper")).values["las"]
        == 0.5
    )


def test_a_text_of_unknown_words_alone_is_a_failure() -> None:
    with pytest.raises(ItemError, match="knows no word of the candidate"):
        score("zyx", ["zyx"])


def test_units_are_words_with_spans_and_verdicts() -> None:
    item_score = score("A dog sleeps.", ["dog", "sleeps"])
    assert [
        (unit.kind, unit.side, unit.text, unit.spans[0])
        for unit in item_score.units
    ] == [
        ("word", "candidate", "dog", (2, 5)),
        ("word", "candidate", "sleeps", (6, 12)),
        ("word", "reference", "dog", (0, 3)),
    ]
    assert [unit.score for unit in item_score.units] == pytest.approx(
        [1, 1, 1]
    )
    # "sleeps" is found in the other reference.
    assert [unit.verdict for unit in item_score.units] == [
        "match",
        "match",
        "match",
    ]


@pytest.mark.parametrize("text", ["...", "🙂", "-"])
def test_a_text_without_words_is_a_failure_with_a_reason(text: str) -> None:
    with pytest.raises(ItemError, match="the candidate has no word"):
        score(text, ["dog"])
    with pytest.raises(ItemError, match="reference 2 has no words"):
        score("dog", ["dog", text])


def test_signature_names_stop_list_and_reference_rule_and_covers_words_and_weights() -> (
    None
):
    package = Path(beholder.__file__).parent
    stop_list = (package / "metrics/vcs/stop_words_english.txt").read_bytes()
    signature = score("dog", ["dog"]).signature
    assert (
        f"|stop_words:english@{hashlib.sha256(stop_list).hexdigest()[:12]}|"
        in signature
    )
    assert "|rules:fixed|" in signature
    assert "|references:union|" in signature
    literal = score(
        "dog", ["dog"], VCSShort(rules="paper", stop_words="none")
    ).signature
    assert "|rules:paper|" in literal
    assert "|stop_words:none|" in literal
    # The digest of the code covers how words are cut, and their weights.
    assert f"|code:{digest_classes(VCSShort)}" in signature
    covered = file_digests(VCSShort.__module__)
    assert {
        package / "text/tokenize.py",
        package / "text/word_frequencies.txt",
    } <= covered.keys()


def test_parameters_are_checked_and_the_text_form_works() -> None:
    assert beholder.metric("vcs_short(stop_words='none')") == VCSShort(
        stop_words="none"
    )
    with pytest.raises(
        ConfigError, match="stop_words='german': expected one of"
    ):
        VCSShort(stop_words="german")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="references='all'"):
        VCSShort(references="all")  # type: ignore[arg-type]


def test_figure_of_words_draws() -> None:
    assert len(VCSShort().figure(score("dog runs", ["cat runs"])).axes) == 2
