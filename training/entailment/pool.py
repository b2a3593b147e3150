"""Pairs for ``distill.py``: labelled ones, ones kept back, and ones that only the teacher labels.

    python -m training.entailment.silver SILVER
    python -m training.entailment.pool SILVER OUT

Labelled are:

- the pairs of ``SHARED_DATA/nli``, which people labelled (SNLI, counterfactual SNLI, one exchanged
  word, monotonicity);
- ``statements.jsonl``: passages of ImageInWords descriptions (CC-BY-4.0) with statements that each
  says, leaves open or excludes, written for this model by language models that knew only the
  task. Half of what is left open concerns another thing than the passage speaks of, and half of
  the sentences are paraphrases with and without one wrong fact;
- ``exchanged.jsonl``: passages of two or more like things by four other such writers, and
  statements in which who does, has, wears or stands where is exchanged;
- ``near.jsonl``: passages of four more such writers, and statements that have the passage's words
  without its meaning (a closer relation, a more special word, a quality of another thing) or its
  meaning without its words;
- pairs that a program made: of ``exchanges.py``, in which who does, has or wears what is exchanged,
  of ``silver.py``, and with amounts (``amounts``);
- premises beside themselves and beside others;
- units that readers marked (``readings.py``): beside the sentence of the other text that is
  nearest, for the teacher also beside the whole text, and those that are not said also beside
  another sentence; and units of 200 minimal pairs (``minimal_pairs_2.jsonl``).

Premises whose SHA-256 begins below 10, every sixth passage, and a third of what readers marked are
kept back. Not labelled are captions of SNLI beside hypotheses of captions like
them, hypotheses of one caption beside each other, statements of captions beside captions like
theirs, and statements of ImageInWords descriptions beside other sentences of the same and of
similar descriptions. Hypotheses with an amount are only among labelled pairs (``amounts``): the
teacher takes "four women" for three. One pair a line: ``part``, ``source``, ``premise``,
``hypothesis``, ``label`` (a place in ``OPEN``, -1 for none) and ``weight``.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.static import StaticEmbedder
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.entailed import premises, undecided
from beholder.judges.builtin.gather import gather
from beholder.judges.builtin.numbers import numbers
from beholder.judges.builtin.reading import analysed
from beholder.kinds.agreement.suites.files import read_pairs
from beholder.language import parse, scene_graph
from beholder.language.statements import GraphUnit, graph_statements
from training.entailment import exchanges, silver
from training.entailment.readings import captions as of_captions
from training.entailment.readings import readings

SHARED = Path(__file__).parents[3] / "shared/data/nli"
PEOPLE = {
    "snli": 1.0,
    "counterfactual": 1.0,
    "one_word": 0.8,
    "monotonicity": 0.4,
}
"""Weight of a pair."""
WRITTEN = {
    name: Path(__file__).with_name(f"{name}.jsonl")
    for name in ("statements", "exchanged", "near")
}
SIXTH = 6
LABELS = ("entailment", "neutral", "contradiction")
KEPT_BACK = 10
EXCHANGED = ("roles", "passive", "attribute_exchange")
"""Kinds of minimal pairs whose altered words do not say which unit is wrong."""
OPEN = {"said": 0, "unsaid": 1, "contradicted": 2, "open": 3}
"""Labels of marks; 3 is neutral or contradicted."""
CONTRADICTED = 2.0
"""Weight of a contradicted unit."""
MINIMAL = Path(__file__).parents[1] / "readings/minimal_pairs_2.jsonl"
REPEATED = 3
"""How often the units of altered words are seen."""
COPIES, PATTERNS = 3000, 16000
SILVER = {"statement": 40000, "crossed": 8000}
NUMBERS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
GROUPS = {"pair": "two", "couple": "two", "trio": "three", "quartet": "four"}
NAMES = (
    "women", "men", "dogs", "boys", "girls", "birds", "cups", "boats", "chairs", "people",
    "children", "horses", "cars", "trees", "players", "cats", "lamps", "bottles", "houses", "sheep",
)  # fmt: skip
ACTS = (
    "sing", "stand in a row", "sit on a bench", "are on the table", "walk", "sleep",
    "wait by the road", "are near the wall", "run", "play", "lie on the grass",
)  # fmt: skip
COUNTED, SHORT = 3500, 2600
"""Captions with a number, and short sentences, of which pairs with amounts are made."""
AMOUNT = re.compile(
    rf"\b(?:one|single|dozen|{'|'.join([*NUMBERS, *GROUPS])}|[0-9]+)\b", re.I
)
_NUMBER = re.compile(rf"\b(?:{'|'.join(NUMBERS)})\b", re.I)
ALIKE = 8
"""Captions that count as like one."""
HYPOTHESES, MOST_POOLED = 18000, 420000
"""Hypotheses whose statements are taken; pairs that only the teacher labels."""
OF_CAPTION, OF_DESCRIPTION = 5, 44
"""Statements of a text at most."""
LONGEST = 400
"""Characters of a sentence at most."""


class Pair(NamedTuple):
    """A pair of texts; ``label`` is a place in ``OPEN``, or -1."""

    premise: str
    hypothesis: str
    label: int
    weight: float
    source: str


def labelled(
    silver_file: Path, roll: random.Random
) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on and pairs kept back, without those that readers marked.

    Args:
        silver_file: What ``silver.py`` wrote.
        roll: Draws.
    """
    train: list[Pair] = []
    kept_back: list[Pair] = []
    for name, weight in PEOPLE.items():
        text = gzip.decompress(
            (SHARED / f"{name}.jsonl.gz").read_bytes()
        ).decode()
        for row in map(json.loads, text.splitlines()):
            label = LABELS.index(row["label"])
            pair = Pair(row["premise"], row["hypothesis"], label, weight, name)
            (kept_back if is_kept_back(pair.premise) else train).append(pair)
    premises_of_people = sorted({pair.premise for pair in train})
    train += [
        Pair(text, text, 0, 0.5, "same")
        for text in roll.sample(premises_of_people, COPIES)
    ]
    train += [
        Pair(text, roll.choice(premises_of_people), 1, 0.3, "strangers")
        for text in roll.sample(premises_of_people, COPIES)
    ]
    for name, place, row in written():
        passage = row["passage"]
        pairs = [
            Pair(passage, text, LABELS.index(label), 1.5, name)
            for label in LABELS
            for text in row[label]
        ]
        if place % SIXTH:
            train += [*pairs, Pair(passage, passage, 0, 0.5, "same")]
        else:
            kept_back += pairs
    by_sort: dict[str, list[Pair]] = defaultdict(list)
    for row in map(json.loads, silver_file.read_text("utf-8").splitlines()):
        if not is_kept_back(row["premise"]):
            label = LABELS.index(row["label"])
            both = row["premise"], row["hypothesis"]
            source = (
                "amounts" if AMOUNT.search(row["hypothesis"]) else "silver"
            )
            by_sort[row["sort"]].append(Pair(*both, label, 0.3, source))
    for sort, pairs in by_sort.items():
        train += roll.sample(pairs, min(SILVER[sort], len(pairs)))
    short_premises = sorted(
        {p.premise for p in by_sort["statement"] if len(p.premise) < 120}
    )
    for premise, text, label_name in exchanges.pairs(
        PATTERNS, random.Random(5), short_premises
    ):
        train.append(
            Pair(premise, text, LABELS.index(label_name), 0.4, "patterns")
        )
    return train, kept_back


def written() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """File, place in it, and passage with its statements, of those written for the model."""
    for name, path in WRITTEN.items():
        for place, line in enumerate(
            path.read_text(encoding="utf-8").splitlines()
        ):
            yield name, place, json.loads(line)


def is_kept_back(premise: str) -> bool:
    """Return whether a premise is kept back for measuring."""
    return (
        hashlib.sha256(premise.lower().strip(" .").encode()).digest()[0]
        < KEPT_BACK
    )


def _undecided_statements(
    text: str, other_text: str
) -> Iterator[tuple[GraphUnit, str, AnalysedText]]:
    """Yield the units of a text that words alone do not decide, each as a statement."""
    source, target = analysed(text), analysed(other_text)
    evidence = gather(source, target, numbers())
    for place, statement in undecided(source, evidence, numbers()).items():
        yield source.units[place], statement, target


def marked(kept_back: bool, roll: random.Random) -> Iterator[Pair]:
    """Units that readers marked; the whole text is their premise in ``marks_full``."""
    for text, other_text, label in readings(kept_back=kept_back):
        for unit, statement, target in _undecided_statements(text, other_text):
            label_number = OPEN.get(label(unit) or "ill")
            if label_number is None:
                continue
            weight = _weight(label_number)
            nearest_sentence, *both = premises(statement, target)
            yield Pair(
                nearest_sentence, statement, label_number, weight, "marks"
            )
            yield Pair(
                other_text, statement, label_number, weight, "marks_full"
            )
            if not kept_back:
                yield from (
                    Pair(two, statement, label_number, weight, "marks_two")
                    for two in both
                )
                far_sentences = [
                    sentence
                    for sentence in target.sentence_texts
                    if sentence != nearest_sentence
                ]
                if label_number and far_sentences and roll.random() < 0.4:
                    yield Pair(
                        roll.choice(far_sentences),
                        statement,
                        OPEN["open"],
                        0.5,
                        "marks_far",
                    )
    for text, other_text, label in of_captions(kept_back):
        for unit, statement, _ in _undecided_statements(text, other_text):
            label_number = OPEN.get(label(unit) or "ill")
            if label_number is not None:
                yield Pair(
                    other_text,
                    statement,
                    label_number,
                    _weight(label_number),
                    "captions",
                )


def _weight(label: int) -> float:
    return CONTRADICTED if label == OPEN["contradicted"] else 1.0


def one_wrong_fact(roll: random.Random) -> list[Pair]:
    """Units of minimal pairs: as many that the paraphrase says as changed ones of altered texts."""
    stated: list[Pair] = []
    wrong: list[Pair] = []
    for pair in read_pairs(MINIMAL):
        start = pair.altered.index(pair.changed)
        end = start + len(pair.changed)
        both = (pair.paraphrase, pair.reference)
        for text, other_text in (both, both[::-1]):
            for _, statement, target in _undecided_statements(
                text, other_text
            ):
                premise_texts = premises(statement, target)
                stated += [
                    Pair(p, statement, OPEN["said"], 1.0, "minimal")
                    for p in premise_texts
                ]
        if pair.kind not in EXCHANGED:
            for unit, statement, target in _undecided_statements(
                pair.altered, pair.reference
            ):
                if any(a < end and b > start for a, b in unit.spans):
                    premise_texts = premises(statement, target)
                    wrong += [
                        Pair(
                            p, statement, OPEN["open"], CONTRADICTED, "minimal"
                        )
                        for p in premise_texts
                    ]
    wrong *= REPEATED
    return wrong + roll.sample(stated, min(len(stated), len(wrong)))


def _other_number(text: str, roll: random.Random) -> str:
    """Return a text with one of its numbers exchanged for another."""
    match = roll.choice(list(_NUMBER.finditer(text)))
    new = roll.choice(
        [number for number in NUMBERS if number != match[0].lower()]
    )
    new = new.capitalize() if match[0][0].isupper() else new
    return text[: match.start()] + new + text[match.end() :]


def amounts(train: Iterable[Pair], roll: random.Random) -> Iterator[Pair]:
    """Captions and short sentences beside their own amounts and beside others."""
    stated, excluded = (OPEN[name] for name in ("said", "contradicted"))
    own_premises = {
        p.premise for p in train if p.source in ("snli", "counterfactual")
    }
    counted = sorted(text for text in own_premises if _NUMBER.search(text))
    for text in roll.sample(counted, min(COUNTED, len(counted))):
        yield Pair(text, _other_number(text, roll), excluded, 1.0, "amounts")
        for statement in graph_statements(scene_graph(parse(text))):
            if _NUMBER.search(statement.text):
                yield Pair(text, statement.text, stated, 1.0, "amounts")
                yield Pair(
                    text,
                    _other_number(statement.text, roll),
                    excluded,
                    1.0,
                    "amounts",
                )
    for _ in range(SHORT):
        name, act = roll.choice(NAMES), roll.choice(ACTS)
        number, other_number = roll.sample(NUMBERS, 2)
        group, size = roll.choice(list(GROUPS.items()))
        text = f"{number.capitalize()} {name} {act}."
        as_group = f"A {group} of {name} {act}."
        label_of_size = stated if number == size else excluded
        yield Pair(text, f"There are {number} {name}.", stated, 1.0, "amounts")
        yield Pair(
            text, f"There are {other_number} {name}.", excluded, 1.0, "amounts"
        )
        yield Pair(
            text,
            f"{other_number.capitalize()} {name} {act}.",
            excluded,
            1.0,
            "amounts",
        )
        yield Pair(
            text,
            f"There are a {group} of {name}.",
            label_of_size,
            1.0,
            "amounts",
        )
        yield Pair(
            text, f"There are {group} {name}.", label_of_size, 1.0, "amounts"
        )
        yield Pair(
            as_group,
            f"There are {number} {name}.",
            label_of_size,
            1.0,
            "amounts",
        )
        yield Pair(
            as_group, f"There are {size} {name}.", stated, 1.0, "amounts"
        )


def _vectors(texts: Sequence[str]) -> FloatArray:
    vectors: FloatArray = asyncio.run(StaticEmbedder().embed(texts))
    return vectors


def _nearest(
    texts: FloatArray, other_texts: FloatArray, n: int
) -> list[list[int]]:
    nearest: list[list[int]] = np.argsort(-(texts @ other_texts.T), axis=1)[
        :, :n
    ].tolist()
    return nearest


def captions(
    train: Iterable[Pair], roll: random.Random
) -> Iterator[tuple[str, str]]:
    """Pairs of captions, hypotheses, and statements of both."""
    of: dict[str, list[str]] = defaultdict(list)
    for pair in train:
        if pair.source in ("snli", "counterfactual"):
            of[pair.premise].append(pair.hypothesis)
    own_premises = sorted(of)
    vectors = _vectors(own_premises)
    for text, nearest_places in zip(
        own_premises, _nearest(vectors, vectors, ALIKE + 1), strict=True
    ):
        for i in roll.sample(nearest_places[1:], 6):
            hypotheses = of[own_premises[i]]
            yield from (
                (text, hypothesis)
                for hypothesis in roll.sample(
                    hypotheses, min(2, len(hypotheses))
                )
            )
        yield from (
            (hypothesis, roll.choice(of[text])) for hypothesis in of[text]
        )
        yield roll.choice(of[text]), text
    hypotheses_sorted = sorted(
        {hypothesis for texts in of.values() for hypothesis in texts}
    )
    texts = [
        *own_premises,
        *roll.sample(
            hypotheses_sorted, min(HYPOTHESES, len(hypotheses_sorted))
        ),
    ]
    for text, nearest_places in zip(
        texts, _nearest(_vectors(texts), vectors, 6), strict=True
    ):
        statements = graph_statements(scene_graph(parse(text)))
        for statement in roll.sample(
            statements, min(OF_CAPTION, len(statements))
        ):
            yield own_premises[roll.choice(nearest_places)], statement.text


def descriptions(roll: random.Random) -> Iterator[tuple[str, str]]:
    """Statements of descriptions beside sentences that do not say them word for word."""
    cut_descriptions = list(silver.descriptions())
    vectors = _vectors([" ".join(cut) for cut, _ in cut_descriptions])
    nearest_places = _nearest(vectors, vectors, 6)
    for place, (cut, statements) in enumerate(cut_descriptions):
        other_sentences = [
            s
            for s in cut_descriptions[roll.choice(nearest_places[place][1:])][
                0
            ]
            if len(s) < LONGEST
        ]
        own_sentences = [s for s in cut if len(s) < LONGEST]
        picked = [s for s in statements if s.sentence < len(cut)]
        picked = roll.sample(picked, min(OF_DESCRIPTION, len(picked)))
        if not (picked and own_sentences and other_sentences):
            continue
        of_picked = _vectors([s.text for s in picked])
        ranked = _nearest(of_picked, _vectors(own_sentences), 3)
        best = _nearest(of_picked, _vectors(other_sentences), 1)
        for statement, own_places, other_places in zip(
            picked, ranked, best, strict=True
        ):
            source = cut[statement.sentence]
            other_own = [
                own_sentences[i]
                for i in own_places
                if own_sentences[i] != source
            ][:2]
            if other_own and roll.random() < 0.7:
                yield roll.choice(other_own), statement.text
            yield other_sentences[other_places[0]], statement.text
            changed = (
                silver.exchanged(statement.text, roll)
                if roll.random() < 0.25
                else None
            )
            if changed and len(source) < LONGEST:
                yield source, changed


def main() -> None:
    """Write all pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("silver", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    roll = random.Random(4)
    train, kept_back = labelled(options.silver, roll)
    marks = list(marked(False, roll))
    train += [
        *(p for p in marks if p.source != "marks_full"),
        *one_wrong_fact(roll),
    ]
    train += amounts(train, roll)
    kept_back += marked(True, roll)
    pooled = {*captions(train, roll), *descriptions(roll)}
    fits = sorted(
        (p, h)
        for p, h in pooled
        if p != h and not (is_kept_back(p) or AMOUNT.search(h))
    )
    pool = [
        Pair(*p, -1, 1.0, "pool")
        for p in roll.sample(fits, min(MOST_POOLED, len(fits)))
    ]
    full = [pair for pair in marks if pair.source == "marks_full"]
    parts = {"train": train, "teacher": full, "pool": pool, "kept": kept_back}
    with options.output.open("w", encoding="utf-8") as file:
        for part, pairs in parts.items():
            for pair in pairs:
                file.write(json.dumps({"part": part, **pair._asdict()}) + "\n")
    print({part: len(pairs) for part, pairs in parts.items()})


if __name__ == "__main__":
    main()
