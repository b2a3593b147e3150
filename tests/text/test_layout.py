"""Layout is blanked in its place; what counts or names something stays."""

from __future__ import annotations

from typing import Any

import pytest

from beholder import metric
from beholder.records import ItemScore
from beholder.text.layout import PARAGRAPH, without_layout
from toy.cases import each_case

FIRST = "A brown dog runs along the beach."
SECOND = "Two children build a sand castle near the water."

LISTS = [
    "1. {}\n2. {}", "1) {}\n2) {}", "(1) {}\n(2) {}", "[1] {}\n[2] {}", "1: {}\n2: {}",
    "a) {}\nb) {}", "(a) {}\n(b) {}", "a. {}\nb. {}", "A) {}\nB) {}", "A. {}\nB. {}",
    "i. {}\nii. {}", "(i) {}\n(ii) {}", "I. {}\nII. {}", "- {}\n- {}", "* {}\n* {}",
    "+ {}\n+ {}", "• {}\n• {}", "– {}\n– {}", "— {}\n— {}", "→ {}\n→ {}", "> {}\n> {}",
    "- [ ] {}\n- [x] {}", "① {}\n② {}", "1. {} 2. {}", "- {} - {}", "#1 {}\n#2 {}",
    "1\ufe0f\u20e3 {}\n2\ufe0f\u20e3 {}", "**1.** {}\n**2.** {}",
]  # fmt: skip
MARKUP = [
    "**{}** {}", "*{}* __{}__", "_{}_ {}", "~~{}~~ `{}`", "# {}\n{}", "<p>{}</p><p>{}</p>",
    "<ul><li>{}</li>\n<li>{}</li></ul>", "{}<br/>{}", "<b>{}</b>&nbsp;<i>{}</i>",
    "[{}](https://example.org/a) {}", "| {} | {} |", '"{} {}"', "“{} {}”", "({} {})",
    "{}[1] {}[2]", "{}\\n{}",
]  # fmt: skip
PIECES = [
    "1.",
    "2)",
    "[3]",
    "*",
    "---",
    "***",
    "•",
    "...",
    "|",
    "\U0001f3d6\ufe0f",
    "✓",
    ":dog:",
]
BETWEEN = [
    form
    for piece in PIECES
    for form in (f"{piece} {{}} {{}}", f"{{}} {piece} {{}}")
]
AT_END = [f"{{}} {{}} {piece}" for piece in PIECES]


@each_case("form", LISTS + MARKUP + BETWEEN + AT_END)
def test_layout_is_blanked_in_its_place(form: str) -> None:
    text = form.format(FIRST, SECOND)
    plain = without_layout(text)
    assert plain.split() == f"{FIRST} {SECOND}".split()
    for sentence in (FIRST, SECOND):
        assert plain.index(sentence) == text.index(sentence)


@each_case(
    "text",
    [
        "3 dogs run.", "A dog. 3 cats.", "1920 was a good year.", "He wears No. 5. The dog sits.",
        "He wears No. 5.", "Flight 12. Gate 5 is open.", "It is 12:30. Bus 42 leaves.",
        "A. Lincoln stands.", "J. Smith walks. K. Jones sits.", "A sign says 'STOP'.",
        '"Stop" and "Go"', "It costs $5. $3 more than before.", "2 cats\n1 horse", "3*4 tiles",
        "A f**k sign", "snake_case names", "20% off at 5 °C", "a man - tall and thin - walks",
        "one & two", "1.5 m of rope",
    ],
)  # fmt: skip
def test_what_counts_or_names_something_stays(text: str) -> None:
    assert without_layout(text) == text


def test_layout_ends_paragraphs_and_wrapped_lines_go_on() -> None:
    assert (
        without_layout("## The beach ##\nA dog")
        == f"   The beach   {PARAGRAPH}A dog"
    )
    assert (
        without_layout("a dog\n- a cat").split(PARAGRAPH)[1].strip() == "a cat"
    )
    assert (
        without_layout("A dog runs\nalong the beach.")
        == "A dog runs along the beach."
    )


@pytest.mark.parametrize("name", ["accord", "posh", "dcscore", "vcs"])
@pytest.mark.parametrize(
    "form", ["1. {}\n2. {}", "**{}** {}", "<p>{}</p><p>{}</p>", "{} {} 1."]
)
def test_layout_changes_no_value_on_either_side(name: str, form: str) -> None:
    plain = f"{FIRST} {SECOND}"
    text = form.format(FIRST, SECOND)
    scored: Any = metric(name)
    for candidate, reference in ((text, plain), (plain, text)):
        values = scored.score_text(candidate, reference).values
        assert values[scored.values[0].name] == pytest.approx(1.0)


def test_places_of_units_are_those_of_the_original() -> None:
    text = f"1. **{FIRST}**\n2. {SECOND} \U0001f3d6\ufe0f"
    score = metric("posh").score_text(
        text, "A black dog runs along the beach."
    )
    assert isinstance(score, ItemScore)
    words = {
        text[slice(*span)]
        for u in score.units
        if u.side == "candidate"
        for span in u.spans
    }
    assert {"dog", "brown", "children"} <= {word.split()[-1] for word in words}
    assert not any("*" in word or "1" in word for word in words)
