"""A folder with every file that commands in the docs and in help name, small and made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from annotated_data import DESCRIPTIONS, items, picture, write_rows
from annotating import finish
from beholder.backends import Answer, Sample, Usage
from beholder.judges.answer_file import AnswerFile
from beholder.judges.answers import Record
from beholder.kinds.annotation.study import AnnotationStudy
from toy.annotated_sets import BATTLES, write_coarse_sets
from toy.photos import PLACES
from toy.reviewer import write_reviews

Row = Mapping[str, Any]
N_PHOTOS = 48
N_SORTED = 420
"""Rows that a study is drawn from; their pictures are those of the collection again."""
MARK = {"kind": "attribute", "severity": "major"}
_CUES = (
    "A boat lies at a pier.",
    "Two people walk to it.",
    "They sail out under a grey sky.",
)


def make_world(folder: Path, run: Callable[[str], object]) -> None:
    """Write the files; ``run`` takes the arguments of a command and makes what only one makes."""
    sample = files("beholder.samples") / "descriptions.jsonl"
    (folder / "descriptions.jsonl").write_bytes(sample.read_bytes())
    (folder / "alts.csv").write_text(
        "image,alt\na.jpg,A red door in a wall of old stone\n"
    )
    (folder / "site").mkdir()
    page = '<html lang="en"><img src="a.jpg" alt="A red door in a wall of old stone"></html>'
    (folder / "site" / "index.html").write_text(page)
    rows = [
        json.loads(line) for line in sample.read_text("utf-8").splitlines()
    ]
    items(folder).rename(folder / "data.jsonl")
    _judged(folder, rows)
    _own_forms(folder)
    _photos(folder / "photos")
    _pages(folder)
    _sequences(folder)
    _people_and_models(folder / "photos")
    write_rows(folder / "sorted.jsonl", _sorted("photos/"))
    for row in (reviews := write_reviews(folder / "reviews.jsonl")):
        row["references"] = ["Text 1 of 1, quality 1."]
    write_rows(folder / "reviews.jsonl", reviews)
    write_rows(
        folder / "texts.jsonl",
        [{**row, "video": row["images"][0]} for row in rows],
    )
    _checks(folder)
    _runs(run)
    _study(folder, run)
    _proof(folder, run)
    _filter(folder, run)
    _series(folder, run)
    _systems(folder)
    _cache(folder / "cache")


def _judged(folder: Path, rows: list[Row]) -> None:
    """Descriptions with a label each, and known sets in our schema."""
    labelled_rows = [
        {**row, "judgments": {"overall": n % 5 + 1, "right": n % 3 > 0}}
        for n, row in enumerate(rows)
    ]
    write_rows(folder / "judged.jsonl", labelled_rows)
    sets = write_coarse_sets(folder / "sets")
    subset = [row["img"] for row in BATTLES]
    (folder / "three_plus_persons.json").write_text(json.dumps(subset))
    texts = [
        {
            "id": f"{name}/{system}",
            "image": f"{name}.jpg",
            "candidate": texts[system],
            "references": [texts["reference"]],
            "judgments": {"expert_ratings": [n % 4 + 1, n % 3 + 1]},
        }
        for name, texts in DESCRIPTIONS.items()
        for n, system in enumerate(("east", "north", "south"))
    ]
    write_rows(sets / "flickr8k_expert.jsonl", texts)
    pairs = [
        {
            "id": f"{category}/{name}",
            "image": f"{name}.jpg",
            "references": [texts["reference"]],
            "candidate": texts["north"],
            "candidate_b": texts["south"],
            "judgments": {"preferred": 1, "category": category},
        }
        for category in ("HC", "HI", "HM", "MM")
        for name, texts in DESCRIPTIONS.items()
    ]
    write_rows(sets / "pascal50s.jsonl", pairs)
    marked = [
        {
            "id": name,
            "image": f"{name}.jpg",
            "references": [texts["reference"]],
            "candidate": texts["north"],
            "judgments": {"mistakes": [[2, 6]], "omissions": [[2, 6]]},
        }
        for name, texts in DESCRIPTIONS.items()
    ]
    write_rows(sets / "docent_granular.jsonl", marked)
    mistakes = [{**row, "judgments": {"mistakes": [[2, 6]]}} for row in marked]
    write_rows(sets / "detailverifybench.jsonl", mistakes)


def _own_forms(folder: Path) -> None:
    """Files of other forms: columns of one's own, COCO, subtitles."""
    lines = [
        f'"{texts["north"]}","{texts["reference"]}"'
        for texts in DESCRIPTIONS.values()
    ]
    (folder / "captions.csv").write_text(
        "\n".join(["text,gt", *lines]), encoding="utf-8"
    )
    write_rows(
        folder / "captions.jsonl",
        [
            {
                "id": name,
                "candidate": texts["south"],
                "references": [texts["reference"]],
            }
            for name, texts in DESCRIPTIONS.items()
        ],
    )
    results = [
        {"image_id": n, "caption": texts["north"]}
        for n, texts in enumerate(DESCRIPTIONS.values())
    ]
    (folder / "results.json").write_text(json.dumps(results))
    coco = {
        "images": [
            {"id": n, "file_name": f"{n}.jpg"}
            for n in range(len(DESCRIPTIONS))
        ],
        "annotations": [
            {"id": n, "image_id": n, "caption": texts["reference"]}
            for n, texts in enumerate(DESCRIPTIONS.values())
        ],
    }
    (folder / "captions_val2014.json").write_text(json.dumps(coco))
    (folder / "described").mkdir()
    for name, cues in (
        ("film.en.vtt", _CUES),
        ("described/film.vtt", _CUES[:2]),
    ):
        parts = [
            f"00:0{n}.000 --> 00:0{n + 1}.000\n{cue}\n"
            for n, cue in enumerate(cues)
        ]
        (folder / name).write_text("WEBVTT\n\n" + "\n".join(parts))


def _photos(folder: Path) -> None:
    """Dated pictures with an index and categories."""
    folder.mkdir()
    lines = ["id,file,date,place"]
    for n in range(N_PHOTOS):
        name = f"p{n:03d}"
        picture(folder / f"{name}.jpg", f"#{(n * 7919) % 0xFFFFFF:06x}", name)
        lines.append(
            f"{name},{name}.jpg,1928-{3 + n // 6:02d},{PLACES[n * len(PLACES) // N_PHOTOS]}"
        )
    (folder / "index.csv").write_text("\n".join(lines))
    # Without an ending, so that commands about the folder do not read them, too.
    again = folder / "all"
    again.mkdir()
    for n in range(N_SORTED):
        (again / f"p{n:03d}").hardlink_to(folder / f"p{n % N_PHOTOS:03d}.jpg")
    categories = {"nature": "plants, water, sky", "trade": "markets, shops"}
    for place in (folder, folder.parent):
        (place / "categories.json").write_text(json.dumps(categories))


def _pages(folder: Path) -> None:
    """Pictures with the pages that show them, and what people say they need there."""
    rows = [
        {
            "id": f"p{n:03d}",
            "candidate": "A small sign." if n % 2 else "A picture.",
            "image": f"photos/p{n:03d}.jpg",
            "references": ["A small sign on plain ground."],
            "context": {
                "caption": "Our town, 1928",
                "page_text": "Signs of the town.",
            },
            "judgments": {"decision": "describe" if n % 3 else "empty"},
        }
        for n in range(6)
    ]
    write_rows(folder / "pages.jsonl", rows)


def _sequences(folder: Path) -> None:
    """Sequences by id, and the same written out."""
    chosen = {f"{source}-{n}": (source, range(n, N_PHOTOS, 9 + n)) for n, source in
              enumerate(("human", "human", "maps", "maps", "random", "random"))}  # fmt: skip
    by_id, whole = [], []
    for name, (source, places) in chosen.items():
        frames = [f"p{n:03d}" for n in places]
        by_id.append({"id": name, "source": source, "frames": frames})
        frame_rows = [
            {"id": frame, "image": f"photos/{frame}.jpg"} for frame in frames
        ]
        whole.append({"id": name, "source": source, "frames": frame_rows})
    for file in ("mine.jsonl", "all.jsonl"):
        write_rows(folder / file, by_id)
    write_rows(folder / "stories.jsonl", whole)


def _sorted(place: str) -> list[Row]:
    ratings = [
        {"name": "nature", "rating": "High"},
        {"name": "trade", "rating": "High"},
    ]
    return [
        {
            "id": f"p{n:03d}",
            "image": f"{place}all/p{n:03d}",
            "references": ["A small sign on plain ground."],
            "group": {"category": ratings[n % 2]["name"]},
            "meta": {"categories": [ratings[n % 2]]},
        }
        for n in range(N_SORTED)
    ]


def _people_and_models(folder: Path) -> None:
    """People's descriptions of photographs, and models' in two languages."""
    rows = _sorted("")
    write_rows(folder / "people.jsonl", rows[:N_PHOTOS])
    write_rows(folder / "sorted.jsonl", rows)
    write_rows(
        folder / "captions.jsonl",
        [
            {
                "id": f"{row['id']}/{system}",
                "images": [row["image"]],
                "candidate": text,
                "references": row["references"],
                "group": {
                    "system": system,
                    "language": "English",
                    "category": "nature",
                },
            }
            for row in rows[:3]
            for system, text in (
                ("a", "A small sign."),
                ("b", "A large sign on plain ground."),
            )
        ],
    )


def _checks(folder: Path) -> None:
    """Graphs and answers about presence that people gave."""
    dog = {
        "head": "dog",
        "heads": ["dog"],
        "attributes": [],
        "attribute_sentence_idxs": {},
    }
    graph = {"entities": [{**dog, "text_spans": [[2, 5]]}], "relations": []}
    for name in ("graphs.jsonl", "annotated.jsonl"):
        write_rows(folder / name, [{"text": "A dog.", "graph": graph}])
    question = {
        "kind": "entity",
        "text": "dog",
        "target": "A dog.",
        "side": "candidate",
    }
    write_rows(
        folder / "answers.jsonl",
        [
            {**question, "present": True},
            {**question, "target": "A cat.", "present": False},
        ],
    )


def _runs(run: Callable[[str], object]) -> None:
    """Runs that other commands read."""
    for name in ("first", "second", "model-a", "model-b"):
        run(f"score descriptions.jsonl -m vcs -m bleu -o runs/{name}")
    run("score data.jsonl -m posh -o runs/posh")
    run(
        "score photos/captions.jsonl -m dcscore(direction='both',verify='reference') -o runs/both"
    )
    for name in ("one-judge", "another-judge"):
        run(
            f"narrate compare stories.jsonl --embedder handcrafted -o runs/{name}"
        )


def _study(folder: Path, run: Callable[[str], object]) -> None:
    """A study that an annotator has begun, and what somebody else said."""
    run(
        "annotate marks data.jsonl -o studies/marks --annotators anna,ben --prepare"
    )
    study = AnnotationStudy.open(folder / "studies/marks")
    for annotator in ("anna", "ben"):
        finish(study, annotator, "harbour-north", {"mistakes:2-6": MARK})
    study.close()
    run("annotate export studies/marks --format judgments -o others.jsonl")


def _systems(folder: Path) -> None:
    """Texts of two captioners about the same pictures."""
    rows = [
        {
            "id": f"{n}/{system}",
            "image": f"photos/p{n:03d}.jpg",
            "candidate": text,
            "references": [f"A red boat with number {n} lies at a pier."],
            "group": {"system": system},
            "dollars": dollars,
        }
        for n in range(20)
        for system, text, dollars in (
            ("large", f"A red boat with number {n} lies at a pier.", 0.004),
            ("small", "A black cat sleeps on a green sofa.", 0.0004),
        )
    ]
    write_rows(folder / "systems.jsonl", rows)


def _proof(folder: Path, run: Callable[[str], object]) -> None:
    """A proof of which all texts are read, with its certificate."""
    proof = folder / "proofs" / "first"
    run(
        "accept start captions.jsonl --at-most 0.02 --seed 417 -o proofs/first"
    )
    run(
        "annotate reading proofs/first/order.jsonl -o proofs/first/people --prepare"
    )
    study = AnnotationStudy.open(proof / "people")
    for unit in study.positions():
        finish(study, "annotator-1", unit, {"level": "none"})
    study.close()
    run("accept certificate proofs/first -o proof.json")


def _filter(folder: Path, run: Callable[[str], object]) -> None:
    """A finished filter with a sample that somebody read."""
    run("filter captions.jsonl -o filtered --workers 1")
    run("filter sample filtered -o filtered/check.jsonl")
    lines = (folder / "filtered/check.jsonl").read_text(encoding="utf-8")
    names = [json.loads(line)["id"] for line in lines.split("\n") if line]
    write_rows(
        folder / "read.jsonl", [{"id": name, "bad": False} for name in names]
    )


def _series(folder: Path, run: Callable[[str], object]) -> None:
    """A series of eight runs, so that it has learned."""
    run("watch init watched -m length --anchor descriptions.jsonl")
    for week in range(8):
        rows = [
            {
                "id": f"{week}-{n}",
                "candidate": f"A boat {'or two ' * (n % 3)}.",
            }
            for n in range(20)
        ]
        write_rows(folder / "week.jsonl", rows)
        run(f"watch add watched week.jsonl --at 2026-11-{week + 1:02}")


def _cache(folder: Path) -> None:
    """A cache with one answer."""
    folder.mkdir()
    file = AnswerFile(folder / "answers.sqlite")
    answer = Answer((Sample("5", "stop"),), "m-1", usage=Usage(1200, 0, 3))
    file.put_answer(
        Record(
            "digest",
            "presence",
            "presence.v1@x",
            "openai:m",
            "m-1",
            0,
            answer,
            0.5,
        )
    )
    file.close()
