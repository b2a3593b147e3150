"""Published files with questions and criteria; rows are written after the forms in their sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beholder.data import read_items
from beholder.errors import DataError, ItemError
from beholder.metrics.asked.rows import criteria_of, questions_of
from beholder.options import DataOptions
from beholder.records import Item


def read_rows(
    tmp_path: Path, rows: list[Any], **options: Any
) -> list[Item | DataError]:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return list(read_items(path, DataOptions(**options), textless=True))


def read_item(tmp_path: Path, row: dict[str, Any]) -> Item:
    (item,) = read_rows(tmp_path, [row])
    assert isinstance(item, Item), item
    return item


QUESTION = {
    "question": "Where does the cat sit?",
    "choices": ["on grass", "on a chair"],
    "answer": "on grass",
    "category": ["Spatial", "Location"],
    "source": "gpt",
}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "nat_1", "domain": "natural", "questions": [QUESTION]},
        {"id": "nat_1"} | QUESTION,
    ],
)
def test_captionqa_rows_become_questions_with_options(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    item = read_item(tmp_path, row)
    (question,) = questions_of(item)
    assert item.id == "nat_1"
    assert (question.question, question.answer) == (
        "Where does the cat sit?",
        "on grass",
    )
    assert question.options == ("on grass", "on a chair")
    assert question.category == ("Spatial", "Location")


QUESTIONS = [
    {"question": "What moves?", "answer": "a tram", "category": "background"}
]


@pytest.mark.parametrize(
    "row",
    [
        {"v_1": QUESTIONS},
        {
            "video_name": "v_1",
            "caption": "A tram passes.",
            "qa_list": QUESTIONS,
        },
    ],
)
def test_vdc_rows_become_open_questions(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    item = read_item(tmp_path, row)
    (question,) = questions_of(item)
    assert item.id == "v_1"
    assert (question.question, question.answer, question.options) == (
        "What moves?",
        "a tram",
        (),
    )


def test_vcapsbench_rows_become_yes_no_questions(tmp_path: Path) -> None:
    qa = ["color*Is the car red?*Yes", "count*Are there two dogs?*no."]
    first, second = questions_of(
        read_item(tmp_path, {"video_id": "7", "qa": qa})
    )
    assert (first.question, first.answer, first.category) == (
        "Is the car red?",
        "yes",
        "color",
    )
    assert second.answer == "no"


def test_capricorn_rows_become_criteria_by_dimension(tmp_path: Path) -> None:
    events = {
        "main_sbj_evts": ["<man 1> closes a window."],
        "bg_desc": ["It is night."],
    }
    item = read_item(
        tmp_path, {"video_id": "9", "duration": 120.5, "events": events}
    )
    assert [(c.text, c.dimension, c.subjects) for c in criteria_of(item)] == [
        ("<man 1> closes a window.", "subject_event", ("<man 1>",)),
        ("It is night.", "background", ()),
    ]
    assert item.group == {"seconds": "up to 300"}


@pytest.mark.parametrize(
    ("task", "annotation", "criteria"),
    [
        ("object_number", {"dogs": 2}, ["The number of dogs is 2."]),
        ("object_color", {"door": "red"}, ["The colour of the door is red."]),
        ("event", "A man falls.", ["A man falls."]),
        (
            "dynamic_object_number",
            {"cars": 3, "bikes": 1},
            ["The number of cars is 3.", "The number of bikes is 1."],
        ),
    ],
)
def test_capability_rows_become_criteria_of_their_task(
    tmp_path: Path, task: str, annotation: object, criteria: list[str]
) -> None:
    row = {
        "file_id": "f1",
        "file_path": "f1.mp4",
        "annotation": annotation,
        "task": task,
    }
    criteria_read = criteria_of(read_item(tmp_path, row))
    assert [c.text for c in criteria_read] == criteria
    assert {c.dimension for c in criteria_read} == {task}


def test_capeval_rows_become_criteria_of_their_checklist(
    tmp_path: Path,
) -> None:
    lake = {"Tags": "object", "Question": "Does the caption mention a lake?"}
    colour = {"Tags": "color", "Question": "Is the lake described as green?"}
    checklists = {
        "instance_checklist": [lake],
        "attribute_checklist": [colour, lake],
        "text_checklist": [],
    }
    picture = {"id": "SO900", "img_path": "SO900.webp"}
    item = read_item(tmp_path, {**picture, **checklists})
    # An entry that is there twice counts twice, as in the published code.
    assert [(c.text, c.dimension, c.category) for c in criteria_of(item)] == [
        (lake["Question"], "instance", "object"),
        (colour["Question"], "attribute", "color"),
        (lake["Question"], "attribute", "object"),
    ]
    assert (item.id, item.images) == ("SO900", ("SO900.webp",))
    assert item.group == {"category": "Scene & Object"}
    item = read_item(tmp_path, {**picture, "gt_caption": "A green lake."})
    assert item.references == ("A green lake.",)
    (error,) = read_rows(tmp_path, [{**picture, "instance_checklist": ["?"]}])
    assert "has columns of CAPEval, but not its published form" in str(error)


def test_dream_rows_become_events_as_criteria(tmp_path: Path) -> None:
    content = [{"type": "text", "reference": "A dog runs. It jumps."}]
    row = {
        "messages": [{"content": "?"}, {"content": content}],
        "extra_info": {
            "events": ["A dog runs.", "The dog jumps."],
            "n_events": 2,
        },
        "dataset": "DREAM_Live-action",
        "idx": 3,
    }
    item = read_item(tmp_path, row)
    assert (item.id, item.references) == ("3", ("A dog runs. It jumps.",))
    assert [c.text for c in criteria_of(item)] == [
        "A dog runs.",
        "The dog jumps.",
    ]


def test_carebench_rows_become_events_and_objects_as_criteria(
    tmp_path: Path,
) -> None:
    row = {
        "idx": 5,
        "video": "5.mp4",
        "caption": "A boy in red runs.",
        "events": ["A boy runs."],
        "objects": ["a boy in red"],
    }
    item = read_item(tmp_path, row)
    assert item.references == ("A boy in red runs.",)
    assert item.candidate == ""
    assert [c.dimension for c in criteria_of(item)] == ["event", "object"]


def test_tuna_rows_become_criteria_with_events_and_groups(
    tmp_path: Path,
) -> None:
    elements = [{"type": "camera", "content": "The camera pans.", "weight": 2}]
    row = {
        "index": "t1",
        "events": [{"event": "A pan.", "visual_elements": elements}],
    }
    item = read_item(
        tmp_path, {**row, "visual_characteristic": "High-Dynamic,Multi-Scene"}
    )
    (criteria_read,) = criteria_of(item)
    assert (
        criteria_read.text,
        criteria_read.dimension,
        criteria_read.weight,
    ) == (
        "The camera pans.",
        "camera",
        2.0,
    )
    assert criteria_read.event == "A pan."
    assert item.group == {"High-Dynamic": "yes", "Multi-Scene": "yes"}


def test_what_is_not_of_the_form_is_reported_with_its_row(
    tmp_path: Path,
) -> None:
    (error,) = read_rows(
        tmp_path, [{"video_id": "7", "qa": ["Is the car red? Yes"]}]
    )
    assert isinstance(error, DataError)
    assert "has columns of VCapsBench, but not its published form" in str(
        error
    )
    assert "there are: video_id, qa" in str(error)
    assert "Is the car red?" in str(error)


def test_questions_in_rows_of_their_own_add_up(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    second = QUESTION | {
        "question": "What colour is the cat?",
        "choices": ["grey", "red"],
    }
    rows = [{"id": "n"} | QUESTION, {"id": "n"} | second | {"answer": "grey"}]
    questions.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    (item,) = read_rows(
        tmp_path, [{"id": "n", "caption": "A cat."}], references_from=questions
    )
    assert isinstance(item, Item)
    assert [question.answer for question in questions_of(item)] == [
        "on grass",
        "grey",
    ]


def test_captions_by_id_get_the_subset_of_their_film_and_keep_their_system(
    tmp_path: Path,
) -> None:
    film = {
        "messages": [{}, {"content": [{"reference": "A dog runs."}]}],
        "extra_info": {"events": ["A dog runs."]},
        "dataset": "DREAM/videvo",
        "idx": 3,
    }
    films = tmp_path / "films.jsonl"
    films.write_text(json.dumps(film) + "\n", "utf-8")
    captions = tmp_path / "captions.json"
    captions.write_text(json.dumps({"3": "A dog sits."}), "utf-8")
    (item,) = read_items(captions, DataOptions(references_from=films))
    assert isinstance(item, Item), item
    assert (item.id, item.candidate, item.group) == (
        "3",
        "A dog sits.",
        {"dataset": "DREAM/videvo"},
    )
    (item,) = read_rows(
        tmp_path,
        [{"id": "3", "caption": "A.", "group": {"system": "m"}}],
        references_from=films,
    )
    assert isinstance(item, Item), item
    assert item.group == {"dataset": "DREAM/videvo", "system": "m"}
    texts = (
        tmp_path / "texts.jsonl"
    )  # of other data the group may be the author
    texts.write_text(
        json.dumps({"id": "3", "caption": "A.", "group": {"system": "x"}}),
        "utf-8",
    )
    (item,) = read_items(captions, DataOptions(references_from=texts))
    assert isinstance(item, Item), item
    assert item.group == {}


def test_a_column_of_criteria_can_be_mapped(tmp_path: Path) -> None:
    row = {"caption": "A dog sits.", "points": ["A dog sits."]}
    (item,) = read_rows(tmp_path, [row], map={"criteria": "points"})
    assert isinstance(item, Item), item
    assert criteria_of(item)[0].text == "A dog sits."
    (item,) = read_rows(tmp_path, [row])
    assert isinstance(item, Item), item
    with pytest.raises(
        ItemError, match=r"--map criteria=COLUMN.*there are: points"
    ):
        criteria_of(item)


def test_an_answer_that_is_neither_yes_nor_no_is_named(tmp_path: Path) -> None:
    (error,) = read_rows(
        tmp_path, [{"video_id": "7", "qa": ["color*Is the car red?*Maybe"]}]
    )
    assert "Maybe' is neither yes nor no" in str(error)


def test_a_published_file_without_texts_names_the_option_for_references(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"v_1": QUESTIONS}) + "\n", "utf-8")
    (error,) = read_items(path)
    assert "--references-from" in str(error)


def test_captions_of_a_model_find_the_criteria_of_their_film(
    tmp_path: Path,
) -> None:
    annotations = tmp_path / "annotations.jsonl"
    events = {"main_sbj_evts": ["A man closes a window."]}
    annotations.write_text(
        json.dumps({"video_id": "9", "events": events}) + "\n", "utf-8"
    )
    (item,) = read_rows(
        tmp_path,
        [{"video_id": "9", "caption": "A man opens it."}],
        references_from=annotations,
    )
    assert isinstance(item, Item)
    assert (item.id, item.candidate, item.references) == (
        "9",
        "A man opens it.",
        (),
    )
    assert criteria_of(item)[0].text == "A man closes a window."
