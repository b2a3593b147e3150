"""Train the English parser: ``python -m training.english --data DATA --peer PEER --out WORK``.

Needs torch. Three stages, each kept in WORK so that a stopped run goes on where it was:

1. ``first``: the network on the treebanks alone;
2. ``silver``: words of image descriptions which it and another parser read alike. PEER is that
   parser, a spaCy package or folder with UD labels; for the shipped file it was the spaCy pipeline
   that this repository held before;
3. ``final``: the network goes on with treebanks, silver and captions made of both, and is written
   as the shipped file.

About 50 minutes on one core. Other processors round otherwise: expect the same figures within
half a point, not the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import random
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.tokens import Doc

from beholder.language import normalise
from beholder.language.network import FILES
from training.english import captions, corpora, fit, pipeline, silver
from training.english.examples import Document, Labels
from training.english.export import export
from training.english.nets import Trainable

STEPS = {"first": 2000, "final": 23_000}
FALLING = {"first": 400, "final": 3500}
ExtraDocuments = list[tuple[list[Document], float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    data, out = arguments.data, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    docs = corpora.treebanks(data, "train")
    labels = Labels.from_documents(docs)

    def learn(
        name: str, extra: ExtraDocuments, start: Trainable | None
    ) -> Trainable:
        def run() -> Trainable:
            return fit.study(
                docs,
                extra,
                labels,
                steps=STEPS[name],
                falling=FALLING[name],
                start=start,
            )

        trainable: Trainable = _load_or_make(out / f"{name}.pickle", run)
        return trainable

    first = learn("first", _extra_documents(docs, []), None)
    export(first, asdict(labels), out / "first")
    trees = _load_or_make(
        out / "silver.pickle",
        lambda: _silver(data, out / "first", arguments.peer),
    )
    extra = _extra_documents(docs, trees)
    final = learn("final", extra, first)
    export(final, asdict(labels), out)
    sizes = zip(
        ("silver", "captions", "silver captions", "templates"),
        extra,
        strict=True,
    )
    _write_metrics(
        out,
        {"treebanks": _size(docs)}
        | {name: _size(kind) for name, (kind, _) in sizes},
    )


def _extra_documents(
    docs: list[Document], trees: list[Document]
) -> ExtraDocuments:
    """Return the documents used besides the treebanks, with the share of each kind in a pass."""
    rng = random.Random(0)
    gold, silver_ = (
        corpora.complete_sentences(docs),
        corpora.complete_sentences(trees),
    )
    words = captions.Words([*gold, *silver_])
    all_words = captions.Words(
        sentence.as_words() for doc in trees or docs for sentence in doc
    )
    return [
        (trees, 0.5),
        (corpora.alone(captions.captions(gold, words, rng)), 0.25),
        (corpora.alone(captions.captions(silver_, words, rng)), 0.5),
        (corpora.alone(captions.templates(all_words, rng)), 0.25),
    ]


def _load_or_make(path: Path, make: Callable[[], Any]) -> Any:
    """Load the pickled result of an earlier call, or make and store it."""
    if not path.exists():
        path.write_bytes(pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


def _silver(data: Path, first: Path, peer: str) -> list[Document]:
    own_parser, peer_parser = pipeline.load(first), spacy.load(peer)
    texts = [
        [token.text for token in own_parser.make_doc(paragraph.text)]
        for text in corpora.descriptions(
            data / "descriptions" / "iiw_descriptions.jsonl.xz"
        )
        for paragraph in normalise.paragraphs(text)
    ]
    return list(
        silver.agreed(
            *(
                nlp.pipe(Doc(nlp.vocab, words) for words in texts)
                for nlp in (own_parser, peer_parser)
            )
        )
    )


def _size(docs: list[Document]) -> int:
    return sum(len(sentence.words) for doc in docs for sentence in doc)


def _write_metrics(out: Path, words: dict[str, int]) -> None:
    """Write the description of the training data and results, beside the files."""
    data = b"".join((out / name).read_bytes() for name in FILES)
    metrics = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "batches": STEPS,
        "words": words,
    }
    text = json.dumps(metrics, indent=2) + "\n"
    (out / "english.metrics.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
