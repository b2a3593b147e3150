"""Train the English pipeline: ``python -m training.english --data DATA --out WORK``.

Four stages, each kept in WORK so that a stopped run goes on where it was:

1. ``base`` and ``peer``: two models from treebanks, caption-like and swapped copies (seeds 0, 1);
2. silver: captions whose parse gives the gold graph, descriptions on which both models agree;
3. ``final``: a wider model from scratch on treebanks, copies, templates and silver;
4. the packed file, with its metrics beside it.

One process, one core: about 50 minutes of processor time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import spacy
from spacy.about import __version__ as spacy_version
from spacy.language import Language
from spacy.tokens import DocBin

from beholder.language import model
from training.english import corpora, factual, silver
from training.english.fit import NARROW, fit

STEPS = {"base": 3000, "peer": 3000, "final": 5000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    data, out = arguments.data, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    captions = training_captions(data)
    make_base_corpus(data, out, captions)
    teachers = [
        stage(out, name, "base.spacy", seed=seed, size=NARROW)
        for seed, name in enumerate(("base", "peer"))
    ]
    counts = make_final_corpus(data, out, captions, teachers)
    nlp = stage(out, "final", "final.spacy", seed=0)
    write_model(nlp, out, counts)


def training_captions(data: Path) -> list[factual.Caption]:
    """FACTUAL train without any caption of dev; the test split is not at hand."""
    held_out = {c.text.lower() for c in factual.read(data / "factual_sg" / "dev.csv.gz")}
    captions = factual.read(data / "factual_sg" / "train.csv.gz")
    return [caption for caption in captions if caption.text.lower() not in held_out]


def make_base_corpus(data: Path, out: Path, captions: list[factual.Caption]) -> None:
    """Treebanks with copies, and the development set."""
    if (out / "base.spacy").exists():
        return
    vocab = spacy.blank("en").vocab
    docs = corpora.ud_documents(vocab, data, "train")
    corpora.save(corpora.ud_documents(vocab, data, "dev"), out / "dev.spacy")
    corpora.save(docs + corpora.copies(vocab, data, captions, 0), out / "base.spacy")


def make_final_corpus(
    data: Path, out: Path, captions: list[factual.Caption], teachers: list[Language]
) -> dict[str, int]:
    """Treebanks, copies, templates and silver; returns how much of each there is."""
    file = out / "final.json"
    if file.exists():
        counts: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
        return counts
    vocab = spacy.blank("en").vocab
    docs = corpora.ud_documents(vocab, data, "train")
    docs += corpora.copies(vocab, data, captions, 0, per_template=corpora.PER_TEMPLATE)
    texts = list(silver.descriptions(data / "descriptions" / "iiw_descriptions.jsonl.xz"))
    silver_captions = silver.caption_silver(teachers, captions)
    silver_sentences = silver.description_silver(teachers[0], teachers[1], texts)
    box = DocBin(docs=docs, store_user_data=False)
    for doc in (*silver_captions, *silver_sentences, *silver_sentences):
        box.add(doc)
    box.to_disk(out / "final.spacy")
    counts = {
        "treebank_and_copy_tokens": sum(map(len, docs)),
        "silver_captions": len(silver_captions),
        "silver_caption_tokens": sum(map(len, silver_captions)),
        "silver_sentences": len(silver_sentences),
        "silver_sentence_tokens": sum(map(len, silver_sentences)),
    }
    file.write_text(json.dumps(counts), encoding="utf-8")
    return counts


def stage(
    out: Path, name: str, corpus: str, seed: int, size: dict[str, object] | None = None
) -> Language:
    """A training run, or its result if it is there."""
    if not (out / name / "done").exists():
        fit(out / corpus, out / "dev.spacy", out / name, steps=STEPS[name], seed=seed, size=size)
        (out / name / "done").touch()
    return spacy.load(out / name / "model-best")


def write_model(nlp: Language, out: Path, counts: dict[str, int]) -> None:
    """The packed model and its metrics."""
    packed = model.pack(nlp)
    (out / model.FILE).write_bytes(packed)
    performance = nlp.meta["performance"]
    names = ("pos_acc", "tag_acc", "morph_acc", "dep_uas", "dep_las", "sents_f")
    metrics = {
        "sha256": hashlib.sha256(packed).hexdigest(),
        "bytes": len(packed),
        "spacy": spacy_version,
        "steps": STEPS,
        "corpus": counts,
        "dev": {name: round(performance[name], 4) for name in names},
    }
    text = json.dumps(metrics, indent=2) + "\n"
    (out / "english.metrics.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
