"""Layout, from the rule alone: it changes no value by more than 0.02, and numbers count."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from beholder import metric
from beholder.text.layout import without_layout
from toy.cases import each_case

CANDIDATE = [
    "A woman in a green apron pours milk into a tall jug.",
    "Two boys wait beside the counter.",
    "A clock hangs on the wall behind her.",
]
REFERENCE = [
    "A woman wearing a green apron pours milk into a jug.",
    "Two boys stand by the wooden counter.",
    "A round clock hangs on the wall.",
]
# Of each form: how the sentences are joined, and how each is written; {n} is its number.
FORMS: dict[str, tuple[str, str]] = {
    "dash glued": ("\n", "-{}"),
    "em dash glued": ("\n", "—{}"),
    "bullet glued": ("\n", "•{}"),
    "number glued": ("\n", "{n}.{}"),
    "outline": ("\n", "1.{n} {}"),
    "outline with a stop": ("\n", "1.{n}. {}"),
    "step": ("\n", "Step {n}: {}"),
    "step inline": (" ", "Step {n}: {}"),
    "No.": ("\n", "No. {n}: {}"),
    "item dash": ("\n", "Item {n} – {}"),
    "single quotes": (" ", "'{}'"),
    "double quotes": (" ", '"{}"'),
    "curly quotes": ("\n", "“{}”"),
    "guillemets": ("\n", "«{}»"),
    "entity bullet": (" ", "&bull; {}"),
    "numeric entity": (" ", "&#8226; {}"),
    "dash behind the stop": ("— ", "{}"),
    "entity behind the stop": ("&mdash; ", "{}"),
    "quoted list": ("\n", "> - {}"),
    "three stars": (" ", "***{}***"),
    "emoji and bold": ("\n", "\U0001f539 **{}**"),
    "ordered items": ("", "<ol><li>{}</li></ol>"),
    "font": (" ", '<font color="red">{}</font>'),
    "shortcodes": (" ", ":tada: {}"),
    "tabs": ("\t", "{}"),
    "rules": ("\n---\n", "{}"),
    "circled": ("\n", "③ {}"),
    "ten": ("\n", "1{n}. {}"),
}
TITLES = [
    "# Description\n\n{}", "## Image description\n{}", "**Description:**\n\n{}", "__Caption__\n{}",
    "Image description:\n{}", "Description\n===========\n{}", "<h1>Description</h1><p>{}</p>",
    "### Detailed description of the image ###\n{}", "**Alt text**\n{}", "<!-- caption -->{}",
]  # fmt: skip


def _laid_out(form: str, sentences: list[str]) -> str:
    between, each = FORMS[form]
    return between.join(
        each.replace("{n}", str(n)).replace("{}", sentence)
        for n, sentence in enumerate(sentences, 1)
    )


@each_case("form", FORMS)
def test_a_form_leaves_the_words(form: str) -> None:
    assert (
        without_layout(_laid_out(form, CANDIDATE)).split()
        == " ".join(CANDIDATE).split()
    )


@each_case("form", TITLES)
def test_a_title_that_says_nothing_is_layout(form: str) -> None:
    text = form.format(" ".join(CANDIDATE))
    assert without_layout(text).split() == " ".join(CANDIDATE).split()


@each_case(
    "text",
    [
        "# The harbour\nBoats.", "Description", "**A caption contest**", "1.5 m of rope\nA dog",
        "1.5 Litres of milk", "Part 2 of a book", "Platform No. 5", "-20 degrees", "-5 outside",
        "AT&T; a sign", "He says 'stop' and goes", "the dogs' bowls. The cats' bowls.",
    ],
)  # fmt: skip
def test_what_is_content_stays(text: str) -> None:
    expected = text.lstrip("#* ").rstrip("*")
    assert without_layout(text).replace("\u2029", "\n").strip() == expected


@pytest.mark.parametrize("name", ["posh", "dcscore", "vcs"])
@pytest.mark.parametrize(
    "form", ["em dash glued", "outline", "step", "single quotes"]
)
def test_a_form_changes_no_value(name: str, form: str) -> None:
    scored: Any = metric(name)
    first = scored.values[0].name
    plain = " ".join(CANDIDATE)
    reference = " ".join(REFERENCE)
    value = scored.score_text(plain, reference).values[first]
    for candidate, laid_out_reference in (
        (_laid_out(form, CANDIDATE), reference),
        (plain, _laid_out(form, REFERENCE)),
        (_laid_out(form, CANDIDATE), _laid_out(form, REFERENCE)),
    ):
        changed = scored.score_text(candidate, laid_out_reference).values[
            first
        ]
        assert changed == pytest.approx(value, abs=0.02)


@pytest.mark.parametrize("name", ["accord", "posh", "dcscore", "vcs"])
@pytest.mark.parametrize(
    "form", ["{}", "1. {}", "- {}", "**{}**", '"{}"', "Step 1: {}"]
)
def test_a_number_counts_in_any_layout(name: str, form: str) -> None:
    scored: Any = metric(name)
    first = scored.values[0].name
    reference = "4 dogs sleep on a mat."
    right = scored.score_text(form.format(reference), reference).values[first]
    wrong = scored.score_text(
        form.format("3 dogs sleep on a mat."), reference
    ).values[first]
    assert right - wrong > 0.02


OWNER = "The café's owner, a señora in a well-known blue dress, sits. “Déjà vu” isn't far."
VARIANTS: dict[str, Callable[[str], str]] = {
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "curly apostrophe": lambda text: text.replace("'", "’"),
    "modifier apostrophe": lambda text: text.replace("'", "ʼ"),
    "acute accent": lambda text: text.replace("'", "´"),
    "prime": lambda text: text.replace("'", "′"),
    "hyphen": lambda text: text.replace("-", "\u2010"),
    "fixed hyphen": lambda text: text.replace("-", "\u2011"),
    "minus": lambda text: text.replace("-", "\u2212"),
    "word joiner": lambda text: text.replace("owner", "own\u2060er"),
    "soft hyphen": lambda text: text.replace("owner", "own\u00ader"),
    "straight quotes": lambda text: text.replace("“", '"').replace("”", '"'),
    "low quotes": lambda text: text.replace("“", "„").replace("”", "“"),
    "guillemets": lambda text: text.replace("“", "«").replace("”", "»"),
    "fixed blanks": lambda text: text.replace(" ", "\u00a0"),
    "wide blanks": lambda text: text.replace(" ", "\u3000"),
    "order mark": lambda text: "\ufeff" + text,
    "full width": lambda text: text.translate(
        {c: c + 0xFEE0 for c in range(97, 123)}
    ),
}


@pytest.mark.parametrize("name", ["rouge", "meteor", "ter", "posh", "spice"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_typography_changes_no_value(name: str, variant: str) -> None:
    if name == "spice" and variant == "full width":
        pytest.skip("its published rules refuse letters that are not Latin")
    scored: Any = metric(name)
    reference = "The owner, a señora in a blue dress, sits. A well-known “Déjà vu” isn't far."
    expected = scored.score_text(OWNER, reference).values
    assert scored.score_text(
        VARIANTS[variant](OWNER), reference
    ).values == pytest.approx(expected)
