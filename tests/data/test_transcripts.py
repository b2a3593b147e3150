"""Published forms of transcripts and .json files; the rows here are made up in these forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from beholder.data import read_items, sources
from beholder.errors import DataError
from beholder.kinds.generation.engine import word_limits
from beholder.records import Item

VAANI: dict[str, Any] = {
    "audio": {"bytes": b"RIFF", "path": "a.wav"},
    "language": "Hindi",
    "languagesKnown": "Hindi, Urdu",
    "speakerID": "S1",
    "gender": "Female",
    "state": "Bihar",
    "district": "Araria",
    "pincode": 854311,
    "stay(years)": "12",
    "isTranscriptionAvailable": "Yes",
    "transcript": "<noise> एक लाल स्कूटर {scooter} है </noise>",
    "referenceImage": "Generic_03.jpg",
}
PLACES: dict[str, Any] = {
    "audio_base_path": "/elsewhere/audio",
    "image_base_path": "/elsewhere/images",
    "data": [
        {
            "uttid": "U-1",
            "speaker": "S2",
            "asr_text": "एक कमरा है",
            "wav": "wavs/1.wav",
            "image": "a/abbey/gsun_1.jpg",
        },
        {
            "uttid": "U-2",
            "speaker": "S3",
            "asr_text": " ",
            "wav": "2.wav",
            "image": "b/2.jpg",
        },
    ],
}


def test_a_row_of_vaani_is_a_reference_with_its_speaker(
    tmp_path: Path,
) -> None:
    silent = VAANI | {"transcript": None, "isTranscriptionAvailable": "No"}
    table = pyarrow.Table.from_pylist([VAANI, silent])
    pyarrow.parquet.write_table(table, tmp_path / "vaani.parquet")
    item, missing = read_items(tmp_path / "vaani.parquet", textless=True)
    assert item == Item(
        "1", "", ("एक लाल स्कूटर है",), ("Generic_03.jpg",),
        group={
            "dataset": "Vaani", "language": "hi", "speaker": "S1", "gender": "Female",
            "state": "Bihar", "district": "Araria",
        },
        meta={
            "languagesKnown": "Hindi, Urdu", "pincode": 854311, "stay(years)": "12",
            "isTranscriptionAvailable": "Yes", "transcript": VAANI["transcript"],
        },
    )  # fmt: skip
    assert isinstance(missing, DataError)
    assert (missing.line, missing.field) == (2, "transcript")
    assert "was not transcribed" in missing.reason


def test_marks_of_the_transcript_are_no_words(tmp_path: Path) -> None:
    rows = [json.dumps({k: v for k, v in VAANI.items() if k != "audio"})]
    (tmp_path / "vaani.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (item,) = read_items(tmp_path / "vaani.jsonl", textless=True)
    assert isinstance(item, Item)
    assert word_limits("median", [item]) == (
        3,
        4,
    )  # four words, a gloss, two marks


def test_a_file_of_places_is_read_as_it_is_published(tmp_path: Path) -> None:
    (tmp_path / "hi.json").write_text(json.dumps(PLACES), encoding="utf-8")
    item, missing = read_items(tmp_path / "hi.json", textless=True)
    assert item == Item(
        "U-1", "", ("एक कमरा है",), ("a/abbey/gsun_1.jpg",),
        group={"dataset": "Places", "speaker": "S2"}, meta={"wav": "wavs/1.wav"},
    )  # fmt: skip
    assert isinstance(missing, DataError)
    assert (missing.line, missing.field) == (2, "asr_text")


def test_a_picture_outside_the_folder_is_refused_as_in_other_rows(
    tmp_path: Path,
) -> None:
    rows = [{**PLACES["data"][0], "image": "../../secret.jpg"}]
    (tmp_path / "hi.json").write_text(json.dumps(rows), encoding="utf-8")
    (error,) = read_items(tmp_path / "hi.json", textless=True)
    assert isinstance(error, DataError)
    assert error.field == "images[0]"


def test_other_rows_with_some_of_the_names_stay_as_they_are(
    tmp_path: Path,
) -> None:
    rows = [
        {"candidate": "a", "transcript": "b"},
        {"candidate": "c", "uttid": "d", "image": "e"},
    ]
    (tmp_path / "own.json").write_text(json.dumps(rows), encoding="utf-8")
    first, second = read_items(tmp_path / "own.json")
    assert isinstance(first, Item)
    assert isinstance(second, Item)
    assert first.meta == {"transcript": "b"}
    assert (second.id, second.meta) == ("2", {"uttid": "d"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ('{"rows": []}', "expected a list of rows"),
        ("3", "expected a list of rows"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_json_file_of_another_form_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_items(tmp_path / "x.json"))


def test_a_json_file_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[{"candidate": "a"}]'
    (tmp_path / "x.json").write_text(text)
    monkeypatch.setattr(sources, "MAX_JSON_BYTES", len(text))
    assert len(list(read_items(tmp_path / "x.json"))) == 1
    monkeypatch.setattr(sources, "MAX_JSON_BYTES", len(text) - 1)
    with pytest.raises(DataError, match=r"write it as \.jsonl"):
        list(read_items(tmp_path / "x.json"))
