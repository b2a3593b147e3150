"""CHAIR: which named objects are neither in the references nor in the list, by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import beholder
from beholder.kinds.agreement.measure import scored_items
from beholder.metrics import Tools, metric
from beholder.metrics.classical.chair import CHAIR, object_tie
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.rewards import by_token, reward
from beholder.rewards.reward import Reward
from toy.cases import each_case


def outcome(
    candidate: str, references: Sequence[str] = (), objects: object = None
) -> ItemScore | ItemFailure:
    meta = {} if objects is None else {"objects": objects}
    (outcome_of_item,) = CHAIR().score(
        [Item("a", candidate, tuple(references), meta=meta)]
    )
    return outcome_of_item


def scored(
    candidate: str, references: Sequence[str] = (), objects: object = None
) -> ItemScore:
    item_outcome = outcome(candidate, references, objects)
    assert isinstance(item_outcome, ItemScore), item_outcome
    return item_outcome


def words(units: Sequence[Unit], side: str, verdict: str) -> list[str]:
    return [
        unit.text
        for unit in units
        if (unit.side, unit.verdict) == (side, verdict)
    ]


# candidate, references, objects of the row, mentions without support, mentions, recall
CASES: Mapping[str, tuple[str, Sequence[str], object, list[str], int, Fraction]] = {
    "all named": (
        "A dog lies on a bed.", ["A dog on a bed."], None, [], 2, Fraction(1),
    ),
    "one of three is nowhere": (
        "A dog sits on a bed beside a lamp.", ["A dog on a bed."], None, ["lamp"], 3, Fraction(1),
    ),
    "none is there": (
        "A lamp stands on a table.", ["A dog in the snow."], None, ["lamp", "table"], 2, Fraction(0),
    ),
    "synonyms": (
        "A motorbike is parked next to a couch.", ["A motorcycle and a sofa."], None, [], 2,
        Fraction(1),
    ),
    "a kind of what the reference names is supported and names it": (
        "A dog sleeps.", ["An animal sleeps."], None, [], 1, Fraction(1),
    ),
    "a wider name is supported but does not name the kind": (
        "An animal sleeps.", ["A dog sleeps."], None, [], 1, Fraction(0),
    ),
    "another of the same kind": (
        "A cat sleeps.", ["A dog sleeps."], None, ["cat"], 1, Fraction(0),
    ),
    "people of either sex are people": (
        "A man and a woman wait.", ["Two people wait."], None, [], 2, Fraction(1),
    ),
    "a man is no woman": (
        "A man waits.", ["A woman waits."], None, ["man"], 1, Fraction(0),
    ),
    "names that say which of their kind": (
        "A street sign stands beside a stop sign.", ["A stop sign."], None, ["street sign"], 2,
        Fraction(1),
    ),
    "what is denied is not named": (
        "A cat sits on a wall. There is no dog.", ["A dog and a cat."], None, ["wall"], 2,
        Fraction(1, 2),
    ),
    "what the reference denies is not there": (
        "A dog and a cat sit.", ["A cat sits. There is no dog."], None, ["dog"], 2, Fraction(1),
    ),
    "each mention counts, pronouns do not": (
        "A dog runs on the grass. It barks. The dog is brown.", ["A cat on the grass."], None,
        ["dog", "dog"], 3, Fraction(1, 2),
    ),
    "two references are one list": (
        "A dog runs. A lamp shines.", ["A dog near a car.", "A puppy beside a lamp."], None, [], 2,
        Fraction(2, 3),  # the dog is the puppy; the car is missing
    ),
    "the picture and its mood are no objects": (
        "The image shows a kitchen. The scene has a cozy mood.", ["A kitchen with a stove."], None,
        [], 1, Fraction(1, 2),
    ),
    "a list alone": (
        "A dog chases a ball across the lawn.", [], ["dog", "ball", "tree"], ["lawn"], 3,
        Fraction(2, 3),
    ),
    "a list of synonyms, plurals, underscores": (
        "Two women look at a traffic light.", [], [["lady", "women"], "traffic_light"], [], 2,
        Fraction(1),
    ),
    "references support what the list does not have; recall is of the list": (
        "A dog chases a ball.", ["A ball and a fence."], ["dog", "tree"], [], 2, Fraction(1, 2),
    ),
    "food is no animal": (
        "A hot dog lies on a plate.", ["A dog sits beside a plate."], None, ["hot dog"], 2,
        Fraction(1, 2),
    ),
    "a toy is no animal": (
        "Bears stand in a river.", ["A teddy bear floats in a river."], None, ["Bears"], 2,
        Fraction(1, 2),
    ),
    "spaces and hyphens do not matter": (
        "A cell phone and a t-shirt lie on a bed.", [], ["cellphone", "T shirt", "bed"], [], 3,
        Fraction(1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_values_equal_those_computed_by_hand(
    case: tuple[str, Sequence[str], object, list[str], int, Fraction],
) -> None:
    candidate, references, objects, wrong, n_named, recall = case
    item_score = scored(candidate, references, objects)
    assert words(item_score.units, "candidate", "unstated") == wrong
    assert item_score.values == pytest.approx(
        {
            "chair_i": len(wrong) / n_named,
            "chair_s": 1.0 if wrong else 0.0,
            "recall": float(recall),
            "objects": n_named,
        }
    )


class TestUndefined:
    def test_a_candidate_without_objects_has_no_chair_i(self) -> None:
        item_score = scored("It is raining.", ["A dog in the snow."])
        assert item_score.values == {
            "chair_s": 0.0,
            "recall": 0.0,
            "objects": 0.0,
        }
        assert item_score.detail["flags"] == [
            "the candidate names no object: chair_i is not defined"
        ]

    @pytest.mark.parametrize("objects", [None, []])
    def test_an_item_without_references_and_objects_is_refused(
        self, objects: object
    ) -> None:
        failure = outcome("A dog sleeps.", [], objects)
        assert isinstance(failure, ItemFailure)
        assert (
            failure.message
            == "chair needs references or objects, and this item has neither"
        )

    def test_references_that_name_nothing_are_no_evidence(self) -> None:
        failure = outcome("A dog sleeps.", ["It is raining."])
        assert isinstance(failure, ItemFailure)
        assert failure.message.startswith(
            "no object was found in the references"
        )
        assert (
            scored("A dog sleeps.", ["It is raining."], ["dog"]).values[
                "chair_i"
            ]
            == 0.0
        )

    @pytest.mark.parametrize(
        ("objects", "place"),
        [
            ("dog", r"Expected `array`, got `str`"),
            (["dog", 3], r"got `int` - at `\$\[1\]`"),
            (["dog", ["cat", None]], r"got `null` - at `\$\[1\]\[1\]`"),
            (["dog", " "], r"without a name - at `\$\[1\]`"),
            ([[], "dog"], r"without a name - at `\$\[0\]`"),
        ],
    )
    def test_a_list_of_another_form_is_refused_with_its_place(
        self, objects: object, place: str
    ) -> None:
        with pytest.raises(
            beholder.ItemError,
            match=rf"^objects: .*{place}; expected a list of",
        ):
            CHAIR().check_item(
                Item("a", "A dog.", ("A dog.",), meta={"objects": objects})
            )


class TestNames:
    @each_case(
        "thing", ["chair", "bird", "mouse", "fence", "dog", "cow", "bear"]
    )
    @each_case("who", ["person", "man", "woman", "people", "child"])
    def test_a_thing_is_no_person_for_a_rare_sense_of_its_name(
        self, thing: str, who: str
    ) -> None:
        assert object_tie(thing, who) not in ("same", "more", "less")
        assert object_tie(who, thing) not in ("same", "more", "less")

    @each_case(
        ("query_name", "text_name", "expected"),
        [
            ("person", "skier", "more"),
            ("skier", "person", "less"),
            ("crowd", "people", "same"),
            ("businessman", "man", "less"),
            ("businessman", "woman", "other"),
            ("man", "businessman", "more"),
            ("vehicle", "bus", "more"),
            ("bus", "vehicle", "less"),
            ("bus", "truck", "other"),
            ("fire hydrant", "hydrant", "same"),
            ("wine glass", "water glass", ""),
            ("Backpack", "rucksack", "same"),
            ("knives", "knife", "same"),
            ("umbrella", "dog", ""),
            ("skier", "snowboarder", ""),
            ("skier", "woman", "less"),
            ("baseball umpire", "umpire", "same"),
            ("hot dog", "dog", ""),
            ("hot dog", "sausage", "same"),
            ("teddy bear", "stuffed animal", "same"),
        ],
    )
    def test_how_names_stand_to_each_other(
        self, query_name: str, text_name: str, expected: str
    ) -> None:
        assert object_tie(query_name, text_name) == expected


CANDIDATE = "A dog sits beside a lamp."
REFERENCES = ("A bus.", "A dog and another bus.")


class TestUnits:
    def test_each_unit_has_the_place_where_it_is_named(self) -> None:
        item_score = scored(CANDIDATE, REFERENCES)
        assert [
            (
                u.kind,
                u.text,
                u.side,
                u.spans,
                u.score,
                u.verdict,
                u.reference_index,
            )
            for u in item_score.units
        ] == [
            ("entity", "dog", "candidate", ((2, 5),), 1.0, "match", None),
            (
                "entity",
                "lamp",
                "candidate",
                ((20, 24),),
                0.0,
                "unstated",
                None,
            ),
            ("entity", "bus", "reference", ((2, 5),), 0.0, "omission", 0),
            ("entity", "dog", "reference", ((2, 5),), 1.0, "match", 1),
        ]
        assert item_score.units[0].detail == {"support": "dog"}

    def test_an_object_of_the_references_is_one_unit(self) -> None:
        references = ("A man and another man wait.", "A man reads.")
        (omission,) = [
            u
            for u in scored("A lamp.", references).units
            if u.side == "reference"
        ]
        assert (omission.text, omission.reference_index) == ("man", 0)
        assert [references[0][a:b] for a, b in omission.spans] == [
            "man",
            "man",
        ]

    def test_the_order_of_references_changes_no_value(self) -> None:
        texts = (
            "A sign and a stop sign.",
            "A street sign. A puppy.",
            "A dog, a sign and a bus.",
        )
        values = [
            scored("A dog and a sign.", order).values
            for order in (texts, texts[::-1])
        ]
        assert values[0] == values[1]

    def test_a_list_has_no_place_and_is_told_in_the_detail(self) -> None:
        item_score = scored(CANDIDATE, REFERENCES, ["dog", ["couch", "sofa"]])
        assert {unit.side for unit in item_score.units} == {"candidate"}
        assert item_score.detail["missing"] == ["couch"]

    def test_they_are_shown_as_other_units(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        beholder.show(scored(CANDIDATE, REFERENCES))
        printed = capsys.readouterr().out
        assert "unstated" in printed
        assert "omission" in printed

    def test_tokens_of_an_object_without_support_are_punished(self) -> None:
        tokens = [(0, 1), (2, 5), (6, 10), (18, 19), (20, 24), (24, 25)]
        assert by_token(scored(CANDIDATE, REFERENCES), tokens) == [
            0,
            1,
            0,
            0,
            -1,
            0,
        ]


def test_a_reward_is_the_rate_of_objects() -> None:
    chair_reward = reward("chair", guards=())
    assert isinstance(chair_reward, Reward)
    assert chair_reward.__name__ == "chair.chair_i"


def test_a_reward_reads_the_list_of_its_row() -> None:
    with closing(reward("chair", guards=(), workers=1)) as chair_reward:
        texts = ["A dog.", "A lamp.", "A dog and a lamp."]
        pending = chair_reward(
            None, texts, objects=[["dog"], [["dog", "puppy"]], ["dog"]]
        )
        assert asyncio.run(pending) == pytest.approx([0.0, -1.0, -0.5])
        verl = chair_reward.compute_score(
            "set", "A dog.", ["A bus."], {"objects": ["dog"]}
        )
        assert asyncio.run(verl) == pytest.approx(0.0)
        with pytest.raises(
            beholder.ConfigError, match="3 completions have 1 objects"
        ):
            asyncio.run(chair_reward(None, texts, objects=[["dog"]]))


def test_agreement_keeps_the_list_and_drops_other_fields() -> None:
    meta = {"objects": ["dog"], "hint": 5}
    (row,) = scored_items(
        [Item("a", "A dog.", judgments={"overall": 3}, meta=meta)], ()
    )
    assert (row.meta, row.judgments) == ({"objects": ["dog"]}, {})


def test_the_whole_set_counts_all_objects_alike() -> None:
    # 1 of 2 and 0 of 4: the mean is 1/4, of all objects 1/6
    items = [
        Item("a", "A dog and a lamp.", ("A dog.",)),
        Item(
            "b",
            "A dog, a cat, a bus and a lamp.",
            ("A lamp, a bus, a cat and a dog.",),
        ),
    ]
    scores = CHAIR().score(items)
    counts = np.array([score.detail["statistics"] for score in scores])
    assert counts.tolist() == [[1, 2], [0, 4]]
    assert CHAIR().corpus(counts.sum(axis=0)) == {
        "corpus_chair_i": pytest.approx(1 / 6)
    }
    assert CHAIR().corpus(np.zeros(2)) == {"corpus_chair_i": 0.0}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_run_reads_the_list_from_its_file(form: str, tmp_path: Path) -> None:
    data = tmp_path / f"data.{form}"
    if form == "jsonl":
        rows = [
            {
                "id": "a",
                "candidate": "A dog and a lamp.",
                "objects": ["dog", "tree"],
            },
            {"id": "b", "candidate": "A bus.", "objects": [["bus", "coach"]]},
        ]
        data.write_text(
            "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
        )
    else:
        data.write_text(
            'id,candidate,objects\na,A dog and a lamp.,"[""dog"", ""tree""]"\n'
            'b,A bus.,"[[""bus"", ""coach""]]"\n',
            "utf-8",
        )
    run = beholder.score(data, ["chair"], out=tmp_path / "run", workers=1)
    outcomes = {
        item.id: item_outcome for item, item_outcome in run.outcomes("chair")
    }
    values = {
        id: item_outcome.values
        for id, item_outcome in outcomes.items()
        if isinstance(item_outcome, ItemScore)
    }
    assert values["a"] == {
        "chair_i": 0.5,
        "chair_s": 1.0,
        "recall": 0.5,
        "objects": 2.0,
    }
    assert values["b"] == {
        "chair_i": 0.0,
        "chair_s": 0.0,
        "recall": 1.0,
        "objects": 1.0,
    }
    assert run.summary["chair"].values["corpus_chair_i"].mean == pytest.approx(
        1 / 3
    )


def test_the_signature_names_the_parser() -> None:
    chair = metric("chair")
    signature_pattern = r"chair\|parser:builtin@[0-9a-f]{12}\+tokenizers@[^|]+\|code:[0-9a-f]{12}\|v:.+"
    assert re.fullmatch(
        signature_pattern, chair.signature(chair.identities(Tools()))
    )
    assert chair.signature().startswith("chair|parser:builtin|code:")
