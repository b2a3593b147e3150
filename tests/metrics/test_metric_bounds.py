"""An item that is too large has a reason at once, under every metric."""

from __future__ import annotations

import asyncio

import pytest

from beholder.asking.tools import Tools
from beholder.cli.tools import describe_metric
from beholder.errors import ItemError
from beholder.metrics import METRICS, base, metric
from beholder.metrics.base import Bounds
from beholder.records import Item
from toy.cases import each_case

BUILTIN = METRICS.builtin()
COMPARING = [name for name in BUILTIN if METRICS.get(name).bounds.compares]
NEEDS = {
    name: {"judge": "openai:m"}
    for name in (
        "audit",
        "autodq",
        "clair",
        "direct_assessment",
        "fleur",
        "llava_critic",
        "perplexity",
        "placement",
        "prometheus",
        "qa",
    )
}
TEXT = "A red cat sits. A big dog runs. A man eats a green apple."


def evaluated(name: str, item: Item) -> None:
    asyncio.run(metric(name, **NEEDS.get(name, {})).evaluate(item, Tools()))


@each_case("name", BUILTIN)
def test_texts_have_a_most_of_characters_and_items_of_pictures(
    name: str,
) -> None:
    limit = METRICS.get(name).bounds.characters
    half = "a" * (limit // 2)
    METRICS.get(name).bounds.check(
        Item("1", half, (half,), ("a.png",) * 256), name
    )
    with pytest.raises(
        ItemError,
        match=f"have {limit + 1:,} characters; {name} takes up to {limit:,}",
    ):
        evaluated(name, Item("1", half, (half, "b"), ("a.png",)))
    with pytest.raises(
        ItemError, match=f"has 257 pictures; {name} takes up to 256"
    ):
        evaluated(name, Item("1", "a", ("b",), ("a.png",) * 257))


@pytest.mark.parametrize("name", COMPARING)
def test_what_compares_each_with_each_has_a_most_of_pairs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Item("1", TEXT, (TEXT, TEXT))
    if name not in (
        "accord",
        "posh",
    ):  # their encoder takes long to load; others score by it
        evaluated(name, item)
    monkeypatch.setattr(base, "MOST_PAIRS", 3)
    compared = METRICS.get(name).bounds.compares
    with pytest.raises(
        ItemError,
        match=rf"{name} would compare \d+ pairs of {compared}; .* up to 3,",
    ):
        evaluated(name, item)


def test_metrics_that_hold_a_table_of_pairs_are_known() -> None:
    assert set(COMPARING) >= {
        "vcs",
        "vcs_short",
        "token_f1",
        "ngram_embed",
        "sg_embed",
        "accord",
    }


def test_pairs_are_those_with_all_references_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base, "MOST_PAIRS", 60)
    Bounds(compares="words").check_pairs(6, [4, 6], "m")
    Bounds().check_pairs(7, [4, 6], "m")
    with pytest.raises(ItemError, match="m would compare 70 pairs of words"):
        Bounds(compares="words").check_pairs(7, [4, 6], "m")


def test_the_page_of_a_metric_tells_its_bounds() -> None:
    assert (
        "Limit per item: 1,000,000 characters in all texts together, 200,000 of them outside"
        " words, 50,000,000 pairs of words."
        in describe_metric(METRICS.get("vcs_short"))
    )
    assert (
        "Limit per item: 100,000 characters in all texts together, 20,000 of them outside"
        " words." in describe_metric(METRICS.get("dcscore"))
    )


@pytest.mark.parametrize("sign", ['"', "(", "😀", "$ "])
def test_signs_count_as_the_words_they_cost(sign: str) -> None:
    for bounds in {METRICS.get(name).bounds for name in BUILTIN}:
        n_signs = bounds.characters // 5
        fitting = Item("1", sign * (n_signs - 9), (sign * 9,), ("a.png",))
        bounds.check(fitting, "m")
        with pytest.raises(
            ItemError,
            match=f"have {n_signs + 1:,} characters outside words; m takes up to {n_signs:,}$",
        ):
            bounds.check(Item("1", sign * (n_signs - 9), (sign * 10,)), "m")


def test_no_script_has_too_many_signs() -> None:
    # Vowel signs and viramas belong to words; 2,600 characters each, of which a fifth may be signs.
    for text in (
        "एक कुत्ता दौड़ रहा है। " * 113,
        "夜の街、看板が光る。" * 260,
        "A dog, a cat. " * 186,
    ):
        Bounds(characters=len(text)).check(Item("1", text, ()), "m")


def test_signs_are_compared_like_words() -> None:
    # 7,071 x 7,071 are below 50,000,000 pairs, 7,072 x 7,072 above.
    Bounds(compares="words").check_words(["a " * 7071], "m")
    Bounds(compares="words").check_words(['"' * 7071], "m")
    for text in ("a " * 7072, '"' * 7072):
        with pytest.raises(
            ItemError, match="m would compare 50,013,184 pairs"
        ):
            Bounds(compares="words").check_words([text], "m")
