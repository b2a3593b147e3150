"""Measure the built-in English analysis: ``python -m benchmarks.language --data DATA [PART]...``.

Parts: ud, factual, coreference, statements, speed (default: all), and ud-dev, the treebanks'
development sets. DATA holds ``ud_english``, ``factual_sg``, ``descriptions`` and the file
``oracle_facts.jsonl``. ``--factual`` and ``--oracle`` name other files of the same form, such as a
split that was kept back.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from training.english import corpora, factual, pipeline
from training.english import ud as treebank

from beholder.language import model, parse_many, scene_graph
from benchmarks import gum_coreference, oracle_statements

PARTS = ("ud", "factual", "coreference", "statements", "speed")


def ud(data: Path, split: str = "test") -> Iterator[str]:
    """Tags, heads and sentences on the treebanks, from raw text; spaCy's scorer."""
    from spacy.pipeline.dep_parser import parser_score  # type: ignore[import-not-found]
    from spacy.scorer import Scorer
    from spacy.training import Example

    nlp = pipeline.load()
    for name in corpora.TREEBANKS:
        docs = treebank.documents(nlp.vocab, corpora.path(data, name, split))
        examples = [Example(nlp(doc.text), doc) for doc in docs]
        scores = parser_score(examples)
        for attribute in ("pos", "tag"):
            scores |= Scorer.score_token_attr(examples, attribute)
        yield (
            f"{name} {split}: UPOS {scores['pos_acc']:.4f}  XPOS {scores['tag_acc']:.4f}  "
            f"UAS {scores['dep_uas']:.4f}  LAS {scores['dep_las']:.4f}  "
            f"sentence F1 {scores['sents_f']:.4f}"
        )


def factual_scores(path: Path) -> Iterator[str]:
    """Tuple F1 per caption and share of captions with all tuples right."""
    captions = factual.read_captions(path)
    values, exact = [], 0
    documents = parse_many(caption.text for caption in captions)
    for caption, document in zip(captions, documents, strict=True):
        candidate_tuples = factual.graph_tuples(scene_graph(document))
        gold = factual.gold_tuples(caption)
        values.append(factual.tuple_f1(candidate_tuples, gold))
        exact += candidate_tuples == gold
    yield (
        f"FACTUAL {path.name}: tuple F1 {sum(values) / len(values):.4f}  "
        f"set match {exact / len(values):.4f}  ({len(values)} captions)"
    )


def speed(data: Path) -> Iterator[str]:
    """Words a second through parse, coreference and graph, and memory, over three passes."""
    texts = list(
        corpora.descriptions(
            data / "descriptions" / "iiw_descriptions.jsonl.xz"
        )
    )
    list(parse_many(texts[:20]))  # load
    for number in range(3):
        start, words, entities = time.process_time(), 0, 0
        for document in parse_many(texts):
            words += len(document)
            entities += len(scene_graph(document).entities)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield (
            f"pass {number + 1}: {words} words, {entities} entities, "
            f"{words / seconds:,.0f} words per second of CPU, peak memory {memory:.0f} MB"
        )


def load_time() -> Iterator[str]:
    """Seconds of CPU to load the model."""
    start = time.process_time()
    model.EnglishParser()
    yield f"model loaded in {time.process_time() - start:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--factual", type=Path)
    parser.add_argument("--oracle", type=Path)
    arguments = parser.parse_args()
    data = arguments.data
    tables = {
        "ud": lambda: ud(data),
        "ud-dev": lambda: ud(data, "dev"),
        "factual": lambda: factual_scores(
            arguments.factual or data / "factual_sg" / "dev.csv.gz"
        ),
        "coreference": lambda: gum_coreference.report(
            data / "ud_english" / "en_gum_open-ud-dev.conllu.xz"
        ),
        "statements": lambda: oracle_statements.report(
            arguments.oracle or data / "oracle_facts.jsonl"
        ),
        "speed": lambda: speed(data),
    }
    for line in load_time():
        print(line)
    for part in arguments.parts or PARTS:
        for line in tables[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
