"""Attachment suite: who does, has and is what, exchanged in texts of equal words.

    python -m training.studies.attachment [--judge builtin] [--per-kind 40] [--data DIR] [--show]

Pairs are made by rule from real descriptions (ImageInWords, CC BY 4.0). Either a real sentence is
altered in place (colours of two things exchanged, a count, a negation, a side), or two real phrases
are said of two things of one name or of two names, and exchanged; two sentences of a description
stand before. Every altered pair has controls: the text unchanged, its two statements in the other
order, and with other words for the same.

A pair is *found* if a unit that the judge does not find has its place among the altered words. A
control is a *false alarm* if any unit of it is not found, wherever it stands. Intervals are
percentiles over resampled descriptions.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from beholder import PoSh
from beholder.metrics import Tools
from beholder.records import Item, ItemFailure, Span
from beholder.stats import mean_interval
from beholder.text import RuleSplitter

DATA = Path(__file__).parents[2] / "../shared/data"
SEED = 11
STATED = ("match", "supported", "covered")
"""Verdicts by which a unit is in the other text."""

COLOURS = (
    "red", "blue", "green", "yellow", "black", "white", "brown", "gray", "orange", "purple", "pink",
    "beige", "gold", "silver",
)  # fmt: skip
_COLOUR = "|".join(COLOURS)
_PEOPLE = ("man", "woman", "boy", "girl", "person", "child")
_CLOTHES = "shirt|dress|jacket|coat|hat|cap|sweater|vest|skirt|hoodie|suit|uniform|scarf|t-shirt"
_THINGS = (
    "car", "truck", "boat", "house", "building", "bird", "dog", "cat", "horse", "chair", "table",
    "vase", "bottle", "cup", "plate", "sign", "box", "bag", "flower", "tree", "boulder", "bicycle",
    "motorcycle", "airplane", "lamp", "bowl",
)  # fmt: skip
_DOING = (
    "holding|carrying|sitting|standing|walking|looking|playing|reading|riding|leaning|kneeling|"
    "running|pointing|drinking|eating|pushing|touching|writing|pulling|lying|climbing|gazing"
)
_AFTER_NOUN = "on|in|with|of|at|and|or|to|from|for|that|which|is|are|as|over|under|along|going"
"""Words that end what is denied."""
_COUNTS = ("two", "three", "four", "five", "six", "seven")
_LOOKS = (("tall", "short"), ("young", "elderly"))
_DOES = (
    "hugs",
    "pushes",
    "leads",
    "chases",
    "follows",
    "carries",
    "photographs",
    "kicks",
)
_SYNONYMS = {
    "couch": "sofa",
    "photo": "photograph",
    "street": "road",
    "kid": "child",
    "child": "kid",
    "large": "big",
    "small": "little",
    "woman": "lady",
    "rock": "stone",
    "rocks": "stones",
    "bike": "bicycle",
    "bicycle": "bike",
    "automobile": "car",
    "car": "automobile",
    "cap": "hat",
    "beneath": "under",
    "above": "over",
    "near": "close to",
    "behind": "in back of",
    "purple": "violet",
    "gray": "grey",
    "boat": "ship",
    "airplane": "plane",
    "path": "trail",
    "looking": "gazing",
    "gazing": "looking",
    "sidewalk": "pavement",
    "center": "middle",
    "adorned": "decorated",
    "positioned": "placed",
    "situated": "located",
    "displayed": "shown",
    "beside": "next to",
    "elderly": "old",
    "carrying": "holding",
    "stones": "rocks",
    "touching": "feeling",
    "huge": "enormous",
    "bag": "sack",
}
"""Words that a person would let stand for each other, chosen by hand."""


@dataclass(frozen=True)
class Case:
    """One pair.

    Attributes:
        kind: What was done.
        origin: Which description it comes from.
        reference: The text as it was.
        candidate: The text as altered.
        marks: The altered words in the candidate; none for a control.
    """

    kind: str
    origin: int
    reference: str
    candidate: str
    marks: tuple[Span, ...] = ()


def descriptions(data: Path) -> list[list[str]]:
    """Return the sentences of each description."""
    path = data / "descriptions" / "iiw_descriptions.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    return [_sentences(text) for text in texts]


def suite(texts: Sequence[Sequence[str]], per_kind: int) -> list[Case]:
    """Return all cases of all kinds, the same for the same texts."""
    makers = {
        "colours, unlike": _colours_unlike,
        "count": _count,
        "negation": _negation,
        "side": _side,
        **{name: _TemplateCases(name, texts).cases for name in _TEMPLATES},
    }
    cases: list[Case] = []
    for name, make in makers.items():
        rng = random.Random(f"{SEED} {name}")
        order = rng.sample(range(len(texts)), len(texts))
        for case in islice(make(texts, order, rng), per_kind):
            cases += [case, *_controls(case, rng)]
    return cases


def _colours_unlike(
    texts: Sequence[Sequence[str]], order: Sequence[int], rng: random.Random
) -> Iterator[Case]:
    pattern = re.compile(rf"\b({_COLOUR}) (?!and\b|or\b)([a-z]+)\b")
    for origin in order:
        for place, sentence in enumerate(texts[origin]):
            hits = list(pattern.finditer(sentence))
            if (
                len(hits) != 2
                or len({h[1] for h in hits}) < 2
                or len({h[2] for h in hits}) < 2
            ):
                continue
            if any(re.search(rf"\b({_COLOUR})\b", h[2]) for h in hits):
                continue
            if len(re.findall(rf"\b(?:{_COLOUR})\b", sentence)) != 2:
                continue
            spans = [hits[0].span(1), hits[1].span(1)]
            yield _in_place(
                "colours, unlike",
                texts,
                origin,
                place,
                spans,
                [hits[1][1], hits[0][1]],
            )
            break


def _count(
    texts: Sequence[Sequence[str]], order: Sequence[int], rng: random.Random
) -> Iterator[Case]:
    pattern = re.compile(rf"\b({'|'.join(_COUNTS)}) (?:[a-z]+ )?[a-z]+s\b")
    for origin in order:
        for place, sentence in enumerate(texts[origin]):
            hits = list(pattern.finditer(sentence))
            if len(hits) == 1:
                other_count = rng.choice(
                    [word for word in _COUNTS if word != hits[0][1]]
                )
                yield _in_place(
                    "count",
                    texts,
                    origin,
                    place,
                    [hits[0].span(1)],
                    [other_count],
                )
                break


def _negation(
    texts: Sequence[Sequence[str]], order: Sequence[int], rng: random.Random
) -> Iterator[Case]:
    pattern = re.compile(
        r"\b(?:is|are) (being [a-z]+|[a-z]+ing)\b|"
        rf"\b(?:has|have) (an?) ((?:(?!\b(?:{_AFTER_NOUN})\b)[a-z-]+ ?)+)"
    )
    for origin in order:
        for place, sentence in enumerate(texts[origin]):
            hits = list(pattern.finditer(sentence))
            if len(hits) != 1:
                continue
            hit = hits[0]
            span, new = (
                (hit.span(1), f"not {hit[1]}")
                if hit[1]
                else (hit.span(2), "no")
            )
            case = _in_place("negation", texts, origin, place, [span], [new])
            if not hit[1]:  # what is denied is the noun that follows, too
                (start, end) = case.marks[0]
                case = Case(
                    case.kind,
                    origin,
                    case.reference,
                    case.candidate,
                    ((start, end + 1 + len(hit[3].rstrip())),),
                )
            yield case
            break


def _side(
    texts: Sequence[Sequence[str]], order: Sequence[int], rng: random.Random
) -> Iterator[Case]:
    opposites = {"left": "right", "right": "left", "foreground": "background"}
    pattern = re.compile(r"\b(?:on|to|in) the (left|right|foreground)\b")
    for origin in order:
        for place, sentence in enumerate(texts[origin]):
            hits = list(pattern.finditer(sentence))
            sides = re.findall(
                r"\b(?:left|right|foreground|background)\b",
                " ".join(texts[origin]),
            )
            if len(hits) == 1 and len(sides) == 1:
                span, new = hits[0].span(1), opposites[hits[0][1]]
                yield _in_place("side", texts, origin, place, [span], [new])
                break


def _in_place(
    kind: str,
    texts: Sequence[Sequence[str]],
    origin: int,
    place: int,
    spans: Sequence[Span],
    words: Sequence[str],
) -> Case:
    """Return a real sentence with the one before and after it, some of its words exchanged."""
    around = texts[origin][max(0, place - 1) : place + 2]
    reference = " ".join(around)
    shift = len(" ".join(texts[origin][place - 1 : place])) + 1 if place else 0
    candidate, marks, last = "", [], 0
    for (start, end), word in zip(spans, words, strict=True):
        candidate += reference[last : shift + start]
        marks.append((len(candidate), len(candidate) + len(word)))
        candidate += word
        last = shift + end
    return Case(
        kind, origin, reference, candidate + reference[last:], tuple(marks)
    )


_TEMPLATES = {
    "actions, like, by clothes": (
        "The {n} in the {g1} is {a1}. The {n} in the {g2} is {a2}.",
        "a",
        "g",
    ),
    "actions, like, by looks": (
        "A {l1} {n} is {a1}. A {l2} {n} is {a2}.",
        "a",
        "l",
    ),
    "actions, unlike": ("The {n1} is {a1} while the {n2} is {a2}.", "a", ""),
    "clothes, like": (
        "One {n} {wears} a {g1} and is {a1}. Another {n} {wears} a {g2} and is {a2}.",
        "g",
        "aw",
    ),
    "clothes, unlike": (
        "A {n1} {wears} a {g1}. A {n2} next to them {wears} a {g2}.",
        "g",
        "w",
    ),
    "places, like": (
        "A {c1} {t} stands on the {s1}. A {c2} {t} stands on the {s2}.",
        "s",
        "c",
    ),
    "places, unlike": (
        "There is a {t1} in the {s1} and a {t2} in the {s2}.",
        "s",
        "t",
    ),
    "parts, like": (
        "The {c1} {t} {has} a {p1}. The {c2} {t} {has} a {p2}.",
        "p",
        "ch",
    ),
    "parts, unlike": (
        "The {t1} {has} a {p1}. The {t2} {has} a {p2}.",
        "p",
        "h",
    ),
    "colours, like": (
        "The {t} with a {p1} is {c1}. The {t} with a {p2} is {c2}.",
        "c",
        "p",
    ),
    "roles": ("The {n1} {v} the {n2}.", "n", "v"),
}
"""Text, what is exchanged, and what may be blamed as well: the words that bind the two ("wears"),
and exchanged clothes for exchanged actions where the clothes are all that tells the two apart."""


class _TemplateCases:
    """Cases of one template, filled with phrases of real descriptions."""

    def __init__(self, name: str, texts: Sequence[Sequence[str]]) -> None:
        self._name = name
        flat = [sentence for text in texts for sentence in text]
        self._actions = [
            action
            for action in _all(
                rf"\b((?:{_DOING})(?: [a-z]+){{2,5}})(?=[,.])", flat
            )
            if not re.search(
                r"\b(wearing|and|or|is|are|their|its|while|as|to)\b", action
            )
        ]
        self._clothes = _all(rf"\b((?:{_COLOUR}) (?:{_CLOTHES}))\b", flat)
        self._parts = _all(
            rf"\b(?:has|features) an? ((?:{_COLOUR}|small|large|round|wooden|metal) [a-z]+)(?=[,.]|"
            r" on| with| in)",
            flat,
        )

    def cases(
        self,
        texts: Sequence[Sequence[str]],
        order: Sequence[int],
        rng: random.Random,
    ) -> Iterator[Case]:
        text, exchanged, blamed = _TEMPLATES[self._name]
        for origin in order:
            filled = self._fill(rng)
            if filled is None:
                continue
            context = " ".join(texts[origin][1:3])
            turned = filled | {
                f"{exchanged}1": filled[f"{exchanged}2"],
                f"{exchanged}2": filled[f"{exchanged}1"],
            }
            reference, _ = _filled(text, filled, "")
            candidate, marks = _filled(text, turned, exchanged + blamed)
            start = len(context) + 1
            places = tuple((start + a, start + b) for a, b in marks)
            yield Case(
                self._name,
                origin,
                f"{context} {reference}",
                f"{context} {candidate}",
                places,
            )

    def _fill(self, rng: random.Random) -> dict[str, str] | None:
        n1, n2 = rng.sample(_PEOPLE[:4], 2)
        t1, t2 = rng.sample(_THINGS, 2)
        (a1, a2), (g1, g2), (p1, p2) = (
            rng.sample(phrases, 2)
            for phrases in (self._actions, self._clothes, self._parts)
        )
        c1, c2 = rng.sample(COLOURS, 2)
        l1, l2 = rng.choice(_LOOKS)
        sides = (
            ("left", "right")
            if "unlike" not in self._name
            else ("foreground", "background")
        )
        s1, s2 = rng.sample(sides, 2)
        for first_phrase, second_phrase in ((a1, a2), (g1, g2), (p1, p2)):
            if set(first_phrase.split()) & set(second_phrase.split()) - {
                "a",
                "an",
                "the",
                "his",
                "her",
            }:
                return None
        fields_filled = {
            "n": n1,
            "t": t1,
            "v": rng.choice(_DOES),
            "wears": "wears",
            "has": "has",
        }
        pairs = {
            "n": (n1, n2),
            "t": (t1, t2),
            "a": (a1, a2),
            "g": (g1, g2),
            "p": (p1, p2),
            "c": (c1, c2),
            "l": (l1, l2),
            "s": (s1, s2),
        }
        return fields_filled | {
            f"{k}{i + 1}": v
            for k, pair in pairs.items()
            for i, v in enumerate(pair)
        }


def _sentences(text: str) -> list[str]:
    return [
        text[part.start : part.end].strip()
        for part in RuleSplitter().split(text)
    ]


def _all(pattern: str, sentences: Sequence[str]) -> list[str]:
    return sorted(
        {
            hit
            for sentence in sentences
            for hit in re.findall(pattern, sentence)
        }
    )


def _filled(
    text: str, words: dict[str, str], marked: str
) -> tuple[str, list[Span]]:
    """Return a template with its words, and the places of those whose first letter is marked."""
    text = re.sub(
        r"\b([Aa]) \{(\w+)\}", lambda f: _article(f[1], f[2], words), text
    )
    filled, marks, last = "", [], 0
    for field in re.finditer(r"\{(\w+)\}", text):
        filled += text[last : field.start()]
        word = words[field[1]]
        if field[1][0] in marked:
            marks.append((len(filled), len(filled) + len(word)))
        filled += word
        last = field.end()
    filled = (
        re.sub(r"\ba (?=[aeio])", "an ", filled + text[last:])
        if not marked
        else filled + text[last:]
    )
    return filled, marks


def _article(article: str, field: str, words: dict[str, str]) -> str:
    return f"{article}{'n' if words[field][0] in 'aeio' else ''} {{{field}}}"


def _controls(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield the same text, its statements in the other order, and other words for the same."""
    yield Case("unchanged", case.origin, case.reference, case.reference)
    parts = _sentences(case.reference)
    if (
        case.kind in _TEMPLATES
        and len(parts) > 1
        and parts[-2].split()[0] == parts[-1].split()[0]
    ):
        turned = " ".join((*parts[:-2], parts[-1], parts[-2]))
        yield Case("reordered", case.origin, case.reference, turned)
    known_words = [
        w
        for w in re.finditer(r"[A-Za-z-]+", case.reference)
        if w.group() in _SYNONYMS
    ]
    if known_words:
        candidate, last = "", 0
        chosen = rng.sample(known_words, min(3, len(known_words)))
        for word in sorted(chosen, key=lambda match: match.start()):
            candidate += (
                case.reference[last : word.start()] + _SYNONYMS[word.group()]
            )
            last = word.end()
        yield Case(
            "synonyms",
            case.origin,
            case.reference,
            candidate + case.reference[last:],
        )


@dataclass(frozen=True)
class Result:
    """What a judge made of a case: the words that it does not find, and those at the marks."""

    case: Case
    blamed: tuple[str, ...]
    hit: bool


def run(cases: Sequence[Case], judged_by: str) -> list[Result]:
    """Ask a judge about every case.

    Raises:
        RuntimeError: A case failed; the suite has no case that should.
    """
    metric, tools = PoSh(judge=judged_by), Tools()
    items = [
        Item(str(i), case.candidate, (case.reference,))
        for i, case in enumerate(cases)
    ]
    results = []
    for case, outcome in zip(
        cases, metric.score(items, tools=tools), strict=True
    ):
        if isinstance(outcome, ItemFailure):
            raise RuntimeError(f"{outcome.message}: {case.candidate!r}")
        wrong = [
            unit
            for unit in outcome.units
            if unit.side == "candidate" and unit.verdict not in STATED
        ]
        hit = any(
            a < end and start < b
            for unit in wrong
            for a, b in unit.spans
            for start, end in case.marks
        )
        results.append(
            Result(case, tuple(f"{u.text}:{u.verdict}" for u in wrong), hit)
        )
    return results


def lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the table."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.case.kind].append(result)
        groups["all altered" if result.case.marks else "all controls"].append(
            result
        )
    yield f"{'kind':28}{'n':>5}  found at its place / false alarm"
    for name, rows in groups.items():
        altered = bool(rows[0].case.marks)
        values = [float(r.hit if altered else bool(r.blamed)) for r in rows]
        mean_value = mean_interval(
            values, clusters=[r.case.origin for r in rows]
        )
        label = "found" if altered else "false alarms"
        low, high = (
            (mean_value.interval.low, mean_value.interval.high)
            if mean_value.interval
            else (0.0, 1.0)
        )
        yield f"{name:28}{len(rows):5d}  {mean_value.mean:.3f} [{low:.3f}, {high:.3f}]  {label}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judge", default="builtin")
    parser.add_argument("--per-kind", type=int, default=40)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong"
    )
    options = parser.parse_args()
    results = run(
        suite(descriptions(options.data), options.per_kind), options.judge
    )
    print("\n".join(lines(results)))
    if options.show:
        for r in results:
            if bool(r.case.marks) != r.hit or (not r.case.marks and r.blamed):
                marked = [r.case.candidate[a:b] for a, b in r.case.marks]
                print(
                    f"\n{r.case.kind}\n  {r.case.reference}\n  {r.case.candidate}"
                )
                print(f"  {marked} {r.blamed}")


if __name__ == "__main__":
    main()
