"""A study as a data set: judgments without names, a Croissant file and a data card."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from beholder._version import __version__
from beholder.base.files import write_jsonl, write_text
from beholder.errors import ConfigError
from beholder.kinds.annotation.agreement import agreement_of
from beholder.kinds.annotation.records import (
    CANNOT,
    DONE,
    REMARK,
    AnnotationUnit,
    Row,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.run.reliability import Reliability

_UNITS, _JUDGMENTS = "units.jsonl", "judgments.jsonl"
_COLUMNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    _UNITS: {
        "unit": ("sc:Text", "Id of the unit that people judged."),
        "kind": ("sc:Text", "What the content is: text or picture."),
        "place": ("sc:Integer", "Place among those of its kind, from 1."),
        "content": ("sc:Text", "The text, or the file name of the picture."),
    },
    _JUDGMENTS: {
        "unit": ("sc:Text", "Id of the unit."),
        "annotator": ("sc:Text", "Code of the person, such as P1."),
        "part": ("sc:Text", "Part of the judgment, as the task names it."),
        "value": ("sc:Text", "Value of the part, written as JSON."),
    },
}
"""Columns of each file with type and description."""


@dataclass(frozen=True)
class StudySet:
    """The content of a published study.

    Attributes:
        title: Name of the data set.
        licence: Address or name of the licence; None if none was given.
        task: Name of the task.
        rows_by_file: Rows of each file.
        n_people: People with a finished judgment.
        n_judgments: Finished judgments.
        agreement: Agreement of the people, under their codes.
        left_out: What is not in the files, a sentence each.
    """

    title: str
    licence: str | None
    task: str
    rows_by_file: Mapping[str, Sequence[Row]]
    n_people: int
    n_judgments: int
    agreement: Sequence[Reliability]
    left_out: Sequence[str]

    @property
    def licence_words(self) -> str:
        """The licence, or that it is missing."""
        return self.licence or "not given; ask the authors before any use"

    @property
    def description(self) -> str:
        """One paragraph on the data set."""
        n_units = len({row["unit"] for row in self.rows_by_file[_UNITS]})
        return (
            f"{self.n_judgments:,} judgments of {n_units:,} units by {self.n_people} people, task"
            f" {self.task}. Licence: {self.licence_words}. Left out: {'; '.join(self.left_out)}."
        )


def publish_study(
    study: AnnotationStudy, folder: Path, title: str, licence: str | None
) -> StudySet:
    """Write the finished judgments of a study as a data set that others can use.

    Args:
        study: The study.
        folder: Folder for ``units.jsonl``, ``judgments.jsonl``, ``croissant.json`` and
            ``README.md``; must be new or empty.
        title: Name of the data set.
        licence: Address or name of its licence; None is stated as missing.

    Raises:
        ConfigError: The study has no finished judgment, or the folder is not empty.

    Source: the Croissant format 1.0 of MLCommons (docs.mlcommons.org/croissant).
    """
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty; name a new folder")
    study_set = _study_set(study, title, licence)
    for name, rows in study_set.rows_by_file.items():
        write_jsonl(folder / name, rows)
    croissant = describe_croissant(study_set, folder)
    text = json.dumps(croissant, ensure_ascii=False, indent=1) + "\n"
    write_text(folder / "croissant.json", text)
    write_text(folder / "README.md", "\n".join(_card_lines(study_set)) + "\n")
    return study_set


def _study_set(
    study: AnnotationStudy, title: str, licence: str | None
) -> StudySet:
    judged = study.judged()
    if not judged:
        raise ConfigError(
            f"{study.folder} has nothing to publish: no judgment is finished; judge more with"
            f" beholder annotate serve {study.folder}"
        )
    names = [
        name
        for name in study.annotators()
        if any(name in judgments.by for judgments in judged)
    ]
    # Codes replace names before anything else is computed: tables of agreement name raters.
    codes = {name: f"P{place}" for place, name in enumerate(names, start=1)}
    coded = [
        replace(
            judgments,
            by={codes[name]: state for name, state in judgments.by.items()},
        )
        for judgments in judged
    ]
    rows: dict[str, Sequence[Row]] = {
        _UNITS: [row for each in coded for row in _unit_rows(each.unit)],
        _JUDGMENTS: [
            {
                "unit": each.unit.id,
                "annotator": code,
                "part": part,
                "value": json.dumps(value, ensure_ascii=False),
            }
            for each in coded
            for code, state in each.by.items()
            for part, value in state.items()
            if part not in (DONE, REMARK)
        ],
    }
    return StudySet(
        title=title,
        licence=licence,
        task=study.task.full_name,
        rows_by_file=rows,
        n_people=len(names),
        n_judgments=sum(len(each.by) for each in coded),
        agreement=agreement_of(study.task, coded, list(codes.values())),
        left_out=_describe_left_out(study),
    )


def _unit_rows(unit: AnnotationUnit) -> Iterator[Row]:
    # A path may name folders of the machine or of a person; the name of the file is enough.
    pictures = (
        PurePath(shown.image).name if shown.image else shown.caption
        for shown in unit.pictures
    )
    for kind, contents in (("text", unit.texts), ("picture", pictures)):
        for place, content in enumerate(contents, start=1):
            yield {
                "unit": unit.id,
                "kind": kind,
                "place": place,
                "content": content,
            }


def _describe_left_out(study: AnnotationStudy) -> list[str]:
    counts = Counter(study.design.unshown)
    for unit, who, state in study.judgments():
        counts["judgments of units with a known answer"] += bool(unit.gold)
        counts["judgments of the adjudicator"] += (
            who == study.design.adjudicator
        )
        counts["judgments that are not finished"] += not state.get(DONE)
        counts["judgments that a unit cannot be judged"] += bool(
            state.get(CANNOT)
        )
        counts["remarks"] += REMARK in state
    counted = [f"{n:,} {what}" for what, n in counts.items() if n]
    return [*counted, "names of people", "the pictures themselves"]


def describe_croissant(study_set: StudySet, folder: Path) -> dict[str, Any]:
    """Return the Croissant 1.0 description of the files of a data set in a folder, as JSON-LD."""
    licence = {"license": study_set.licence} if study_set.licence else {}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": _one_line(study_set.title),
        "description": study_set.description,
        **licence,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": "application/jsonlines",
                "sha256": hashlib.sha256(
                    (folder / name).read_bytes()
                ).hexdigest(),
            }
            for name in study_set.rows_by_file
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": PurePath(file).stem,
                "name": PurePath(file).stem,
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{PurePath(file).stem}/{column}",
                        "name": column,
                        "description": words,
                        "dataType": data_type,
                        "source": {
                            "fileObject": {"@id": file},
                            "extract": {"column": column},
                        },
                    }
                    for column, (data_type, words) in columns.items()
                ],
            }
            for file, columns in _COLUMNS.items()
        ],
    }


def _card_lines(study_set: StudySet) -> Iterator[str]:
    yield from (f"# {_one_line(study_set.title)}", "")
    yield from (_one_line(study_set.description), "", "## Files", "")
    yield from ("| file | column | meaning |", "|---|---|---|")
    for file, columns in _COLUMNS.items():
        for column, (_, words) in columns.items():
            yield f"| {file} | {column} | {words} |"
    yield from ("", "## Agreement", "")
    if not study_set.agreement:
        yield "None: no unit was judged by two people."
    for reliability in study_set.agreement:
        for coefficient in reliability.coefficients:
            figure = coefficient.reason
            if coefficient.value is not None:
                figure = f"{coefficient.value:.3f}"
            if coefficient.interval is not None:
                low, high = coefficient.interval.low, coefficient.interval.high
                figure = f"{figure} (95 % interval {low:.3f} to {high:.3f})"
            elif coefficient.value is not None and coefficient.reason:
                figure = f"{figure} (no interval: {coefficient.reason})"
            yield f"- {reliability.what}, {coefficient.name}: {figure}"
    yield from ("", "## Licence", "", _one_line(study_set.licence_words))
    yield from ("", "## Left out", "")
    yield from (f"- {sentence}" for sentence in study_set.left_out)
    yield from ("", f"Written by beholder {__version__}.")


def _one_line(text: str) -> str:
    # A title with a line break would begin a block of its own.
    return " ".join(text.split())


_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""Terms of Croissant 1.0, which a file must declare itself."""
