"""DCScore of texts about pictures without references: what sight alone gives, and what it cannot."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import beholder
from beholder import DCScore, Item, ItemScore
from beholder.errors import ConfigError, ItemError
from beholder.metrics import Tools
from beholder.run.compare import compare
from beholder.run.leaderboard import leaderboard
from beholder.run.manifest import read_log
from beholder.run.store import Store
from toy.cases import each_case
from toy.facts import FactModel

CANDIDATE = "A dog runs. The dog is red. A cat sleeps."


@pytest.fixture
def picture(tmp_path: Path) -> str:
    path = tmp_path / "red.png"
    Image.new("RGB", (8, 8), "red").save(path)
    return str(path)


def seeing(*wrong_by_draw: set[int]) -> FactModel:
    """A model that sees; the facts of these numbers are wrong, by draw."""

    def spoil(operation: str, replicate: int, rows: list[Any]) -> list[Any]:
        if operation != "rows":
            return rows
        wrong = wrong_by_draw[replicate]
        return [row | {"supported": row["id"] not in wrong} for row in rows]

    return FactModel(images=True, spoil=spoil)


def by_sight(model: FactModel, picture: str, **options: Any) -> ItemScore:
    dcscore = DCScore(judge="scripted:x", **options)
    return dcscore.score_text(
        CANDIDATE, [], images=[picture], tools=model.tools()
    )


@pytest.mark.parametrize("verify", ["image", "auto"])
@pytest.mark.parametrize(
    ("wrong", "precision", "n_verified"),
    [(set(), 1, 3), ({1}, 2 / 3, 2), ({0, 1, 2}, 0, 0)],
)
@pytest.mark.parametrize(
    ("direction", "prefix"), [("har", ""), ("both", "har_")]
)
def test_each_fact_is_verified_by_sight_and_nothing_else_is_scored(
    picture: str,
    verify: str,
    wrong: set[int],
    precision: float,
    n_verified: int,
    direction: str,
    prefix: str,
) -> None:
    model = seeing(wrong)
    # Values that need a reference are no empty values that could be 0.
    options = {"verify": verify, "direction": direction, "on_empty": "zero"}
    score = by_sight(model, picture, **options)
    assert score.values == pytest.approx(
        {
            f"{prefix}precision": precision,
            f"{prefix}hallucination_rate": 1 - precision,
        }
    )
    assert model.calls == {"statements": 1, "rows": 1}
    assert "<reference>" not in model.prompts("rows")[0]
    assert score.detail["verified_by"] == "image"
    (detail,) = score.detail["directions"].values()
    assert detail["counts"] == {
        "predicted": 3,
        "verified": n_verified,
        "relevant": 3,
        "relevant_verified": n_verified,
    }
    assert detail["flags"] == [
        "no reference: precision and hallucination_rate alone"
    ]
    assert [unit.verdict for unit in score.units] == [
        "mistake" if place in wrong else "supported" for place in range(3)
    ]
    assert not any("matched" in unit.detail for unit in score.units)


def test_samples_of_sight_are_averaged(picture: str) -> None:
    # Precision is 2/3 and 1/3: mean 1/2, variance (1/6)^2.
    model = seeing({1}, {0, 1})
    score = by_sight(model, picture, verify="image", samples=(3, 2))
    assert score.values["precision"] == pytest.approx(1 / 2)
    assert score.detail["directions"]["har"]["variance"] == pytest.approx(
        {"precision": 1 / 36, "hallucination_rate": 1 / 36}
    )
    assert model.calls == {"statements": 1, "rows": 2}


def test_a_candidate_without_facts_has_nothing_to_verify(picture: str) -> None:
    def spoil(operation: str, replicate: int, rows: list[Any]) -> list[Any]:
        return [] if operation == "statements" else rows

    silent = FactModel(images=True, spoil=spoil)
    with pytest.raises(ItemError, match="no fact in the candidate"):
        by_sight(silent, picture)
    assert by_sight(silent, picture, on_empty="zero").values == {
        "precision": 0.0,
        "hallucination_rate": 0.0,
    }


@each_case(
    ("options", "references", "pictured", "reason"),
    [
        ({"verify": "image"}, (), False, "needs images"),
        ({"verify": "auto"}, (), False, "needs references"),
        ({"verify": "both"}, (), True, "needs references"),
        ({"verify": "reference"}, (), True, "needs references"),
        ({"verify": "image", "direction": "mar"}, (), True, "needs references"),
        ({"verify": "auto", "direction": "mar"}, (), True, "needs references"),
        ({"verify": "image"}, ("!!!",), True, "reference 1 has no words"),
    ],
)  # fmt: skip
def test_an_item_without_evidence_fails_with_the_field(
    options: dict[str, Any],
    references: tuple[str, ...],
    pictured: bool,
    reason: str,
) -> None:
    images = ("a.png",) if pictured else ()
    with pytest.raises(ItemError, match=reason):
        DCScore(**options).check(Item("a", CANDIDATE, references, images))


@pytest.mark.parametrize("verify", ["image", "auto"])
def test_a_judge_that_cannot_see_is_refused_before_any_work(
    picture: str, verify: str
) -> None:
    items = [Item("a", CANDIDATE, images=(picture,))]
    with pytest.raises(ConfigError, match="builtin cannot see"):
        DCScore(verify=verify).prepare(items).identities(Tools())  # type: ignore[arg-type]
    blind = FactModel(images=False)
    with pytest.raises(ConfigError, match="cannot see"):
        by_sight(blind, picture, verify=verify)
    assert not blind.requests


RULES = [
    # Each text has two facts; the first is right and matched.
    ('<reference id="0">', {"matches": [{"id": 0, "reference": 0}, {"id": 1, "reference": None}]}),
    ('<statement id="1">', {"rows": [{"id": 0, "supported": True},
                                     {"id": 1, "supported": False}]}),
    ("<text>", {"statements": [{"text": fact, "subject": None, "relevant": True}
                               for fact in ("A dog runs", "A cat sleeps")]}),
]  # fmt: skip


def test_in_mixed_data_each_mean_has_its_own_n(
    tmp_path: Path, picture: str
) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text(
        "".join(
            json.dumps({"contains": text, "answer": answer}) + "\n"
            for text, answer in RULES
        )
    )
    metric = f"dcscore(verify='image', judge='scripted:{rules}')"
    sights = [
        Item(name, "A dog runs. A cat sleeps.", images=(picture,),
             group={"system": name})
        for name in ("a", "b", "c")
    ]  # fmt: skip
    reference = Item(
        "c", sights[2].candidate, ("A dog runs. A cow sleeps.",), (picture,),
        group={"system": "c"},
    )  # fmt: skip
    mixed = [*sights[:2], reference]
    folders = [tmp_path / "sights", tmp_path / "mixed"]
    for folder, items in zip(folders, (sights, mixed), strict=True):
        run = beholder.score(items, [metric], out=folder, workers=1)
        (result,) = run.summary.values()
        assert result.n_failed == 0
        n_by_value = {key: x.n for key, x in result.values.items()}
        # One of two facts is right, in every text.
        assert result.values["precision"].mean == 0.5
        assert result.values["hallucination_rate"].mean == 0.5
        assert n_by_value.pop("precision") == 3
        assert n_by_value.pop("hallucination_rate") == 3
        if items is sights:
            assert not n_by_value
            assert result.cautions[-1].startswith("3 of 3 texts have no ref")
        else:
            # The reference has one fact of two that a right fact covers.
            assert result.values["recall"].mean == 0.5
            assert set(n_by_value.values()) == {1}
            assert result.cautions[-1].startswith("2 of 3 texts have no ref")
        page = run.report().read_text(encoding="utf-8")
        assert "no mean yet" not in page
        assert "texts have no references" in page
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.read(f)) for f in folders]
        (alone,), (both,) = leaderboard(stores[:1]), leaderboard(stores[1:])
        comparison = compare(*stores)
    # The headline of a run is a value that it has.
    (log,) = read_log(folders[0]).metrics
    assert [value.name for value in log.values] == [
        "precision",
        "hallucination_rate",
    ]
    assert alone.value == "precision"
    assert both.value == "f1"
    assert [
        (s.system, s.n, s.n_failed, s.n_without) for s in both.standings
    ] == [("c", 1, 0, 0), ("a", 0, 0, 1), ("b", 0, 0, 1)]
    assert {d.value: d.paired.n for d in comparison.differences} == {
        "precision": 3,
        "hallucination_rate": 3,
    }
    (caution,) = comparison.cautions
    assert "no subject has f1, recall," in caution
