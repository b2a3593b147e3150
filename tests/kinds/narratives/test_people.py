"""People as judges of storylines: their file is read strictly, and each of them is a vote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.aio import run_sync
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.narratives.config import NarrateConfig
from beholder.kinds.narratives.judging import Vote
from beholder.kinds.narratives.people import PeopleVotes
from beholder.metrics import Tools
from beholder.records import Frame, Storyline

WALK = Storyline("walk", tuple(Frame(name) for name in "abc"))
TRIP = Storyline("trip", tuple(Frame(name) for name in "de"))


def write(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_annotators_without_a_rating_have_a_vote_without_a_value(
    tmp_path: Path,
) -> None:
    file = write(
        tmp_path / "r.jsonl",
        {"id": "walk", "ratings": {"ben": 4, "anna": 7}},
        {"id": "trip", "ratings": {"cleo": 9}},
        {"id": "elsewhere", "ratings": {"dan": 1}},
    )
    people = PeopleVotes.from_file(file, "ratings", [WALK, TRIP])
    assert people.votes["walk"] == ((Vote(0, 7), Vote(1, 4), Vote(2)),)
    assert people.votes["trip"] == ((Vote(0), Vote(1), Vote(2, 9)),)
    score = run_sync(people.evaluate(WALK, Tools()))
    assert score.values == {"rating": 5.5}


def test_steps_keep_their_breaks(tmp_path: Path) -> None:
    ratings = [
        {"rating": 8, "breaks": []},
        {"rating": 2, "breaks": ["time", "people"]},
    ]
    file = write(
        tmp_path / "s.jsonl", {"id": "walk", "steps": {"anna": ratings}}
    )
    people = PeopleVotes.from_file(file, "steps", [WALK, TRIP])
    assert people.votes == {
        "walk": (
            (Vote(0, 8, breaks=()),),
            (Vote(0, 2, breaks=("time", "people")),),
        )
    }
    assert run_sync(people.evaluate(WALK, Tools())).values == {"rating": 5.0}
    with pytest.raises(ItemError, match="no one rated it"):
        run_sync(people.evaluate(TRIP, Tools()))


def test_other_ratings_are_another_signature(tmp_path: Path) -> None:
    raters = [
        PeopleVotes.from_file(
            write(
                tmp_path / f"{n}.jsonl", {"id": "walk", "ratings": {"a": n}}
            ),
            "ratings",
            [WALK],
        ).signature()
        for n in (3, 4, 3)
    ]
    assert raters[0] == raters[2] != raters[1]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "walk"}, "'ratings' by annotator"),
        ({"id": 5, "ratings": {"a": 3}}, r"`str`, got `int` - at `\$.id`"),
        ({"id": "walk", "ratings": {"a": 0}}, r">= 1 - at `\$.ratings"),
        ({"id": "walk", "ratings": {"a": 11}}, r"<= 10 - at `\$.ratings"),
        ({"id": "walk", "ratings": {"a": "7"}}, r"`int`, got `str` - at"),
        ({"id": "walk", "ratings": {"a": True}}, r"`int`, got `bool` - at"),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, row: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as raised:
        PeopleVotes.from_file(
            write(tmp_path / "r.jsonl", row), "ratings", [WALK]
        )
    assert raised.value.line == 1


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([{"rating": 3, "breaks": []}], "list of 2 steps"),
        ([{"rating": 3, "breaks": ["mood"]}] * 2, "'mood' - at"),
        ("8, 3", r"`array`, got `str` - at `\$.steps"),
    ],
)
def test_wrong_steps_are_named(tmp_path: Path, steps: Any, words: str) -> None:
    file = write(tmp_path / "s.jsonl", {"id": "walk", "steps": {"a": steps}})
    with pytest.raises(DataError, match=words):
        PeopleVotes.from_file(file, "steps", [WALK])


def test_a_storyline_has_one_row_and_one_must_belong_to_the_run(
    tmp_path: Path,
) -> None:
    row = {"id": "walk", "ratings": {"a": 3}}
    with pytest.raises(DataError, match="twice"):
        PeopleVotes.from_file(
            write(tmp_path / "r.jsonl", row, row), "ratings", [WALK]
        )
    with pytest.raises(ConfigError, match="by the ids of the sequences"):
        PeopleVotes.from_file(
            write(tmp_path / "r.jsonl", row), "ratings", [TRIP]
        )


def test_people_judge_by_sight_and_are_never_asked(tmp_path: Path) -> None:
    def config(
        *judges: str, parts: Any = ("captions", "sight")
    ) -> NarrateConfig:
        return NarrateConfig("s.jsonl", tmp_path, parts, judges)

    both = config("people:r.jsonl", "openai:m")
    assert [(way.by, way.judge) for way in both.ways] == [
        ("captions", "openai:m"),
        ("sight", "people:r.jsonl"),
        ("sight", "openai:m"),
    ]
    assert both.models == ("openai:m",)
    with pytest.raises(ConfigError, match="--by sight"):
        config("people:r.jsonl")
    with pytest.raises(ConfigError, match="hybrid judging asks a model"):
        config("people:r.jsonl", parts=("hybrid",))
