"""The rule on made figures: worked example 1a, limits, ties and what is unknown.

Expected figures are those of the worked example, computed with scipy.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.base.spec import canonical_spec
from beholder.kinds.choose.config import ChoiceOptions, family_of
from beholder.kinds.choose.criteria import Captioner
from beholder.kinds.choose.decision import decide
from beholder.kinds.choose.figures import Figure, mean_of, rate
from beholder.text.expected_language import akin_languages, other_language

RIGHT = {
    "a": [0.9, 0.8, 1, 0.7, 0.9, 0.8, 1, 0.9, 0.6, 0.8],
    "b": [0.9, 0.7, 1, 0.8, 0.9, 0.8, 0.9, 0.9, 0.7, 0.7],
    "c": [0.7, 0.6, 0.8, 0.6, 0.7, 0.7, 0.8, 0.7, 0.5, 0.6],
}


def captioner(
    name: str, dollars: float | None, seconds: float = 1.0, **figures: Figure
) -> Captioner:
    """A captioner with the values of the example, all limits met."""
    values = {
        f"p{n}": value for n, value in enumerate(RIGHT.get(name, RIGHT["a"]))
    }
    return Captioner(
        name,
        "",
        0,
        {
            "language": rate(200, 200),
            "clean": rate(200, 200),
            "answered": rate(200, 200),
            "dollars": Figure(dollars),
            "seconds": Figure(seconds),
            **figures,
        },
        {"right": values},
    )


def test_the_worked_example() -> None:
    rows = [
        captioner("a", 0.0042),
        captioner("b", 0.0004),
        captioner("c", 0.0),
    ]
    assert mean_of(rows[0].scores["right"], 10).value == pytest.approx(0.84)
    decision = decide(rows, ChoiceOptions(), 10)
    assert (decision.chosen, decision.code) == ("b", 0)
    assert (
        "a and b are not separated in right by 10 pictures (difference 0.010"
        in decision.text
    )
    assert "c is worse than a in right (difference 0.170" in decision.text
    assert "p 0.004)" in decision.text
    assert "complete decides nothing" in " ".join(decision.steps)
    (ranking, _) = decision.rankings
    assert ranking.clusters == {"a": 1, "b": 1, "c": 2}
    assert [row["p"] for row in ranking.differences] == pytest.approx(
        [1, 4 / 1024]
    )


def test_limits_of_the_worked_example() -> None:
    options = ChoiceOptions()
    for hits, low, high, words in (
        (
            193,
            0.929529,
            0.982944,
            "language 0.95 is neither surely met nor surely missed by a (0.965;",
        ),
        (
            170,
            0.793944,
            0.892864,
            "a is out: language 0.850 (0.794 to 0.893) is below 0.95",
        ),
        (200, 0.981155, 1, ""),
    ):
        figure = rate(hits, 200)
        assert (figure.low, figure.high) == pytest.approx(
            (low, high), abs=5e-7
        )
        rows = [captioner("a", 1.0, language=figure), captioner("b", 2.0)]
        decision = decide(rows, options, 200)
        message = " ".join((*decision.steps, *decision.cautions))
        assert words in message
        assert bool(words) == ("language" in message)
    (caution,) = decide(
        [captioner("a", 1.0, language=rate(95, 100)), captioner("b", 2.0)],
        options,
        100,
    ).cautions
    assert "no number of texts settles it" in caution


def test_what_decides_among_equals() -> None:
    """Dollars first; seconds only among the cheapest; an unknown price decides nothing."""
    for figures, chosen, code in (
        ({"a": (1.0, 2.0), "b": (1.0, 3.0), "d": (2.0, 1.0)}, "a", 0),
        ({"a": (2.0, 1.0), "b": (1.0, 3.0)}, "b", 0),
        ({"a": (None, 2.0), "b": (None, 3.0)}, "a", 0),
        ({"a": (None, 2.0), "b": (1.0, 3.0)}, None, 3),
        ({"a": (1.0, 2.0), "b": (1.0, 2.0)}, None, 3),
    ):
        rows = [captioner(name, *pair) for name, pair in figures.items()]
        decision = decide(rows, ChoiceOptions(), 10)
        assert (decision.chosen, decision.code) == (chosen, code), figures


def test_a_captioner_without_values_is_said_to_be_left_out() -> None:
    rows = [captioner("a", 2.0), captioner("b", 1.0), captioner("d", 0.1)]
    rows[2] = replace(rows[2], scores={})
    decision = decide(rows, ChoiceOptions(), 10)
    assert decision.chosen == "b"
    assert "d has no value of right: not ranked" in decision.steps


def test_languages_that_short_texts_do_not_distinguish() -> None:
    danish = "En rød kop står på et træbord ved vinduet, og en kat sover ved siden af."
    croatian = "Crvena šalica stoji na drvenom stolu uz prozor, a mačka spava pored nje."
    # Norwegian has three codes, of which the classifier knows one or two.
    assert other_language(danish, "Norwegian") is None
    assert other_language(croatian, "Norwegian") == "it looks Croatian"
    assert akin_languages("Norwegian") == ["Danish"]
    assert akin_languages("Croatian") == ["Bosnian", "Serbian"]
    assert akin_languages("English") == akin_languages("Klingon") == []


def test_families_of_models() -> None:
    for first, second, same in (
        ("openai:gpt-4.1", "openai:gpt-5-mini", True),
        ("openai:o3", "openai:o4-mini", True),
        ("hf:us.anthropic.claude-4", "anthropic:claude-haiku-4-5", True),
        ("hf:Qwen/Qwen2.5-VL-7B", "vllm:qwen3-vl", True),
        ("anthropic:claude-haiku-4-5", "openai:gpt-4.1", False),
        ("openai('ft:gpt-4.1:me')", "openai:gpt-4.1", True),
        (
            "openai('anthropic/claude-sonnet-5')",
            "anthropic:claude-haiku-4-5",
            True,
        ),
    ):
        families = [
            family_of(canonical_spec(text)) for text in (first, second)
        ]
        assert (families[0] == families[1]) == same, families


def test_the_costs_of_the_worked_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dollars = [
        0.0040,
        0.0044,
        0.0039,
        0.0051,
        0.0042,
        0.0038,
        0.0046,
        0.0041,
        0.0040,
        0.0039,
    ]
    rows: list[dict[str, Any]] = [
        {
            "id": f"p{n}/{name}",
            "image": f"p{n}.jpg",
            # The last text of b is a failure, which was paid, and took no time that counts.
            "candidate": ""
            if (n, name) == (9, "b")
            else "A red boat lies at a pier.",
            "references": ["A red boat lies at a pier."],
            "group": {"system": name},
            "dollars": price,
            "seconds": 0.0 if (n, name) == (9, "b") else 2.0,
        }
        for n, price in enumerate(dollars)
        for name in "ab"
    ]
    # A third text of a picture has no place.
    rows += [
        {**rows[0], "id": f"again{n}", "candidate": f"A boat {n}."}
        for n in range(2)
    ]
    Path("systems.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    result = beholder.choose("systems.jsonl", "choice")
    for row in result["captioners"]:
        for name, times in (("dollars", 1), ("collection", 10)):
            figure = row["figures"][name]
            assert figure["value"] == pytest.approx(times * 0.0042)
            assert (figure["low"], figure["high"]) == pytest.approx(
                (times * 0.003914, times * 0.004486), abs=times * 5e-7
            )
        assert row["figures"]["seconds"]["value"] == 2
    assert [row["n_failed"] for row in result["captioners"]] == [0, 1]
    assert result["captioners"][1]["figures"]["seconds"]["n"] == 9
    assert any(
        "1 texts of the data are not used" in text
        for text in result["cautions"]
    )
