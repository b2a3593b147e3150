"""A study as a data set for others: no names, every column described, digests of the files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from annotating import finish, study_of
from beholder.errors import ConfigError
from beholder.kinds.annotation.publish import publish_study


def test_a_published_study_has_codes_digests_and_a_card(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path / "a", "ratings")
    with pytest.raises(ConfigError, match="no judgment is finished"):
        publish_study(study, tmp_path / "set", "Ratings", None)
    for unit, ratings in {
        "street-south/candidate": (3, 4),
        "street-north/candidate": (8, 8),
    }.items():
        for who, rating in zip(("anna", "ben"), ratings, strict=True):
            remark = {"remark": "anna knows this street"}
            finish(study, who, unit, {"rating": rating, **remark})
    folder = tmp_path / "set"
    study_set = publish_study(study, folder, "Ratings\n# of streets", None)
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert set(texts) == {
        *("units.jsonl", "judgments.jsonl", "croissant.json", "README.md")
    }
    # Neither a name nor a remark, which may contain one.
    assert not [name for name, text in texts.items() if "anna" in text]
    assert str(tmp_path) not in "".join(texts.values())
    judgments = [json.loads(line) for line in texts["judgments.jsonl"].split("\n") if line]  # fmt: skip
    assert {(row["annotator"], row["part"], row["value"]) for row in judgments} == {
        ("P1", "rating", "3"), ("P2", "rating", "4"), ("P1", "rating", "8"), ("P2", "rating", "8"),
    }  # fmt: skip
    croissant = json.loads(texts["croissant.json"])
    for file in croissant["distribution"]:
        content = (folder / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
    described = {
        record_set["name"]: {field["name"] for field in record_set["field"]}
        for record_set in croissant["recordSet"]
    }
    assert described == {
        "units": {"unit", "kind", "place", "content"},
        "judgments": set(judgments[0]),
    }
    assert "license" not in croissant
    card = texts["README.md"]
    assert card.startswith("# Ratings # of streets\n")
    assert "4 judgments of 2 units by 2 people" in card
    assert "not given; ask the authors" in card
    assert "- 4 remarks\n" in card
    assert "alpha" in card
    assert study_set.n_people == 2
    with pytest.raises(ConfigError, match="is not empty"):
        publish_study(study, folder, "Ratings", None)
    licensed = tmp_path / "licensed"
    publish_study(study, licensed, "Ratings", "CC-BY-4.0")
    croissant = json.loads((licensed / "croissant.json").read_text("utf-8"))
    assert croissant["license"] == "CC-BY-4.0"
    study.close()
