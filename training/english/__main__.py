"""Train the English parser: ``python -m training.english --data DATA --out WORK``.

Needs torch. Three stages, each kept in WORK so that a stopped run goes on where it was:

1. the teacher: the package's MiniLM with its upper layers fine-tuned on the treebanks;
2. silver: the teacher's trees of image descriptions;
3. the student, from scratch on treebanks and silver, written as the file that is shipped.

About a quarter of an hour on one core that multiplies in half precision. Runs on other processors
round otherwise: expect the same figures within half a point, not the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from dataclasses import asdict
from pathlib import Path

import spacy
import torch
from torch import nn

from beholder.language import normalise
from training.english import corpora, fit, silver
from training.english.examples import Document, Labels, Sentence
from training.english.export import export
from training.english.nets import Student, Teacher

FILE = "english.safetensors"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    data, out = arguments.data, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    docs = corpora.treebanks(data, "train")
    labels = Labels.of(docs)
    rng = random.Random(0)
    captions = corpora.captions(docs, rng)
    teacher = _teacher(out / "teacher.pt", docs, captions[::3], labels)
    trees = _silver(out / "silver.json", data, teacher, labels)
    net = fit.study(
        docs, captions, trees, corpora.captions(trees, rng), labels, told=_Told(out / "student.pt")
    )
    export(net, asdict(labels), out / FILE)
    counts = {
        "treebank_words": _size(docs),
        "treebank_caption_words": _size(captions),
        "silver_sentences": sum(map(len, trees)),
        "silver_words": _size(trees),
    }
    _write_metrics(out, counts)


class _Told:
    """Prints the loss and keeps the student."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, step: int, loss: float, net: Student) -> None:
        print(f"step {step} of {fit.STUDENT_STEPS}: loss {loss:.3f}", flush=True)
        torch.save(net.state_dict(), self._path)


def _teacher(
    path: Path, docs: list[Document], captions: list[Document], labels: Labels
) -> nn.Module:
    if path.exists():
        net = Teacher(labels)
        net.load_state_dict(torch.load(path))
        return net.eval()
    net = fit.teach(docs, captions, labels)
    torch.save(net.state_dict(), path)
    return net


def _silver(path: Path, data: Path, teacher: Teacher, labels: Labels) -> list[Document]:
    if not path.exists():
        nlp = spacy.blank("en")
        texts = silver.descriptions(data / "descriptions" / "iiw_descriptions.jsonl.xz")
        words = [
            [token.text for token in nlp.make_doc(paragraph.text)]
            for text in texts
            for paragraph in normalise.paragraphs(text)
        ]
        trees = silver.trees(teacher, labels, words)
        path.write_text(json.dumps([[asdict(one) for one in doc] for doc in trees]))
    return [[Sentence(**one) for one in doc] for doc in json.loads(path.read_text())]


def _size(docs: list[Document]) -> int:
    return sum(len(sentence.words) for doc in docs for sentence in doc)


def _write_metrics(out: Path, counts: dict[str, int]) -> None:
    """What was trained on what, beside the file."""
    data = (out / FILE).read_bytes()
    metrics = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "teacher_epochs": fit.TEACHER_EPOCHS,
        "student_steps": fit.STUDENT_STEPS,
        "corpus": counts,
    }
    text = json.dumps(metrics, indent=2) + "\n"
    (out / "english.metrics.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
