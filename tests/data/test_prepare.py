"""Texts before they are scored: residue is counted and removed if asked, accents are composed."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

import beholder
from beholder import Item, metric
from beholder.errors import ConfigError
from beholder.records import ItemScore
from beholder.text.composition import composed, is_composed

pytestmark = pytest.mark.usefixtures("few_resamples")

TEXT = "A brown dog runs along the beach."
ROWS = [
    Item("0", f"<think>A cat?</think>{TEXT}", (TEXT,)),
    Item("1", f"{TEXT}</s>", (TEXT, f"{TEXT} <|im_end|>")),
    Item("2", TEXT, (TEXT,)),
]


def test_a_run_counts_residue_in_one_note(tmp_path: Path) -> None:
    run = beholder.score(ROWS, ["rouge"], out=tmp_path / "run")
    (note,) = run.notes
    assert note.startswith(
        "of 3 candidates 1 contain reasoning, 1 contain special tokens;"
        " of 4 references 1 contain special tokens: scored as written"
    )
    assert run.summary["rouge"].values["rouge_l"].mean < 1
    assert "texts:" not in run.summary["rouge"].signature
    beholder.score(
        ROWS, ["rouge"], out=tmp_path / "run"
    )  # resumed: nothing is read again
    assert beholder.Run(tmp_path / "run").notes == (note,)


@pytest.mark.parametrize("name", ["rouge", "accord", "chrf", "ter"])
def test_cleaned_texts_are_scored_and_signed(
    name: str, tmp_path: Path
) -> None:
    run = beholder.score(ROWS, [name], out=tmp_path / "run", clean="residue")
    values = run.summary[name].values
    clean = metric(name).score_text(TEXT, TEXT).values
    assert {key: values[key].mean for key in clean} == pytest.approx(clean)
    assert "|texts:residue@" in run.summary[name].signature
    assert "removed before scoring" in run.notes[0]


@pytest.mark.parametrize(
    ("marked", "words"),  # the words were written down by hand
    [
        ("<noise> एक लाल स्कूटर {scooter} है </noise>", "एक लाल स्कूटर है"),
        ("यह फोटो {photo} ब्लू {blue} है", "यह फोटो ब्लू है"),
        ("Hindi: एक कमरा {room} है", "एक कमरा है"),
        ("a dog <pause/> runs along the beach", "a dog runs along the beach"),
        ("a dog runs along the beach", "a dog runs along the beach"),
    ],
)
@pytest.mark.parametrize("name", ["bleu", "rouge", "chrf", "ter", "length"])
def test_marks_of_transcripts_are_removed_for_all_metrics(
    name: str, marked: str, words: str, tmp_path: Path
) -> None:
    variant = f"{words} {words.split()[0]}"
    item = Item("0", marked, (variant, f"<noise> {variant}"))
    run = beholder.score([item], [name], out=tmp_path / "run", clean="speech")
    plain = metric(name).score([Item("0", words, (variant, variant))])[0]
    assert isinstance(plain, ItemScore)
    values = run.summary[name].values
    assert {key: values[key].mean for key in plain.values} == pytest.approx(
        plain.values
    )
    assert "|texts:speech@" in run.summary[name].signature


def test_residue_that_speech_leaves_is_noted(tmp_path: Path) -> None:
    item = Item("0", "<think>A cat?</think> A <noise> dog.", ("A dog.",))
    (note,) = beholder.score(
        [item], ["rouge"], out=tmp_path / "run", clean="speech"
    ).notes
    assert note.startswith(
        "of 1 candidates 1 contain reasoning: scored as written but for marks"
    )


def test_an_unknown_cleaning_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match="clean='speach': expected one of none, residue, speech",
    ):
        beholder.score(ROWS, ["rouge"], out=tmp_path / "run", clean="speach")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "Một con chó màu nâu chạy.",
        "une école fermée près d'un café",
        "갈색 개가 해변을 달린다",
    ],
)
@pytest.mark.parametrize("name", ["chrf", "rouge", "meteor", "bleu"])
def test_decomposed_letters_are_those_of_the_composed_text(
    name: str, text: str
) -> None:
    decomposed = unicodedata.normalize("NFD", text)
    assert decomposed != text
    score = metric(name).score_text(decomposed, text)
    assert score.values == metric(name).score_text(text, text).values
    assert score.item is not None
    assert (
        score.item.candidate == text
    )  # places of units point into what is shown


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("A \ufb01ne \ufb02ag.", "A fine flag."),
        (
            "An o\ufb03ce in a di\ufb00erent sti\ufb04e.",
            "An office in a different stiffle.",
        ),
        ("A \ufb06one be\ufb05 seen.", "A stone best seen."),
        ("½ a cafe\u0301 at 2²", "½ a caf\u00e9 at 2²"),
    ],
)
def test_letters_of_ligatures_are_single_letters(
    text: str, plain: str
) -> None:
    assert composed(Item("1", text, (text,))) == Item("1", plain, (plain,))
    assert is_composed(plain)
    assert is_composed(text) == (text == plain)


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("A \ufb01sherman has a \ufb02ag.", "A fisherman has a flag."),
        ("the dog’s owner doesn’t smile", "the dog's owner doesn't smile"),
        (
            "a beau\u00adtiful well\u2011known dog",
            "a beautiful well-known dog",
        ),
        ("a\u00a0brown dog\u202fruns", "a brown dog runs"),
        ("Ａ ｂrown dog runs", "A brown dog runs"),
    ],
)
def test_characters_of_typesetters_are_those_of_keyboards(
    text: str, variant: str
) -> None:
    for name in ("rouge", "meteor", "vcs", "accord"):
        scored = metric(name)
        headline = scored.values[0].name
        expected = scored.score_text(variant, variant).values[headline]
        assert scored.score_text(text, variant).values[
            headline
        ] == pytest.approx(expected)
