"""Train the English pipeline: ``python -m training.english --data DATA --out WORK``."""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy

from training.english import corpora, factual
from training.english.fit import fit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    data, out = arguments.data, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    vocab = spacy.blank("en").vocab
    captions = factual.read(data / "factual_sg" / "train.csv.gz")
    base = corpora.ud_documents(vocab, data, "train") + corpora.copies(vocab, data, captions, 0)
    print("base tokens", sum(map(len, base)))
    corpora.save(base, out / "base.spacy")
    corpora.save(corpora.ud_documents(vocab, data, "dev"), out / "dev.spacy")
    fit(out / "base.spacy", out / "dev.spacy", out / "base", steps=3000)


if __name__ == "__main__":
    main()
