"""The share of words in PoSh: neighbours in order, and recall beside what references recall."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from beholder import PoSh
from beholder.embed.base import FloatArray
from beholder.judges import Grade
from beholder.judges.builtin import lexical_alignment as module
from beholder.judges.builtin.reading import analysed
from beholder.judges.builtin.vectors import vectors
from beholder.judges.grades import rule_grade
from beholder.judges.operations import LexicalAlignment
from beholder.language import parse, scene_graph
from beholder.metrics import Tools
from beholder.metrics.posh.plan import Ask, Plan, fixed_asks
from beholder.metrics.wording import read_all, recalled_by_peers
from beholder.records import Item
from beholder.report import show, to_html
from beholder.text import frequency

Rule = Literal["peers", "best", "mean"]

LETTERS = ("qa", "qb", "qc", "qd")
"""Words of no language: each weighs 1, and none is like another."""


@dataclass(frozen=True)
class Letters:
    """A text of such words, as the alignment reads it."""

    words: tuple[str, ...]
    word_values: tuple[()] = ()

    @property
    def word_vectors(self) -> FloatArray:
        return np.eye(len(LETTERS))[
            [LETTERS.index(word) for word in self.words]
        ]

    @property
    def word_weights(self) -> FloatArray:
        return np.array([frequency.weight(word) for word in self.words])


@pytest.fixture(autouse=True)
def _fresh() -> None:
    module._peers.cache_clear()


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "analysed", lambda text: Letters(tuple(text.split()))
    )


@pytest.mark.usefixtures("letters")
def test_the_same_words_in_another_order_lose_the_share_of_neighbours() -> (
    None
):
    # Every word is there: 1. Of the neighbours (a, b) and (b, c) none stands in "c b a" in this
    # order: 0. Together 1 + 0.2 (0 - 1).
    alignment = module.align_words("qa qb qc", ["qc qb qa"])
    assert alignment.precision == pytest.approx(0.8)
    assert alignment.recalls == pytest.approx((0.8,))
    assert alignment.peers == 1.0


@pytest.mark.usefixtures("letters")
def test_neighbours_may_have_one_content_word_between_them_in_the_other_text() -> (
    None
):
    # "a b" in "a d b": the order holds. Recall: two of three words; neighbours (a, d), (d, b): none.
    near = module.align_words("qa qb", ["qa qd qb"])
    assert near.precision == pytest.approx(1.0)
    assert near.recalls == pytest.approx((2 / 3 * 0.8,))
    far = module.align_words(
        "qa qb", ["qa qd qc qb"]
    )  # three words on: too far
    assert far.precision == pytest.approx(0.8)


@pytest.mark.usefixtures("letters")
def test_a_text_of_one_content_word_has_no_neighbours_to_count() -> None:
    alignment = module.align_words("qa", ["qa qb"])
    assert alignment.precision == 1.0
    assert alignment.recalls == pytest.approx((0.5,))


@pytest.mark.usefixtures("letters")
def test_peers_is_what_references_recall_of_one_another() -> None:
    # "a b" and "a c" share one word of two and no neighbours: 0.5 + 0.2 (0 - 0.5) both ways.
    alignment = module.align_words("qa qb", ["qa qb", "qa qc"])
    assert alignment.precision == pytest.approx(1.0)
    assert alignment.recalls == pytest.approx((1.0, 0.4))
    assert alignment.peers == pytest.approx(0.4)


def test_likeness_is_squared_and_of_values_that_exclude_each_other_three_tenths_stay() -> (
    None
):
    left_vector, right = vectors(["left", "right"])
    assert (
        float(left_vector @ right) > 0.5
    )  # static vectors put the sides side by side
    alignment = module.align_words("left", ["right"])
    assert alignment.precision == pytest.approx(
        (0.3 * float(left_vector @ right)) ** 2, abs=1e-6
    )
    boat, ship = vectors(["boat", "ship"])
    near = module.align_words("boat", ["ship"]).precision
    assert near == pytest.approx(float(boat @ ship) ** 2, abs=1e-6)


PLAN = Plan(
    analysed("A dog.").graph,
    (analysed("A dog.").graph, analysed("A cat.").graph),
    3.0,
    LexicalAlignment(0.9, (0.8, 0.4), 0.5),
    peers=0.5,
)
# One unit a text: the dog is found in the first reference (5) and not in the second (1).
GRADES = {
    ask: rule_grade(5.0 if ask.reference == 0 else 1.0)
    for ask in fixed_asks(PLAN)
}


@pytest.mark.parametrize(
    ("rule", "recall"),
    [
        # words mean 0.6, units mean 0.5, blended 0.55: 0.55 / (0.55 + 0.5 * 0.45)
        ("peers", 0.55 / 0.775),
        ("mean", 0.55),
        ("best", 0.9),  # 0.5 * 0.8 + 0.5 * 1
    ],
)
def test_a_plan_with_words_is_scored_by_hand(
    rule: Rule, recall: float
) -> None:
    metric = PoSh(lexical_weight=0.5, references=rule)
    values = metric.score_answers(PLAN, GRADES).values
    assert values["precision"] == pytest.approx(0.95)
    assert values["recall"] == pytest.approx(recall)
    assert values["f1"] == pytest.approx(2 * 0.95 * recall / (0.95 + recall))


@pytest.mark.parametrize(
    ("rule", "recall"),
    [
        ("peers", 0.5 / 0.75),
        ("mean", 0.5),
        ("best", 1.0),
    ],  # 0.5 / (0.5 + 0.5 * 0.5)
)
def test_units_alone_are_the_default_and_are_set_beside_peers(
    rule: Rule, recall: float
) -> None:
    plan = Plan(PLAN.candidate, PLAN.references, 3.0, peers=0.5)
    values = PoSh(references=rule).score_answers(plan, GRADES).values
    assert values["precision"] == 1.0
    assert values["recall"] == pytest.approx(recall)
    # An alignment that is there has no share in them.
    assert PoSh(references=rule).score_answers(PLAN, GRADES).values == values


@pytest.mark.parametrize(
    ("rule", "recall"), [("peers", 1.0), ("best", 1.0), ("mean", 0.6)]
)
def test_under_the_published_rules_peers_is_the_best_reference(
    rule: Rule, recall: float
) -> None:
    # The first reference is found whole (5 / 5), of the second nothing (1 / 5).
    dog, cat = (
        scene_graph(parse(text), "reference") for text in ("A dog.", "A cat.")
    )
    metric, plan = (
        PoSh(rules="reference", references=rule),
        Plan(dog, (dog, cat), 2.0, peers=0.5),
    )
    grades: dict[Ask, Grade] = {}
    while asks := metric.open_wave(plan, grades).asks:
        grades |= {
            ask: rule_grade(1.0 if ask.reference else 5.0) for ask in asks
        }
    values = metric.score_answers(plan, grades).values
    assert values["precision"] == 1.0
    assert values["recall"] == pytest.approx(recall)


async def plan_of(metric: PoSh, item: Item) -> Plan:
    return (await metric.gather(item, Tools())).plan


def test_peers_are_the_same_whoever_judges(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"contains": "", "answer": "5"}\n')
    texts = ("A dog runs over a field.", "A brown dog.", "Grass and trees.")
    item = Item("i", "A dog sleeps.", texts)
    builtin_peers, model, alone, words = (
        asyncio.run(plan_of(metric, item)).peers
        for metric in (
            PoSh(),
            PoSh(judge=f"scripted:{rules}", asking="one"),
            PoSh(references="best"),
            PoSh(lexical_weight=0.8),
        )
    )
    assert asyncio.run(plan_of(PoSh(rules="reference"), item)).peers == 1.0
    assert builtin_peers == model == asyncio.run(of_words_in_context(texts))
    assert alone == 1.0
    assert words == module.align_words("", texts).peers != builtin_peers
    single = Item("i", "A dog sleeps.", texts[:1])
    assert asyncio.run(plan_of(PoSh(), single)).peers == 1.0


async def of_words_in_context(texts: tuple[str, ...]) -> float:
    return recalled_by_peers(await read_all(texts, Tools().encoder("minilm")))


def words_of(judge: str) -> LexicalAlignment | None:
    item = Item("i", "A dog sleeps.", ("A dog runs.",))
    metric = PoSh(judge=judge, lexical_weight=0.8, asking="one")
    return asyncio.run(plan_of(metric, item)).lexical_alignment


def test_a_judge_that_aligns_words_does_so_however_it_is_spelled_and_a_model_does_not(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"contains": "", "answer": "5"}\n')
    assert (
        words_of("builtin")
        == words_of("builtin()")
        == words_of("panel(builtin, builtin)")
    )
    assert words_of("builtin") is not None
    assert words_of(f"scripted:{rules}") is None
    assert words_of(f"panel(builtin, scripted:{rules})") is None


def test_the_rules_for_words_and_references_are_in_the_signature() -> None:
    signature = PoSh().score_text("A dog.", "A dog runs.").signature
    assert "|references:peers|" in signature
    assert "|lexical_weight:0.0|" in signature
    worded = PoSh(lexical_weight=0.8).score_text("A dog.", "A dog runs.")
    assert "|lexical_weight:0.8|" in worded.signature


def test_one_reference_is_scored_alike_under_every_rule() -> None:
    texts = (
        "A tall man holds a red cup.",
        "A man holds a blue cup on a bench.",
    )
    rules: tuple[Rule, ...] = ("peers", "best", "mean")
    peers, best, mean = (
        PoSh(references=rule).score_text(*texts).values for rule in rules
    )
    assert peers == best == mean


def test_exchanged_roles_score_lower() -> None:
    metric, reference = (
        PoSh(lexical_weight=0.8),
        "A brown dog chases a white cat.",
    )
    partial = metric.score_text(
        "A brown dog follows a white cat.", reference
    ).values["f1"]
    turned = metric.score_text(
        "A white cat follows a brown dog.", reference
    ).values["f1"]
    assert turned < partial


def test_a_score_shows_mistakes_in_terminal_and_notebook_and_escapes_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = "A red cup stands on a table. <script>alert(1)</script>"
    score = PoSh().score_text(
        hostile, "A blue cup stands on a table near a dog."
    )
    show(score)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    drawn_edges = {
        (row[1], row[3], row[5])
        for row in rows
        if len(row) >= 6 and row[0] in "✗∅"
    }
    assert ("contradicted", "attribute", "red") in drawn_edges
    assert ("omission", "attribute", "blue") in drawn_edges
    html = to_html(score)
    assert "<script" not in html
    assert "&lt;" in html
    assert "contradiction: blue" in html


def test_the_share_does_not_hang_on_how_the_judge_is_written() -> None:
    candidate, reference = (
        "A tall man holds a cup.",
        "A man with a red cup smiles.",
    )
    worded = PoSh(lexical_weight=0.8)
    plain = worded.score_text(candidate, reference)
    for text in ("builtin()", " builtin "):
        same = PoSh(judge=text, lexical_weight=0.8)
        assert same == worded
        assert same.score_text(candidate, reference) == plain
    # The words alone differ from the units, so a share that is left out shows.
    assert (
        plain.values["f1"]
        != PoSh().score_text(candidate, reference).values["f1"]
    )


def test_the_signature_tells_the_threshold_in_use(tmp_path: Path) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"contains": "", "answer": "5"}\n')
    single: dict[str, Any] = {"contradictions": False, "asking": "one"}
    for metric, grade in (
        (PoSh(), "3"),
        (PoSh(judge=f"scripted:{rules}", **single), "2"),
        (
            PoSh(
                judge=f"scripted({str(rules)!r}, scale='certainty')", **single
            ),
            "3.5",
        ),
        (PoSh(presence_threshold=4.0), "4"),
    ):
        score = metric.score_text("A dog.", "A dog.")
        assert f"|presence_threshold:{grade}|" in score.signature
        assert score.detail["presence_threshold"] == float(grade)
    assert PoSh(presence_threshold=4.0).name == "posh(presence_threshold=4.0)"
