"""Silver trees: parses of unlabelled text, kept where something independent says they are right."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from beholder.language import normalise
from beholder.language.parsers import parse_many
from beholder.language.scene import scene_graph
from training.english.factual import Caption, Tuples, gold_tuples, graph_tuples


def caption_silver(models: Sequence[Language], captions: Sequence[Caption]) -> list[Doc]:
    """Captions of which some model's parse gives the gold graph; the first such parse is kept."""
    kept: dict[int, Doc] = {}
    for model in models:
        left = [place for place in range(len(captions)) if place not in kept]
        texts = [captions[place].text for place in left]
        documents = parse_many(texts, model)
        agreed = [
            place
            for place, document in zip(left, documents, strict=True)
            if _agrees(graph_tuples(scene_graph(document)), gold_tuples(captions[place]))
        ]
        docs = model.pipe(captions[place].text for place in agreed)
        kept.update(zip(agreed, docs, strict=True))
    return [kept[place] for place in sorted(kept)]


def _agrees(found: Tuples, gold: Tuples) -> bool:
    """Whether objects and attributes are equal, and relations join the same objects."""

    def rough(tuples: Tuples) -> set[object]:
        return {t if len(t) < 3 else frozenset((t[0], t[2])) for t in tuples}

    return rough(found) == rough(gold)


def description_silver(first: Language, second: Language, texts: Sequence[str]) -> list[Doc]:
    """Sentences on which two models agree in every tag, head and relation, with a finite root."""
    paragraphs = [p.text for text in texts for p in normalise.paragraphs(text)]
    kept = []
    for one, two in zip(first.pipe(paragraphs), second.pipe(paragraphs), strict=True):
        for sentence in one.sents:
            if len(sentence) < 4 or not _is_finite(sentence.root.tag_, sentence):
                continue
            places = range(sentence.start, sentence.end)
            whole = two[sentence.start].is_sent_start and (
                sentence.end == len(two) or two[sentence.end].is_sent_start
            )
            if whole and all(_same(one, two, place) for place in places):
                kept.append(sentence.as_doc())
    return kept


def _is_finite(tag: str, sentence: object) -> bool:
    if tag in ("VBZ", "VBP", "VBD"):
        return True
    root = sentence.root  # type: ignore[attr-defined]
    return any(child.dep_ in ("cop", "aux", "aux:pass") for child in root.children)


def _same(one: Doc, two: Doc, place: int) -> bool:
    a, b = one[place], two[place]
    return a.tag_ == b.tag_ and a.pos_ == b.pos_ and a.dep_ == b.dep_ and a.head.i == b.head.i


def descriptions(path: Path) -> Iterator[str]:
    """The texts of the unlabelled descriptions."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]
