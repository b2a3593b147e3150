"""Transcripts of people who describe a picture aloud, in the forms in which they are published.

Vaani (data sets of the hub, Parquet): a row per utterance with the columns ``transcript``,
``referenceImage``, ``language`` and further ones about the speaker, such as ``speakerID``,
``gender``, ``state`` and ``district``; ``audio`` is not read. Places Audio Captions (a JSON file):
one object whose list ``data`` holds ``uttid``, ``speaker``, ``asr_text``, ``wav`` and ``image``;
the folders ``image_base_path`` and ``audio_base_path`` are those of its makers and are not read.

A transcript is what a person says about the picture: a reference. Pictures are looked for beside
the data file, under the names that the rows give.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beholder.data.row import RowError

_SPEAKER = ("gender", "state", "district")


def from_transcript(row: object) -> object:
    """A row of a published form as one of ours; any other row as it is.

    Raises:
        RowError: The utterance was not transcribed.
    """
    if not isinstance(row, Mapping):
        return row
    if {"referenceImage", "transcript"} <= set(row):
        return _vaani(row)
    if {"uttid", "asr_text", "image"} <= set(row):
        return _places(row)
    return row


def _vaani(row: Mapping[str, Any]) -> dict[str, Any]:
    rest = {
        key: value
        for key, value in row.items()
        if key not in ("audio", "transcript", "referenceImage", "language", "speakerID", *_SPEAKER)
        and value is not None
    }
    group = {"dataset": "Vaani", "language": row.get("language"), "speaker": row.get("speakerID")}
    group |= {name: row.get(name) for name in _SPEAKER}
    return {
        **rest,
        "references": [_said(row["transcript"], "transcript")],
        "images": [row["referenceImage"]],
        "group": {name: value for name, value in group.items() if value},
    }


def _places(row: Mapping[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in row.items() if k not in ("uttid", "asr_text", "image", "speaker")}
    group = {"dataset": "Places", "speaker": row.get("speaker")}
    return {
        **rest,
        "id": row["uttid"],
        "references": [_said(row["asr_text"], "asr_text")],
        "images": [row["image"]],
        "group": {name: value for name, value in group.items() if value},
    }


def _said(text: object, field: str) -> object:
    if text is None or (isinstance(text, str) and not text.strip()):
        raise RowError("the utterance was not transcribed", field)
    return text
