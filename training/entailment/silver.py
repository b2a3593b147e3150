"""Sentence pairs made of long descriptions, for training the built-in entailment model.

    python -m training.entailment.silver OUT

The descriptions are ImageInWords (CC-BY-4.0). A statement of a text, in the words of
``graph_statements``, stands beside sentences of the text: the sentence that says it (entailment),
the same with one word exchanged for one that excludes it (contradiction), and sentences of the same
text or of another that share no noun with it (neutral). Sentences also stand beside themselves with
two things, or what is said of two things, exchanged (``sort`` is ``crossed``). One pair a line:
``premise``, ``hypothesis``, ``label``, ``sort``.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from beholder.judges.builtin.classes import _table, exclude, values
from beholder.language import parse, scene_graph
from beholder.language.graph import SceneGraph
from beholder.language.statements import Statement, graph_statements

Row = tuple[str, str, str]
SHARED = Path(__file__).parents[3] / "shared/data"
CLASSES = (
    "colour", "size", "height", "length", "width", "number", "side", "vertical", "depth",
    "material", "posture", "motion", "years", "surface", "shape", "pattern", "state", "direction",
    "age", "sex",
)  # fmt: skip
TURNED = {
    "on": "under",
    "under": "on",
    "above": "below",
    "below": "above",
    "behind": "in front of",
    "inside": "outside",
    "outside": "inside",
    "left": "right",
    "right": "left",
    "over": "under",
    "open": "closed",
    "closed": "open",
    "lit": "unlit",
    "empty": "full",
    "full": "empty",
    "sunny": "rainy",
    "day": "night",
    "night": "day",
    "facing": "facing away from",
    "wet": "dry",
    "dry": "wet",
    "toward": "away from",
    "towards": "away from",
    "many": "few",
    "few": "many",
    "all": "none",
    "most": "few",
    "up": "down",
    "down": "up",
    "top": "bottom",
    "bottom": "top",
    "before": "after",
    "with": "without",
}
ONE_WAY = frozenset(
    (
        "on",
        "under",
        "above",
        "below",
        "behind",
        "in front of",
        "on top of",
        "over",
        "beneath",
        "to the left of",
        "to the right of",
        "underneath",
        "inside",
        "atop",
    )
)
SYMMETRIC = re.compile(
    r"\b(?:with|near|beside|next|by|touch|meet|kiss|hug|talk|play|fac|match|has|is in|are in|of)"
)
_RELATION = re.compile(
    r"The (.+?) ((?:is|are) [a-z]+ing (?:[a-z]+ )?"
    r"|(?:is|are) (?:on|under|above|below|behind|inside|on top of|in front of) "
    r"|(?:is|are) to the (?:left|right) of |[a-z]+s (?:[a-z]+ )?)the (.+)[.]"
)
"""Subject, predicate and object of a statement whose ends may be exchanged."""
LONGEST, CROSSED = 250, 12000
"""Characters of a sentence at most, and how many are tried."""
_EMPTY = frozenset(("the", "is", "are", "there", "a", "an", "has", "have"))
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")


def exchanged(text: str, choice: random.Random) -> str | None:
    """A statement with one word exchanged for one that excludes it; None if it has no such word."""
    table = _table()
    lines: dict[tuple[str, float], list[str]] = {}
    for word, places in table.items():
        for place in places:
            lines.setdefault(place, []).append(word)
    options = []
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in TURNED:
            options.append((match, TURNED[word]))
        for name, line in sorted(table.get(word, ())):
            if name in CLASSES and word not in (
                "a",
                "an",
                "no",
                "one",
                "single",
            ):
                other_words = [
                    w
                    for (n, p), ws in lines.items()
                    if n == name and p != line
                    for w in ws[:1]
                    if w not in ("a", "no")
                ]
                if other_words:
                    options.append((match, choice.choice(other_words)))
    if not options:
        return None
    match, new = choice.choice(options)
    return text[: match.start()] + new + text[match.end() :]


def denied(text: str) -> str | None:
    """Return a statement with its verb denied: "is" becomes "is not"."""
    if re.search(r"\b(?:not|no)\b", text):
        return None
    denied_text, n = re.subn(r"\b(is|are)\b", r"\1 not", text, count=1)
    denied_text = re.sub(
        r"There (is|are) not (?:an?|the)? ?", r"There \1 no ", denied_text
    )
    return denied_text if n else None


def turned(statement: Statement) -> str | None:
    """Return a relation with its ends exchanged, if both cannot be true."""
    if (
        statement.kind != "relation"
        or len(statement.entities) != 2
        or not statement.polarity
    ):
        return None
    match = _RELATION.fullmatch(statement.text)
    if match is None or SYMMETRIC.search(match[2]):
        return None
    return f"The {match[3]} {match[2]}the {match[1]}." if match else None


def of_another(graph: SceneGraph, choice: random.Random) -> str | None:
    """Return an attribute said of another thing, whose own attribute excludes it."""
    be = {True: "are", False: "is"}
    pairs = [
        f"The {owner.name} {be[owner.plural]} {a.value}."
        for a in graph.attributes
        for b in graph.attributes
        for owner in [graph.entities[b.entity]]
        if a.entity != b.entity
        and graph.entities[a.entity].name != graph.entities[b.entity].name
        and exclude(values(a.value), values(b.value))
    ]
    return choice.choice(pairs) if pairs else None


def other_number(text: str, choice: random.Random) -> str | None:
    """Return a sentence with one of its digits changed."""
    digits = list(re.finditer(r"[0-9]", text))
    if not digits:
        return None
    at = choice.choice(digits)
    new = choice.choice([d for d in "0123456789" if d != at[0]])
    return text[: at.start()] + new + text[at.end() :]


def plain(sentence: str) -> bool:
    """Return whether a sentence is short and mostly of English letters."""
    letters = sum(c.isascii() and c.isalpha() for c in sentence)
    return len(sentence) < LONGEST and letters > 0.7 * len(sentence)


def crossed(graph: SceneGraph, choice: random.Random) -> str | None:
    """Return a sentence with the ends of a relation, or the qualities of two things, exchanged."""
    spans = []
    for a in graph.attributes:
        for b in graph.attributes[graph.attributes.index(a) + 1 :]:
            is_other_entity = (
                graph.entities[a.entity].name != graph.entities[b.entity].name
            )
            plain = (
                a.rule == b.rule == "modifier"
                and len(a.spans) == len(b.spans) == 1
            )
            if (
                is_other_entity
                and plain
                and exclude(values(a.value), values(b.value))
            ):
                spans.append((a.spans[0], b.spans[0]))
    for r in graph.relations:
        ends = [graph.entities[i] for i in (r.subject, r.object)]
        is_single = all(
            len(e.mentions) == 1 and e.kind == "thing" for e in ends
        )
        alike = (
            ends[0].plural == ends[1].plural and ends[0].name != ends[1].name
        )
        is_directed = r.kind == "verb" or r.predicate in ONE_WAY
        if (
            is_single
            and alike
            and is_directed
            and r.polarity
            and not SYMMETRIC.search(r.predicate)
        ):
            spans.append((ends[0].mentions[0].span, ends[1].mentions[0].span))
    if not spans:
        return None
    (start, end), (later, last) = sorted(choice.choice(spans))
    if end > later:
        return None
    text = graph.text
    exchanged_text = (
        text[:start]
        + text[later:last]
        + text[end:later]
        + text[start:end]
        + text[last:]
    )
    exchanged_text = re.sub(
        r"\b([Aa])n (?=[bcdfgjklmnpqrstvwxz])", r"\1 ", exchanged_text
    )
    return re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", exchanged_text)


def false_of(
    graph: SceneGraph, statements: Sequence[Statement], choice: random.Random
) -> str | None:
    """Something that a text excludes."""
    s = choice.choice(statements)
    crossed = [t for t in (turned(s) for s in statements) if t]
    makers: list[Callable[[], str | None]] = [
        lambda: exchanged(s.text, choice),
        lambda: denied(s.text),
        lambda: choice.choice(crossed) if crossed else None,
        lambda: of_another(graph, choice),
    ]
    choice.shuffle(makers)
    return next((changed for make in makers if (changed := make())), None)


def descriptions() -> Iterator[tuple[list[str], Sequence[Statement]]]:
    """Sentences and statements of each ImageInWords description."""
    with lzma.open(
        SHARED / "descriptions/iiw_descriptions.jsonl.xz", "rt"
    ) as file:
        texts = [json.loads(line)["text"] for line in file]
    for text in texts:
        document = parse(text)
        words = document.words
        cut = [
            text[words[a].start : words[b - 1].end]
            for a, b in document.sentences
            if b > a
        ]
        yield cut, graph_statements(scene_graph(document))


def main() -> None:
    """Write the pairs of all descriptions and captions."""
    choice = random.Random(7)
    cut_descriptions = list(descriptions())
    with Path(sys.argv[1]).open("w") as out:
        captions(out, choice)
        for text in choice.sample(
            [t for cut, _ in cut_descriptions for t in cut if plain(t)],
            CROSSED,
        ):
            if false := crossed(scene_graph(parse(text)), choice):
                out.write(_line(text, false, "contradiction", sort="crossed"))
        for sentences, statements in cut_descriptions:
            for statement in choice.sample(
                statements, min(6, len(statements))
            ):
                if statement.sentence < len(sentences):
                    elsewhere = choice.choice(
                        choice.choice(cut_descriptions)[0]
                    )
                    for row in of_statement(
                        statement, sentences, statements, elsewhere, choice
                    ):
                        if len(row[0]) < 500:
                            out.write(_line(*row))


def of_statement(
    statement: Statement,
    sentences: Sequence[str],
    statements: Sequence[Statement],
    elsewhere: str,
    choice: random.Random,
) -> Iterator[Row]:
    """Pairs with a statement of a text, and one with a sentence of it.

    Args:
        statement: The statement.
        sentences: The sentences of its text.
        statements: All statements of its text.
        elsewhere: A sentence of another text.
        choice: Draws.
    """
    own_sentence = sentences[statement.sentence]
    yield (
        _premise(statement.sentence, sentences, choice),
        statement.text,
        "entailment",
    )
    makers = [
        exchanged(statement.text, choice),
        exchanged(statement.text, choice),
    ]
    false = choice.choice([*makers, denied(statement.text), turned(statement)])
    if false:
        yield (
            _premise(statement.sentence, sentences, choice),
            false,
            "contradiction",
        )
    nouns = {
        word.lower() for word in _WORD.findall(statement.text) if len(word) > 3
    }
    far_sentences = [
        t
        for t in sentences
        if not nouns & {word.lower() for word in _WORD.findall(t)}
    ]
    if far_sentences and choice.random() < 0.5:
        yield choice.choice(far_sentences), statement.text, "neutral"
    elif choice.random() < 0.4:
        yield elsewhere, statement.text, "neutral"
    any_sentence = choice.choice(sentences)
    if len(any_sentence) < 160:
        yield any_sentence, any_sentence, "entailment"
        if changed := other_number(any_sentence, choice) or exchanged(
            any_sentence, choice
        ):
            yield any_sentence, changed, "contradiction"
    other_statement = choice.choice(
        statements
    )  # of the same things, and not said here
    new = other_statement.sentence != statement.sentence and not covered(
        other_statement.text, own_sentence
    )
    if choice.random() < 0.5 and new:
        yield own_sentence, other_statement.text, "neutral"


def _premise(at: int, sentences: Sequence[str], choice: random.Random) -> str:
    """Return a sentence alone, or with the one before it or any other."""
    roll = choice.random()
    if roll < 0.5 or len(sentences) < 2:
        return sentences[at]
    other_place = (
        at - 1 if (roll < 0.75 and at) else choice.randrange(len(sentences))
    )
    first, last = sorted((at, other_place))
    return (
        sentences[at]
        if first == last
        else f"{sentences[first]} {sentences[last]}"
    )


def covered(statement: str, sentence: str) -> bool:
    """Return whether a sentence has all words of a statement."""
    words = {word.lower() for word in _WORD.findall(statement)} - _EMPTY
    return words <= {word.lower() for word in _WORD.findall(sentence)}


def captions(out: TextIO, choice: random.Random) -> None:
    """Statements of single captions, true ones and false ones."""
    with gzip.open(SHARED / "nli/snli.jsonl.gz", "rt") as file:
        premises = sorted({json.loads(line)["premise"] for line in file})
    for text in premises:
        graph = scene_graph(parse(text))
        statements = graph_statements(graph)
        if not statements:
            continue
        out.write(_line(text, choice.choice(statements).text, "entailment"))
        if false := false_of(graph, statements, choice):
            out.write(_line(text, false, "contradiction"))
        if false := crossed(graph, choice):
            out.write(_line(text, false, "contradiction", sort="crossed"))


def _line(
    premise: str, hypothesis: str, label: str, *, sort: str = "statement"
) -> str:
    row = {
        "premise": premise,
        "hypothesis": hypothesis,
        "label": label,
        "sort": sort,
    }
    return json.dumps(row) + "\n"


if __name__ == "__main__":
    main()
