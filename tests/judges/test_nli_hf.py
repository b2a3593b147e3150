"""``nli:MODEL`` with tiny models built here; needs torch."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from beholder.embed.entailment import HFEntailment
from beholder.errors import ConfigError, ItemError
from beholder.judges import judge
from beholder.judges.operations import CheckCriteria, Verify
from toy.tiny_models import save_entailment

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

THREE = ["CONTRADICTION", "ENTAILMENT", "NEUTRAL"]
PAIRS = [
    ("A man holds a red cup.", "A cup."),
    ("The light is good.", "It is dark near the river."),
]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_entailment(tmp_path_factory.mktemp("three"), THREE)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_probabilities_equal_a_forward_pass_by_hand(
    three: str, batch_size: int
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(three)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        three
    ).eval()
    found = HFEntailment(three, batch_size=batch_size)(PAIRS)
    for row, (premise, hypothesis) in zip(found, PAIRS, strict=True):
        with torch.no_grad():
            logits = model(
                **tokenizer(premise, hypothesis, return_tensors="pt")
            ).logits
        against, entailed, neutral = torch.softmax(logits, -1)[0].tolist()
        assert row.tolist() == pytest.approx(
            [entailed, neutral, against], abs=1e-5
        )


def test_a_model_of_two_classes_has_no_contradiction(tmp_path: Path) -> None:
    name = save_entailment(
        tmp_path, ["not_entailment", "entailment"], [0.0, 2.0]
    )
    row = HFEntailment(name)(PAIRS[:1])[0].tolist()
    sure = math.exp(2) / (1 + math.exp(2))
    assert row == pytest.approx([sure, 1 - sure, 0.0], abs=1e-6)


def test_stated_labels_replace_those_of_the_configuration(
    tmp_path: Path,
) -> None:
    name = save_entailment(tmp_path, ["LABEL_0", "LABEL_1"], [2.0, 0.0])
    claim = Verify(["A cup."], reference="A man holds a red cup.")
    with pytest.raises(ConfigError, match="'LABEL_0', 'LABEL_1'"):
        judge(f"nli:{name}")
    for labels, holds in (
        ("entailment,neutral", True),
        ("neutral,entailment", False),
    ):
        made = judge(f"nli('{name}', labels='{labels}')")
        assert asyncio.run(made.ask(claim)) == [holds]
        assert f"(float32,{labels})+builtin" in made.identity


def test_the_class_of_the_largest_output_decides(tmp_path: Path) -> None:
    name = save_entailment(tmp_path, THREE, [3.0, 0.0, 0.0])
    found = asyncio.run(
        judge(f"nli:{name}").ask(CheckCriteria(["A cup."], "A red cup."))
    )
    assert found[0] is not None
    assert (found[0].state, found[0].spans) == ("contradicted", ((0, 10),))


def test_other_weights_are_another_judge(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    names = [
        save_entailment(tmp_path / n, THREE, b)
        for n, b in (("a", [1, 0, 0]), ("b", [0, 1, 0]))
    ]
    first, second = (
        judge(f"nli:{name}").identity.split("@")[1] for name in names
    )
    assert first != second


def test_a_pair_beyond_the_window_is_refused_and_not_cut(three: str) -> None:
    with pytest.raises(ItemError, match="takes 64"):
        HFEntailment(three)([("A cup. " * 40, "A cup.")])


def test_a_model_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="nli:/no/such cannot be loaded"):
        judge("nli:/no/such")
