"""Rows of published data sets as rows of ours."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from beholder.data.row import RowError, columns_of, shorten
from beholder.text import without_marks

Row = Mapping[str, Any]

_SPEAKER = ("gender", "state", "district")


def from_published(row: Any) -> Any:
    """Convert a row of a published form to one of ours; return other rows unchanged.

    Raises:
        RowError: A part of it does not have the published form.
    """
    if not isinstance(row, Mapping):
        return row
    # A form is recognized by its columns; a row that has them and still cannot
    # be read is an error, because another reading would be silently wrong.
    for data, is_one, converted in _FORMS:
        if is_one(row):
            try:
                return converted(row)
            except RowError:
                raise
            except (
                AttributeError,
                LookupError,
                TypeError,
                ValueError,
            ) as error:
                missing_note = " is missing" * isinstance(error, KeyError)
                why = f"{error}{missing_note}"
                raise RowError(
                    f"has columns of {data}, but not its published form: {why}, in"
                    f" {shorten(row)}; {columns_of(row)}; write other data in our own fields"
                ) from None
    return row


def is_published(row: Row) -> bool:
    """Return whether a row has the columns of a published form."""
    return any(is_one(row) for _, is_one, _ in _FORMS)


def _vaani(row: Row) -> dict[str, object]:
    group_columns = ("language", *_SPEAKER)
    columns = (
        "transcript",
        "referenceImage",
        "speakerID",
        "audio",
        *group_columns,
    )
    fields = _spoken(row, "Vaani", *columns)
    fields["group"] |= {
        name: row[name] for name in group_columns if row.get(name)
    }
    return fields


def _places(row: Row) -> dict[str, object]:
    return {
        **_spoken(row, "Places", "asr_text", "image", "speaker", "uttid"),
        "id": row["uttid"],
    }


def _spoken(
    row: Row, dataset: str, text: str, image: str, who: str, *used_columns: str
) -> dict[str, Any]:
    transcript = row[text]
    # Published sets have rows without a transcript; they cannot serve as
    # references.
    if transcript is None or (
        isinstance(transcript, str) and not transcript.strip()
    ):
        raise RowError("the utterance was not transcribed", text)
    spoken = (
        " ".join(without_marks(transcript).split())
        if isinstance(transcript, str)
        else transcript
    )
    if not spoken:
        raise RowError(f"the utterance has no word: {transcript!r}", text)
    speaker = {"speaker": row[who]} if row.get(who) else {}
    # All metrics, judges and lengths read the words alone; the transcript is kept as published.
    original = {} if spoken == transcript else {"transcript": transcript}
    return {
        **_rest(row, text, image, who, *used_columns),
        **original,
        "references": [spoken],
        "images": [row[image]],
        "group": {"dataset": dataset, **speaker},
    }


def _rest(row: Row, *used_columns: str) -> dict[str, object]:
    return {
        key: value
        for key, value in row.items()
        if key not in used_columns and value is not None
    }


def _captionqa(row: Row) -> dict[str, object]:
    """Convert a row with the questions of a picture, or with one question."""
    question = ("question", "choices", "answer", "category")
    fields = _rest(row, "questions", *question, "image_paths", "domain")
    if row.get("image_paths"):
        fields.setdefault("images", row["image_paths"])
    if row.get("domain"):
        fields["group"] = {"domain": row["domain"]}
    fields["questions"] = [
        _question_fields(entry) | {"options": [*entry["choices"]]}
        for entry in row.get("questions") or [row]
    ]
    return fields


def _question_fields(question: Row) -> dict[str, object]:
    category = question.get("category") or ""
    return {
        "question": question["question"],
        "answer": question["answer"],
        "category": category,
    }


def _vdc_line(row: Row) -> dict[str, object]:
    ((video, questions),) = row.items()
    return {
        "id": video,
        "questions": [_question_fields(question) for question in questions],
    }


def _vdc_hub(row: Row) -> dict[str, object]:
    return {
        **_rest(row, "video_name", "caption", "qa_list"),
        "id": row["video_name"],
        "references": [row["caption"]],
        "questions": [
            _question_fields(question) for question in row["qa_list"]
        ],
    }


def _vcapsbench(row: Row) -> dict[str, object]:
    questions = []
    for line in row["qa"]:
        dimension, question, answer = (
            part.strip() for part in line.split("*")[:3]
        )
        if answer.lower().rstrip(".") not in ("yes", "no"):
            raise RowError(
                f"the answer of {line!r} is neither yes nor no", "qa"
            )
        truth = answer.lower().startswith("yes")
        questions.append(
            {"question": question, "answer": truth, "category": dimension}
        )
    return {
        **_rest(row, "video_id", "qa"),
        "id": row["video_id"],
        "questions": questions,
    }


_CAPRICORN = {
    "main_sbj_evts": "subject_event",
    "main_sbj_ints": "subject_interaction",
    "bg_desc": "background",
    "trans_desc": "transition",
    "minor_evts": "minor",
}


def _capricorn(row: Row) -> dict[str, object]:
    criteria = [
        criterion
        for key, name in _CAPRICORN.items()
        for criterion in _criteria(row["events"].get(key) or (), name)
    ]
    # Subjects are in angle brackets, as in "<man> opens <door>".
    for criterion in criteria:
        if criterion["dimension"].startswith("subject"):
            subjects = re.findall("<[^<>]+>", criterion["text"])
            criterion["subjects"] = subjects
    video = row.get("video_id")
    fields = _rest(row, "events") | {
        "id": row["video_path"] if video is None else video,
        "criteria": criteria,
    }
    fields.pop("video_id", None)
    # The group is the shortest of these lengths that the film fits in.
    for limit in (120, 300, 480, 601):
        if row.get("duration", math.inf) <= limit:
            fields["group"] = {"seconds": f"up to {limit}"}
            break
    return fields


_CAPABILITY = {
    "object_number": "The number of {name} is {value}.",
    "dynamic_object_number": "The number of {name} is {value}.",
    "object_color": "The colour of the {name} is {value}.",
    "object_category": "There is {value}.",
    "camera_angle": "The camera angle is {value}.",
    "camera_movement": "The camera movement is {value}.",
    "style": "The style is {value}.",
    "scene": "The scene is {value}.",
    "character_identification": "The character is {value}.",
    "OCR": 'The text "{value}" can be read.',
}
"""Criterion of an annotation by task; other tasks are annotated with sentences."""


def _capability(row: Row) -> dict[str, object]:
    form, annotation = (
        _CAPABILITY.get(row["task"], "{value}"),
        row["annotation"],
    )
    # Counts and colours are objects of names and values; other annotations are
    # sentences.
    pairs = (
        annotation.items()
        if isinstance(annotation, Mapping)
        else [("", annotation)]
    )
    texts = (form.format(name=name, value=value) for name, value in pairs)
    return {
        **_rest(row, "file_id", "annotation", "task"),
        "id": row["file_id"],
        "criteria": _criteria(texts, row["task"]),
    }


_CHECKLIST = "_checklist"


def _capeval(row: Row) -> dict[str, object]:
    """Convert a row of CAPEval: the checklist of a picture, or its caption."""
    checklists = {
        name: row[name] or () for name in row if name.endswith(_CHECKLIST)
    }
    criteria = [
        {
            "text": entry["Question"],
            "dimension": name.removesuffix(_CHECKLIST),
            "category": entry.get("Tags") or "",
        }
        for name, entries in checklists.items()
        for entry in entries
    ]
    caption = row.get("gt_caption")
    # The category of a picture is the first two letters of its name.
    prefix = PurePosixPath(row["img_path"]).name[:2].upper()
    return {
        **_rest(row, "id", "img_path", "gt_caption", *checklists),
        "id": row.get("id") or row["img_path"],
        "images": [row["img_path"]],
        "group": {"category": _CAPEVAL.get(prefix, prefix)},
        **({"criteria": criteria} if criteria else {}),
        **({"references": [caption]} if caption else {}),
    }


_CAPEVAL = {
    "SO": "Scene & Object",
    "PA": "People & Activity",
    "TI": "Text & Interface",
    "DK": "Design & Knowledge",
}
"""Categories of CAPEval by the letters that names of pictures begin with."""


def _dream(row: Row) -> dict[str, object]:
    reference = row["messages"][1]["content"][0]["reference"]
    return {
        "id": row["idx"] if row.get("idx") is not None else row["vid"],
        "references": [reference],
        "group": {"dataset": row.get("dataset") or "DREAM-1K"},
        "criteria": _criteria(row["extra_info"]["events"], "event"),
    }


def _carebench(row: Row) -> dict[str, object]:
    return {
        **_rest(row, "events", "objects", "caption", "idx"),
        "id": row["idx"] if row.get("idx") is not None else row["video"],
        "references": [row["caption"]] if row.get("caption") else [],
        "criteria": _criteria(row["events"], "event")
        + _criteria(row["objects"], "object"),
    }


def _tuna(row: Row) -> dict[str, object]:
    criteria = [
        {
            "text": element["content"],
            "dimension": element["type"],
            "weight": element["weight"],
        }
        | {"event": event["event"]}
        for event in row["events"]
        for element in event["visual_elements"]
    ]
    tags = (row.get("visual_characteristic") or "").split(",")
    group = {tag.strip(): "yes" for tag in tags if tag.strip()}
    other_fields = _rest(row, "index", "events", "visual_characteristic")
    return {
        **other_fields,
        "id": row["index"],
        "criteria": criteria,
        "group": group,
    }


def _criteria(texts: Iterable[str], dimension: str) -> list[dict[str, Any]]:
    return [{"text": text, "dimension": dimension} for text in texts]


def _has(*columns: str) -> Callable[[Row], bool]:
    """Return a predicate: whether a row has all of these columns."""
    return lambda row: all(column in row for column in columns)


def _has_list(row: Row, field: str, kind: type) -> bool:
    """Return whether a field is a list of values of a type that is not empty."""
    value = row.get(field)
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and isinstance(value[0], kind)
    )


def _first(row: Row, field: str) -> Row:
    """Return the first object of a list in a field; empty without such a list."""
    return row[field][0] if _has_list(row, field, dict) else {}


def _within(row: Row, field: str) -> Row:
    """Return the object in a field; empty if the field is not an object."""
    return row[field] if isinstance(row.get(field), Mapping) else {}


_Form = tuple[str, Callable[[Row], bool], Callable[[Row], dict[str, object]]]
_FORMS: Sequence[_Form] = (
    (
        "Vaani",
        _has("referenceImage", "transcript"),
        _vaani,
    ),
    (
        "Places",
        _has("uttid", "asr_text", "image"),
        _places,
    ),
    (
        "CaptionQA",
        lambda row: "choices" in _first(row, "questions"),
        _captionqa,
    ),
    (
        "CaptionQA",
        _has("question", "choices", "answer"),
        _captionqa,
    ),
    (
        "VDC",
        lambda row: len(row) == 1 and "answer" in _first(row, *row),
        _vdc_line,
    ),
    (
        "VDC",
        _has("video_name", "qa_list", "caption"),
        _vdc_hub,
    ),
    (
        "VCapsBench",
        lambda row: "video_id" in row and _has_list(row, "qa", str),
        _vcapsbench,
    ),
    (
        "CapRiCorn-1K",
        lambda row: "main_sbj_evts" in _within(row, "events"),
        _capricorn,
    ),
    (
        "CAPability",
        _has("file_id", "annotation", "task"),
        _capability,
    ),
    (
        "CAPEval",
        lambda row: (
            "img_path" in row
            and ("gt_caption" in row or "instance_checklist" in row)
        ),
        _capeval,
    ),
    (
        "DREAM-1K",
        lambda row: (
            "messages" in row and "events" in _within(row, "extra_info")
        ),
        _dream,
    ),
    (
        "CaReBench",
        lambda row: all(_has_list(row, k, str) for k in ("events", "objects")),
        _carebench,
    ),
    ("TUNA", lambda row: "visual_elements" in _first(row, "events"), _tuna),
)
"""Published data, how a row of them is recognized, and how it is read: our reading of the sources
named in ``docs/checklists-and-questions.md``."""
