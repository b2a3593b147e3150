"""Does PoSh find the units that were altered or removed, beside a baseline of four-word runs?

    python benchmarks/granular.py [--limit 181] [--seed 12345]

A script replaces some colours, numbers, sides, sizes and materials by others of their kind, and
leaves out some, so that the place of every mistake (in the candidate) and omission (in the
reference) is known. Two settings over oracle_facts:

copy   the reference is a caption, the candidate its altered copy. Mistakes and omissions.
facts  the reference is a caption, the candidate its human-written facts, altered. Mistakes only:
       other words for the same things, as in real use.

Printed is F1 pooled over captions, in two readings, each for both methods. "spans": over spans that
share at least half of their words (``stats.relaxed_f1``); light words at the ends of spans ("to the
left") are dropped. "words": the same word by word. PoSh uses its own threshold. The baseline scores
each run of four words by its highest cosine with any run of the other text, in the same static
embedding, and has the threshold that is best on these very data; its spans are the runs below it,
merged where they touch or not, whichever is better, and a word's score is the highest of the runs
over it. On altered copies that is nearly perfect, because every run without an alteration has its
exact twin.

The data is shared/data/oracle_facts.jsonl beside the checkout, for measuring only.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from beholder import PoSh, stats
from beholder.judges.builtin.vectors import vectors
from beholder.metrics import Tools
from beholder.records import Item, ItemScore, Side, Span
from beholder.text import words as word_spans

DATA = Path(__file__).parents[1] / "../shared/data/oracle_facts.jsonl"
SWAPS = (
    (
        "red",
        "blue",
        "green",
        "yellow",
        "black",
        "white",
        "brown",
        "gray",
        "orange",
        "purple",
    ),
    ("two", "three", "four", "five", "six", "seven"),
    ("left", "right"),
    ("large", "small"),
    ("wooden", "metal", "plastic", "leather", "brick"),
)
REPLACED, LEFT_OUT = 0.2, 0.1
RUN = 4
NUMBERED = re.compile(r"_\d+\b")
"""Annotators numbered things of one name ("house_1"); readers do not."""
FUNCTION_WORDS = (
    "a an the and at by from in into of on onto over to toward towards with"
)
LIGHT = frozenset(FUNCTION_WORDS.split())
"""Words that say nothing alone; at the ends of a span they are dropped, for both methods."""
TokenSpans = list[tuple[int, int]]


def altered(
    text: str, rng: random.Random
) -> tuple[str, list[Span], list[Span]]:
    """Return a candidate, its wrong words, and the words of the original that it lost."""
    parts: list[str] = []
    wrong: list[Span] = []
    lost: list[Span] = []
    at = length = 0
    for match in re.finditer(r"[A-Za-z]+", text):
        word = match.group()
        kind = next((k for k in SWAPS if word in k), None)
        chance = rng.random()
        if kind is None or chance > REPLACED + LEFT_OUT:
            continue
        kept_text = text[at : match.start()]
        length += len(kept_text)
        parts.append(kept_text)
        at = match.end()
        lost.append(match.span())
        if chance < REPLACED:
            other_word = rng.choice([w for w in kind if w != word])
            wrong.append((length, length + len(other_word)))
            parts.append(other_word)
            length += len(other_word)
    return "".join([*parts, text[at:]]), wrong, lost


def tokens(text: str, spans: Sequence[Span]) -> TokenSpans:
    """Spans of characters as spans of words."""
    words = word_spans(text)
    token_spans = []
    for start, end in spans:
        inside = [i for i, (a, b) in enumerate(words) if a < end and b > start]
        if inside:
            token_spans.append((inside[0], inside[-1] + 1))
    return sorted(set(token_spans))


def trimmed(text: str, spans: TokenSpans) -> TokenSpans:
    """Spans without light words at their ends; spans of nothing else are kept."""
    lower_words = [text[a:b].lower() for a, b in word_spans(text)]
    bearing_spans = set()
    for start, end in spans:
        bearing = [i for i in range(start, end) if lower_words[i] not in LIGHT]
        bearing_spans.add(
            (bearing[0], bearing[-1] + 1) if bearing else (start, end)
        )
    return sorted(bearing_spans)


def by_units(score: ItemScore, side: Side, text: str) -> TokenSpans:
    spans = [
        span
        for unit in score.units
        if unit.side == side
        and unit.verdict in ("contradicted", "unstated", "omission")
        for span in unit.spans
    ]
    return trimmed(text, tokens(text, spans))


def by_words(spans: TokenSpans) -> TokenSpans:
    """Return the same words one by one."""
    return [
        (i, i + 1) for i in sorted({i for a, b in spans for i in range(a, b)})
    ]


def run_scores(text: str, other_text: str) -> np.ndarray:
    """Per run of four words, its highest similarity to a run of the other text."""
    sides = []
    for each in (text, other_text):
        spans = word_spans(each)
        starts = range(max(1, len(spans) - RUN + 1))
        runs = [
            " ".join(each[a:b].lower() for a, b in spans[i : i + RUN])
            for i in starts
        ]
        sides.append(vectors(runs))
    best: np.ndarray = (sides[0] @ sides[1].T).max(axis=1)
    return best


def as_runs(scores: np.ndarray, threshold: float, merge: bool) -> TokenSpans:
    runs: TokenSpans = []
    for start in np.flatnonzero(scores < threshold).tolist():
        if merge and runs and start <= runs[-1][1]:
            runs[-1] = (runs[-1][0], start + RUN)
        else:
            runs.append((start, start + RUN))
    return runs


def as_words(scores: np.ndarray, threshold: float) -> TokenSpans:
    n = len(scores) + RUN - 1
    over = [scores[max(0, i - RUN + 1) : i + 1].max() for i in range(n)]
    return [(i, i + 1) for i, score in enumerate(over) if score < threshold]


def show(
    name: str,
    texts: list[str],
    gold: list[TokenSpans],
    own_spans: list[TokenSpans],
    runs: list[np.ndarray],
) -> None:
    def f1(token_spans: list[TokenSpans], resamples: int = 2) -> stats.SpanF1:
        return stats.relaxed_f1(token_spans, gold, n_resamples=resamples)

    def best(readings: list[list[TokenSpans]]) -> stats.SpanF1:
        return f1(
            max(readings, key=lambda token_spans: f1(token_spans).f1 or 0.0),
            200,
        )

    thresholds = np.linspace(0.3, 1.0, 57)
    spans = best(
        [
            [
                trimmed(text, as_runs(s, t, merge))
                for text, s in zip(texts, runs, strict=True)
            ]
            for t in thresholds
            for merge in (True, False)
        ]
    )
    words = best([[as_words(s, t) for s in runs] for t in thresholds])
    print(f"{name}: {spans.n_gold} altered words")
    for reading, span_f1 in (
        ("posh, spans", f1(own_spans, 200)),
        ("runs, spans", spans),
        (
            "posh, words",
            f1([by_words(token_spans) for token_spans in own_spans], 200),
        ),
        ("runs, words", words),
    ):
        interval = span_f1.interval
        between = (
            f"[{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        )
        print(
            f"  {reading}  F1 {span_f1.f1 or 0.0:.3f} {between}  precision"
            f" {span_f1.precision or 0.0:.3f}  recall {span_f1.recall or 0.0:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=181)
    parser.add_argument("--seed", type=int, default=12345)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rows = [
        json.loads(line)
        for line in DATA.read_text(encoding="utf-8").splitlines()
    ]
    captions = [row["candidate"] for row in rows[: options.limit]]
    facts = [
        " ".join(
            f"{NUMBERED.sub('', f).strip().rstrip('.')}."
            for f in row["judgments"]["facts"]
        )
        for row in rows[: options.limit]
    ]
    metric, tools = PoSh(), Tools()
    for setting, sources in (("copy", captions), ("facts", facts)):
        altered_texts = [altered(text, rng) for text in sources]
        scores = metric.score(
            [
                Item(str(i), candidate, (caption,))
                for i, (caption, (candidate, _, _)) in enumerate(
                    zip(captions, altered_texts, strict=True)
                )
            ],
            tools=tools,
        )
        both = list(zip(captions, altered_texts, scores, strict=True))
        failed = sum(not isinstance(score, ItemScore) for score in scores)
        if failed:
            print(f"{setting}: {failed} failed and are left out")
        scored_texts = [
            (c, m, s) for c, m, s in both if isinstance(s, ItemScore)
        ]
        show(
            f"{setting}: mistakes",
            [m[0] for _, m, _ in scored_texts],
            [tokens(m[0], m[1]) for _, m, _ in scored_texts],
            [by_units(s, "candidate", m[0]) for _, m, s in scored_texts],
            [run_scores(m[0], c) for c, m, _ in scored_texts],
        )
        if setting == "copy":
            show(
                f"{setting}: omissions",
                [c for c, _, _ in scored_texts],
                [tokens(c, m[2]) for c, m, _ in scored_texts],
                [by_units(s, "reference", c) for c, _, s in scored_texts],
                [run_scores(c, m[0]) for c, m, _ in scored_texts],
            )


if __name__ == "__main__":
    main()
