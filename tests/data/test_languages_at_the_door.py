"""A language has one form, however a row spells it, for everything that reads rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import beholder
from beholder.data import (
    read_frames,
    read_items,
    read_reviews,
    read_storylines,
)
from beholder.errors import DataError
from beholder.kinds.agreement.load import load
from beholder.kinds.annotation.tasks import task_named
from beholder.lint.linting import lint
from beholder.options import DataOptions
from beholder.records import Item
from beholder.text.languages import (
    base_language,
    canonical_language,
    language_named,
)
from toy.cases import each_case

GERMAN = (
    "German",
    "german ",
    "de",
    "DE",
    "deu",
    "ger",
    "de-Latn",
    "deu_Latn",
    "Deutsch",
)

PLACES: Mapping[str, Any] = {
    "field": lambda language: {"language": language},
    "other name": lambda language: {"lang": language},
    "group": lambda language: {"group": {"language": language, "system": "a"}},
    "column": lambda language: {"group.language": language},
    "meta": lambda language: {"meta": {"language": language}},
}


def write(
    folder: Path, *rows: Mapping[str, Any], name: str = "rows.jsonl"
) -> Path:
    path = folder / name
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return path


@each_case("written", GERMAN)
def test_names_and_codes_of_a_language_are_one_code(written: str) -> None:
    assert canonical_language(written) == "de"


@each_case(
    ("written", "code"),
    [
        ("zh-Hans", "zh-Hans"),
        ("zh_hant", "zh-Hant"),
        ("ZH-HANT-tw", "zh-Hant-TW"),
        ("zh-cmn-Hant", "zh-Hant"),
        ("zho_Hans", "zh-Hans"),
        ("Chinese (Simplified)", "zh-Hans"),
        ("Chinese (Traditional)", "zh-Hant"),
        ("cmn", "zh"),
        ("pt_br", "pt-BR"),
        ("por-PT", "pt-PT"),
        ("Portuguese (Brazil)", "pt-BR"),
        ("Spanish (Latin America)", "es-419"),
        ("es-419", "es-419"),
        ("de_AT", "de-AT"),
        ("de-Latn-CH", "de-CH"),  # German is always written in Latin letters
        ("hin_Deva", "hi"),
        ("kor_Hang", "ko"),
        ("arb_Arab", "ar"),
        ("srp_Cyrl", "sr-Cyrl"),
        ("sl-rozaj", "sl-rozaj"),
        ("de-1996", "de-1996"),
        ("en-us-X-Lab", "en-US-x-lab"),
        (
            "English (Old)",
            "English (Old)",
        ),  # no tag; checks take it for English
        ("Norwegian", "no"),
        ("nob", "nb"),
        ("sr_Latn", "sr-Latn"),
        ("Farsi", "fa"),
        ("mai", "mai"),
        # Bibliographic and terminological codes of ISO 639-2, names in the language.
        ("ger", "de"),
        ("fre", "fr"),
        ("fra-CA", "fr-CA"),
        ("mac", "mk"),
        ("mkd", "mk"),
        ("tib", "bo"),
        ("bod", "bo"),
        ("alb", "sq"),
        ("iw", "he"),
        ("Čeština", "cs"),
        ("C\u030ces\u030ctina", "cs"),  # decomposed
        ("Македонски", "mk"),
        ("Tiếng Việt", "vi"),
        ("Pashto", "ps"),
        ("hi-Latn", "hi-Latn"),
        ("pan_Arab", "pa-Arab"),
        (
            "tlh-latn",
            "tlh-Latn",
        ),  # a language that is not known has a tag, too
        ("Klingon", "Klingon"),
        ("English and Hindi", "English and Hindi"),
        ("und", ""),
        (" ", ""),
    ],
)
def test_other_languages_have_their_code_or_stay_as_they_are(
    written: str, code: str
) -> None:
    assert canonical_language(written) == code


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("written", ["German", "deu"])
def test_an_item_has_its_language_in_its_group(
    tmp_path: Path, place: str, written: str
) -> None:
    row = {"id": "1", "candidate": "Ein Hund.", **PLACES[place](written)}
    (item,) = read_items(write(tmp_path, row))
    assert isinstance(item, Item)
    assert item.group["language"] == item.language == "de"
    assert not {"language", "lang", "group.language"} & set(item.meta)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", "id,candidate,group.language\n1,Ein Hund.,German\n"),
        ("rows.csv", "id;candidate;language\n1;Ein Hund.;deu\n"),
        ("rows.tsv", "id\tcandidate\tlang\n1\tEin Hund.\tde_Latn\n"),
    ],
)
def test_tables_have_it_in_a_column(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (item,) = read_items(tmp_path / name)
    assert isinstance(item, Item)
    assert item.group == {"language": "de"}


def test_parquet_and_mapped_columns_have_it_too(tmp_path: Path) -> None:
    row = {
        "id": "1",
        "candidate": "Ein Hund.",
        "group.language": "German",
        "tongue": "German",
    }
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([row]), tmp_path / "rows.parquet"
    )
    (item,) = read_items(tmp_path / "rows.parquet")
    assert isinstance(item, Item)
    assert item.group == {"language": "de"}
    path = write(
        tmp_path, {"id": "1", "candidate": "Ein Hund.", "tongue": "German"}
    )
    (mapped,) = read_items(path, DataOptions(map={"language": "tongue"}))
    assert isinstance(mapped, Item)
    assert mapped.group == {"language": "de"}


@pytest.mark.parametrize(
    "fields",
    [
        {"language": "en", "group": {"language": "Hindi"}},
        {"language": "en", "meta": {"language": "Hindi"}},
        {"lang": "en", "group": {"language": "Hindi"}},
    ],
)
def test_a_row_that_names_two_languages_is_refused_with_both(
    tmp_path: Path, fields: Mapping[str, Any]
) -> None:
    (wrong,) = read_items(
        write(tmp_path, {"id": "1", "candidate": "A dog.", **fields})
    )
    assert isinstance(wrong, DataError)
    assert "'en'" in wrong.reason
    assert "'Hindi'" in wrong.reason


def test_two_spellings_of_one_language_are_no_contradiction(
    tmp_path: Path,
) -> None:
    row = {
        "id": "1",
        "candidate": "A dog.",
        "language": "en-GB",
        "group": {"language": "English"},
    }
    (item,) = read_items(write(tmp_path, row))
    assert isinstance(item, Item)
    assert item.group == {"language": "en-GB"}  # the one that says more


@pytest.mark.parametrize(
    ("first", "second"), [("en-GB", "en-US"), ("zh-Hans", "zh-Hant-TW")]
)
def test_two_varieties_of_a_language_are_a_contradiction(
    tmp_path: Path, first: str, second: str
) -> None:
    row = {
        "id": "1",
        "candidate": "A dog.",
        "language": first,
        "group": {"language": second},
    }
    (wrong,) = read_items(write(tmp_path, row))
    assert isinstance(wrong, DataError)
    assert f"language {first!r} and group.language {second!r}" in wrong.reason


@each_case(
    ("written", "code", "name"),
    [
        ("zh-Hant", "zh", "Chinese"),
        ("zho_Hans", "zh", "Chinese"),
        ("Chinese (Traditional)", "zh", "Chinese"),
        ("pt-BR", "pt", "Portuguese"),
        ("sr-Cyrl", "sr", "Serbian"),
        ("de-CH-1996", "de", "German"),
        ("eng-GB", "en", "English"),
        ("English (Old)", "en", "English"),
        ("tlh-Latn", "tlh", None),
        ("", "", None),
    ],
)
def test_checks_see_the_language_without_script_and_region(
    written: str, code: str, name: str | None
) -> None:
    stored = canonical_language(written)
    assert canonical_language(stored) == stored
    assert (base_language(stored), language_named(stored)) == (code, name)


def test_varieties_are_groups_of_their_own_and_english_ones_english(
    tmp_path: Path,
) -> None:
    texts = {
        "pt-BR": "Um cachorro corre.",
        "pt_PT": "Um cão corre.",
        "zh-Hans": "一只狗在跑。",
    }
    texts |= {
        "zh-Hant": "一隻狗在跑。",
        "en-GB": "A grey dog runs.",
        "en-US": "A gray dog runs.",
    }
    rows = [
        {
            "id": language,
            "candidate": text,
            "references": [text],
            "language": language,
        }
        for language, text in texts.items()
    ]
    run = beholder.score(
        write(tmp_path, *rows), ["vcs", "length"], out=tmp_path / "run"
    )
    languages = ["pt-BR", "pt-PT", "zh-Hans", "zh-Hant", "en-GB", "en-US"]
    assert run.to_pandas()["group.language"].tolist() == languages
    good = [
        item.id
        for item, outcome in run.outcomes("vcs")
        if isinstance(outcome, beholder.ItemScore)
    ]
    assert good == ["en-GB", "en-US"]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("de_de", "de-DE"),
        ("German", "de"),
        ("ZH-hant", "zh-Hant"),
        ("und", ""),
        ("deu", "de"),
    ],
)
def test_pages_and_manifests_spell_languages_as_rows_do(
    tmp_path: Path, written: str, code: str
) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        f'<html lang="{written}"><img src="a.png" alt="Ein Hund">',
        encoding="utf-8",
    )
    manifest = tmp_path / "manifest.json"
    manifest.write_text(
        json.dumps(
            {
                "@context": "http://iiif.io/api/presentation/3/context.json",
                "id": "https://example.org/m",
                "type": "Manifest",
                "label": {written: ["Ein Hund"]},
                "items": [
                    {
                        "id": "https://example.org/c",
                        "type": "Canvas",
                        "summary": {written: ["Ein Hund am Strand"]},
                        "items": [],
                    }
                ],
            }
        ),
        encoding="utf-8",
    )
    table = write(
        tmp_path,
        {"image": "a.jpg", "alt": "Ein Hund", "lang": written},
        name="t.jsonl",
    )
    for path in (page, manifest, table):
        (place,) = lint([path]).occurrences
        assert (path.name, place.language) == (path.name, code)


@pytest.mark.parametrize("value", [5, True, ["de"], {"name": "de"}])
def test_a_language_that_is_no_text_is_refused(
    tmp_path: Path, value: object
) -> None:
    (wrong,) = read_items(
        write(tmp_path, {"id": "1", "candidate": "A dog.", "language": value})
    )
    assert isinstance(wrong, DataError)
    assert wrong.field == "language"


@pytest.mark.parametrize("value", [None, "", " ", "und"])
def test_a_language_that_is_not_stated_is_left_out(
    tmp_path: Path, value: object
) -> None:
    (item,) = read_items(
        write(tmp_path, {"id": "1", "candidate": "A dog.", "language": value})
    )
    assert isinstance(item, Item)
    assert (item.language, dict(item.group), dict(item.meta)) == ("", {}, {})


@pytest.mark.parametrize("place", PLACES)
def test_an_item_of_python_is_read_as_a_row_is(
    tmp_path: Path, place: str
) -> None:
    if place in ("group", "meta"):
        rows: list[Any] = [
            Item("1", "A dog.", ("A dog.",), **PLACES[place]("English"))
        ]
    else:
        rows = [
            {"id": "1", "candidate": "A dog.", "references": ["A dog."]}
            | PLACES[place]("eng")
        ]
    run = beholder.score(rows, ["length"], out=tmp_path / "run")
    assert run.to_pandas()["group.language"].tolist() == ["en"]


@pytest.mark.parametrize("place", PLACES)
def test_every_reader_of_rows_sees_the_language(
    tmp_path: Path, place: str
) -> None:
    fields = PLACES[place]
    ours = {
        "id": "1",
        "candidate": "Ein Hund.",
        "references": ["Ein Hund läuft."],
    }
    path = write(
        tmp_path, ours | fields("German") | {"judgments": {"overall": 3}}
    )

    # Metrics refuse, score and audit read by the same reader, and reports break down by groups.
    run = beholder.score(path, ["accord", "length"], out=tmp_path / "run")
    assert run.summary["accord"].n_failed == 1
    assert "German" in next(iter(run.summary["accord"].failures))
    table = run.to_pandas()
    assert table["group.language"].tolist() == ["de"]

    # agree and annotate
    assert [item.language for item in load(str(path)).items] == ["de"]
    rows = task_named("ratings").read(str(path), DataOptions(), [], None)
    assert [item.language for item in rows] == ["de"]

    # rank
    (reviews,) = read_reviews(
        write(tmp_path, {"id": "1", "texts": ["a", "b"], **fields("German")})
    )
    assert not isinstance(reviews, DataError)
    assert reviews.language == "de"

    # narrate
    frames = ["a", "b"]
    (line,) = read_storylines(
        write(tmp_path, {"id": "1", "frames": frames, **fields("German")})
    )
    assert not isinstance(line, DataError)
    assert line.group["language"] == "de"
    if place in ("field", "other name", "column"):
        (frame,) = read_frames(
            write(tmp_path, {"image": "a.jpg", **fields("German")})
        )
        assert not isinstance(frame, DataError)
        assert dict(frame.labels) == {"language": "de"}

    # lint
    english = "A brown dog runs along the beach with a red ball in its mouth."
    page = write(
        tmp_path,
        {"image": "a.jpg", "alt": english, **fields("German")},
        name="alt.jsonl",
    )
    rules = [finding.rule for finding in lint([page]).findings]
    assert "ALT205" in rules, rules


@pytest.mark.parametrize("place", PLACES)
def test_both_directions_keep_languages_apart(
    tmp_path: Path, place: str
) -> None:
    # The second language is one that nobody knows, so that English texts pass as written in it.
    texts = ("A brown dog runs.", "A red boat sails.")
    rows = [
        {
            "id": f"{number}-{language}",
            "image": f"{number}.jpg",
            "candidate": text,
            "references": [text],
            **PLACES[place](language),
        }
        for number, text in enumerate(texts)
        for language in ("English", "Klingon")
    ]
    run = beholder.score(
        write(tmp_path, *rows),
        ["dcscore(direction='both', verify='reference')"],
        out=tmp_path / "run",
        workers=1,
    )
    study = beholder.bidirectional(run)
    assert {pair.language for pair in study.pairs} == {"en", "Klingon"}
    assert "Change between languages" not in {
        part.title for part in study.omitted
    }
